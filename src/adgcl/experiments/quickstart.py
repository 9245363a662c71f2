"""Quickstart: the main job on built-in molecules, in one call and about two minutes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adgcl.core.errors import CheckpointError
from adgcl.core.files import atomic_write, ensure_folder
from adgcl.core.provenance import available_cores
from adgcl.core.records import Record
from adgcl.experiments.evaluation import Judged, Work, evaluate_plan
from adgcl.experiments.planning import Plan, Wishes, plan
from adgcl.experiments.source import Source
from adgcl.protocols.judging import SeedProgress, work_name
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.run_folder import RunFolder

DATA = "freesolv"
SEEDS = (0, 1, 2)
# About 100 seconds on two free cores, most of it in the 300-wide layers that the paper uses.
EPOCHS = 8


@dataclass(frozen=True)
class Quickstart:
    """The run folder it leaves, the Records of the table, and how many seeds were finished before."""

    folder: Path
    graphs: int
    records: list[Record]
    reused: int


def quickstart(
    folder: Path,
    *,
    epochs: int = EPOCHS,
    on_stage: Callable[[str], None] = lambda text: None,
    on_progress: Callable[[SeedProgress], None] = lambda message: None,
    command: str = "",
) -> Quickstart:
    """Train AD-GCL on FreeSolv from three seeds, and judge it beside an untrained encoder and fingerprints."""
    ensure_folder(folder)
    source = Source(DATA)
    dataset = source.load()
    flags = {"protocol": {"mode": "as_published"}, "training": {"epochs": epochs}}
    planned = plan(dataset, Wishes("adgcl", flags=flags))
    untrained, fingerprint = (
        plan(dataset, Wishes(name, flags={"protocol": {"mode": "as_published"}})) for name in ("random_init", "ecfp")
    )
    dataset = source.seen_through(dataset, planned.run.data)
    work = Work(folder / "seeds", jobs=min(available_cores(), len(SEEDS)))

    def judge(title: str, wanted: Plan, jobs: int | None, seeds: Sequence[int] = SEEDS) -> Judged:
        on_stage(title)
        return evaluate_plan(dataset, wanted, seeds, Work(work.folder, jobs), on_progress=on_progress, command=command)

    floor = judge("an untrained encoder, for the floor", untrained, 1)
    yardstick = judge("fingerprints (ECFP), for a yardstick", fingerprint, 1, SEEDS[:1])
    trained = judge(f"AD-GCL: {len(SEEDS)} seeds, {epochs} epochs each", planned, work.jobs)
    _leave_run(folder / "seeds" / work_name(dataset, planned.run, planned.protocol) / f"seed-{SEEDS[0]}", folder)
    return Quickstart(folder, len(dataset), [*floor.records, *yardstick.records, *trained.records], trained.reused)


def _leave_run(seed_folder: Path, folder: Path) -> None:
    """Make the first seed's run the run of `folder`, unless it holds one already."""
    ours, theirs = RunFolder(seed_folder), RunFolder(folder)
    if theirs.checkpoint.exists():
        try:
            load_checkpoint(theirs.checkpoint)
            return
        except CheckpointError:
            pass  # Damaged: replace it by the good one.
    for kept, place in (
        (ours.config, theirs.config),
        (ours.metrics, theirs.metrics),
        (ours.checkpoint, theirs.checkpoint),
    ):
        if kept.exists():
            atomic_write(place, lambda part, kept=kept: shutil.copyfile(kept, part))  # type: ignore[misc]
