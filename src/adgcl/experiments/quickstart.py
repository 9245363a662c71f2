"""Quickstart: train and evaluate on built-in molecules, in one call and about two minutes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adgcl.core.errors import CheckpointError
from adgcl.core.files import atomic_write, ensure_folder
from adgcl.core.provenance import available_cores
from adgcl.core.records import Record
from adgcl.core.words import counted
from adgcl.experiments.evaluation import Judged, Watcher, Work, evaluate_loaded
from adgcl.experiments.planning import Request
from adgcl.experiments.source import LoadedSource, Source
from adgcl.protocols.record_folder import keep
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.run_folder import RunFolder

DATA = "freesolv"
SEEDS = (0, 1, 2)
# About 100 seconds on two free cores, most of it in the 300-wide layers that the paper uses.
EPOCHS = 8


@dataclass(frozen=True)
class Quickstart:
    """The run folder, the Records of the table, and how many seeds were already finished."""

    folder: Path
    graphs: int
    records: list[Record]
    reused: int


def quickstart(
    folder: Path,
    *,
    epochs: int = EPOCHS,
    on_stage: Callable[[str], None] = lambda text: None,
    watcher: Watcher | None = None,
    command: str = "",
) -> Quickstart:
    """Train AD-GCL on FreeSolv with three seeds, and compare it with an untrained encoder and fingerprints."""
    ensure_folder(folder)
    data = LoadedSource.of(Source(DATA))
    published = {"protocol": {"mode": "as_published"}}

    def judge(title: str, request: Request, jobs: int | None, seeds: Sequence[int] = SEEDS) -> Judged:
        on_stage(title)
        work = Work(folder / "seeds", jobs)
        return evaluate_loaded(data, request, seeds, work, watcher=watcher, command=command)

    floor = judge("an untrained encoder as a baseline", Request("random_init", flags=published), 1)
    yardstick = judge("fingerprints (ECFP) for comparison", Request("ecfp", flags=published), 1, SEEDS[:1])
    asked = Request("adgcl", flags={**published, "training": {"epochs": epochs}})
    title = f"AD-GCL: {len(SEEDS)} seeds, {counted(epochs, 'epoch')} each"
    trained = judge(title, asked, min(available_cores(), len(SEEDS)))
    _leave_run(trained.jobs[0].folder, folder)
    records = [*floor.records, *yardstick.records, *trained.records]
    for record in records:
        keep(record, folder / "records")
    return Quickstart(folder, len(data.content), records, trained.reused)


def _leave_run(seed_folder: Path, folder: Path) -> None:
    """Copy the first seed's run to `folder`, unless it already holds one."""
    ours, theirs = RunFolder(seed_folder), RunFolder(folder)
    if theirs.checkpoint.exists():
        try:
            load_checkpoint(theirs.checkpoint)
            return
        except CheckpointError:
            pass  # Damaged: replace it with the good one.
    for kept, place in (
        (ours.config, theirs.config),
        (ours.metrics, theirs.metrics),
        (ours.checkpoint, theirs.checkpoint),
    ):
        if kept.exists():
            atomic_write(place, lambda part, kept=kept: shutil.copyfile(kept, part))  # type: ignore[misc]
