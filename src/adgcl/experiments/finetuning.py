"""Fine-tuning: an encoder and labelled data in, a model folder out that predicts; it can be stopped at any time."""

from __future__ import annotations

import datetime
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from adgcl.core.config import differences
from adgcl.core.errors import Interrupted, OutputError
from adgcl.core.files import check_writable, ensure_folder, write_json
from adgcl.core.locks import locked, refuse_if_locked
from adgcl.core.provenance import versions
from adgcl.core.trees import TreeError, fitted, read_json
from adgcl.data.dataset import Dataset, Split
from adgcl.data.duplicates import find_duplicates
from adgcl.data.splits import split_digest
from adgcl.experiments.evaluation import Watcher, Work, run_jobs
from adgcl.experiments.model.about import DOMAIN
from adgcl.experiments.model.folder import (
    ABOUT,
    WORK,
    begun,
    check_files,
    member_file,
    read_about,
    save_domain,
    seal,
)
from adgcl.experiments.model.judging import judge_model
from adgcl.experiments.model.labels import check_trainable, class_names, label_names
from adgcl.experiments.model.member_jobs import MemberJob, train_member
from adgcl.experiments.model.members import Choices, Member, Roster, enrol
from adgcl.experiments.planning import Plan, Request, plan
from adgcl.experiments.pretraining import BAD_ROWS_FILE
from adgcl.experiments.source import LoadedSource, Source
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.methods.supervised import Supervised
from adgcl.protocols.finetune import FinetuneConfig
from adgcl.protocols.fold_training import OneRun
from adgcl.protocols.identity import settings_of
from adgcl.protocols.seed_run import SeedRun
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.device import pick_device
from adgcl.training.export import write_bad_rows
from adgcl.training.run_config import RunConfig
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import describe_data
from adgcl.training.start import encoder_origin, find_encoder
from adgcl.training.trackers import Tracker

SCRATCH = "none"
_REQUEST = "request.json"


@dataclass(frozen=True)
class Finetuned:
    """What came of it: the folder, what its `model.json` says, the data, and whether it was finished before."""

    folder: Path
    about: dict[str, Any]
    dataset: Dataset
    seconds: float = 0.0
    finished_before: bool = False


def finetune(
    start: str,
    source: Source,
    folder: Path,
    request: Request,
    choices: Choices | None = None,
    *,
    trackers: Sequence[Tracker] = (),
    progress: Any = None,
    on_loaded: Callable[[Dataset, RunConfig, list[str]], None] = lambda dataset, run, warnings: None,
    work: Work | None = None,
    watcher: Watcher | None = None,
) -> Finetuned:
    """Fine-tune the encoder `start` (a run, a checkpoint, a packaged one, or `none`) and keep a model in `folder`.

    The same call again resumes where it stopped. `on_loaded` sees data, settings and warnings. Members
    are trained one after another, followed by `trackers`; or as `work` says (its folder is not used), followed by a
    `watcher`.
    """
    if RunFolder(folder).checkpoint.exists():
        raise OutputError(f"{folder} holds a run of `adgcl pretrain`.", "Choose another folder with --out.")
    check_writable(folder)
    refuse_if_locked(folder)
    started, choices = time.monotonic(), choices or Choices()
    dataset, planned = _settle(start, source, request, progress)
    warnings = check_trainable(dataset, task_named=source.task is not None)
    roster = enrol(dataset, source.split, choices.seeds, choices.folds, planned.run.training.seed)
    duplicates = str(find_duplicates(dataset, _divisions(roster)))
    wanted = _identity(planned, dataset, roster, choices)
    with locked(ensure_folder(folder)):
        if (finished := _finished(folder, wanted)) is not None:
            return Finetuned(folder, finished, dataset, finished_before=True)
        on_loaded(dataset, planned.run, [*warnings, *([duplicates] if duplicates else [])])
        _claim(folder, wanted)
        if dataset.bad_rows:
            write_bad_rows(folder / BAD_ROWS_FILE, dataset.bad_rows)
        if work is None:
            runs = _train(dataset, roster, planned, folder, trackers)
        else:
            runs = _train_as_jobs(source, dataset, len(roster.members), planned, folder, choices, work, watcher)
        about = _finish(folder, dataset, roster, planned, runs, choices, wanted, duplicates)
        shutil.rmtree(folder / WORK, ignore_errors=True)
    return Finetuned(folder, about, dataset, time.monotonic() - started)


def _settle(start: str, source: Source, request: Request, progress: Any) -> tuple[Dataset, Plan]:
    """The labelled data as the encoder sees it, and checked settings."""
    origin = "" if start == SCRATCH else start
    if origin:
        find_encoder(origin)  # a misspelt name is said before the data is read
    dataset = source.load(progress=progress)
    asked = request.with_flags({"training": {"start_from": origin}, "protocol": {"name": FinetuneConfig().name}})
    asked = asked.reading(source)
    planned = plan(dataset, replace(asked, method=request.method or "supervised"))
    return source.seen_through(dataset, planned.run.data, progress), planned


def _train(dataset: Dataset, roster: Roster, planned: Plan, folder: Path, trackers: Sequence[Tracker]) -> list[SeedRun]:
    """Every member after another; its best epoch is kept as a file of the model."""
    tracker = OneRun([*trackers, *planned.run.make_trackers(folder)], len(roster.members))
    runs = []
    try:
        for number, member in enumerate(roster.members):
            tracker.fold = number
            runs.append(train_member(dataset, member, planned, folder, number, tracker))
    except Interrupted as stopped:
        raise Interrupted(
            f"Stopped in member {len(runs) + 1} of {len(roster.members)}; the state is saved in {folder}.",
            "Run the same command again to continue.",
        ) from stopped
    finally:
        tracker.close()
    return runs


def _train_as_jobs(
    source: Source,
    dataset: Dataset,
    count: int,
    planned: Plan,
    folder: Path,
    choices: Choices,
    work: Work,
    watcher: Watcher | None,
) -> list[SeedRun]:
    """The same by an executor, several members at a time."""
    placement = work.placement(planned.run, count)
    if placement.threads and not planned.run.training.threads:
        planned = replace(planned, run=planned.run.with_training(threads=placement.threads))
    data = LoadedSource(dataset.name, source, dataset)
    jobs = [MemberJob.of(planned, data, folder, choices, number, count) for number in range(count)]
    run_jobs(jobs, placement, folder / WORK, watcher or Watcher(), str(folder))
    runs = [job.result() for job in jobs]
    if not all(runs):
        raise Interrupted(f"Stopped; the state is saved in {folder}.", "Run the same command again to continue.")
    return [run for run in runs if run is not None]


def _finish(
    folder: Path,
    dataset: Dataset,
    roster: Roster,
    planned: Plan,
    runs: list[SeedRun],
    choices: Choices,
    wanted: dict[str, Any],
    duplicates: str,
) -> dict[str, Any]:
    """Evaluate the members together, learn what their predictions are worth, and write `model.json`."""
    device = pick_device(planned.run.training.device)
    files = [member_file(number) for number in range(len(runs))]
    methods = [load_checkpoint(folder / name).make_method(device) for name in files]
    networks = [method for method in methods if isinstance(method, Supervised)]
    judged = judge_model(dataset, roster, networks)
    save_domain(folder, judged.domain)
    task, start = dataset.task, planned.run.training.start_from
    about = {
        "version": versions()["adgcl"],
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "task": task.to_json(),
        "labels": label_names(dataset),
        "classes": class_names(dataset),
        "unit": choices.unit,
        "metric": task.metric,
        "data": {**describe_data(dataset), "labelled_fingerprint": fingerprint(dataset.store), "note": duplicates},
        "mixtures": dataset.mixtures,
        "split": roster.split,
        "started_from": encoder_origin(start) if start else None,
        "members": [
            {"name": member.name, "file": name, **_scores(run, planned, task.higher_is_better), **_sizes(member)}
            for name, run, member in zip(files, runs, roster.members, strict=True)
        ],
        "together": judged.scores,
        "calibration": judged.calibration,
        "domain": {"border": judged.domain.border, "molecules": len(judged.domain.rows)},
        "settings": {**planned.run.to_tree(), "protocol": planned.judging.model_dump(mode="json")},
        "request": wanted,
        "versions": versions(),
    }
    return seal(folder, about, [*files, DOMAIN])


def _scores(run: SeedRun, planned: Plan, higher: bool) -> dict[str, Any]:
    """A member's validation and test score at the epoch that counts, in the metric's own unit."""
    assert isinstance(planned.judging, FinetuneConfig)
    counts = planned.judging.course.counting(run.evaluations, higher)
    scores = {name: None if value != value else round(value, 6) for name, value in asdict(counts).items() if name in
              ("valid", "test")}  # fmt: skip
    return {"epoch": counts.epoch, **scores, "seconds": run.seconds}


def _sizes(member: Member) -> dict[str, Any]:
    return {"graphs": {name: len(ids) for name, ids in member.part._asdict().items()}}


def _divisions(roster: Roster) -> list[Split]:
    """The parts of the members: one division if they share it."""
    return [member.part._asdict() for member in roster.members[: 1 if roster.shared else None]]


def _identity(planned: Plan, dataset: Dataset, roster: Roster, choices: Choices) -> dict[str, Any]:
    """What must agree for a folder to be for this model."""
    return {
        **settings_of(planned.run, planned.protocol),
        "members": [member.name for member in roster.members],
        "split": roster.split,
        "parts": [split_digest(member.part._asdict()) for member in roster.members],
        "task": dataset.task.to_json(),
        "unit": choices.unit,
        "data": fingerprint(dataset.store),
    }


def _finished(folder: Path, wanted: dict[str, Any]) -> dict[str, Any] | None:
    """The model that the folder holds, if it is the one that is wanted."""
    if not (folder / ABOUT).exists():
        return None
    about = read_about(folder)
    check_files(folder, about)
    _refuse_other(folder, about["request"], wanted)
    return about


def _claim(folder: Path, wanted: dict[str, Any]) -> None:
    """Note what is being made here, or refuse to mix it with something else that was begun."""
    path = folder / WORK / _REQUEST
    if path.exists() and begun(folder):
        with suppress(TreeError):  # Damaged: what it was for is lost, what was trained is checked by its own settings.
            _refuse_other(folder, fitted(dict[str, Any], read_json(path)), wanted)
    ensure_folder(path.parent)
    write_json(path, wanted)


def _refuse_other(folder: Path, before: dict[str, Any], wanted: dict[str, Any]) -> None:
    # Models of earlier versions do not say everything.
    found = differences(before, {key: value for key, value in wanted.items() if key in before})
    if found:
        # Other settings, members or ways to divide the data make other graphs or parts of the same file.
        causes = [change for change in found if not change.startswith(("data:", "parts:"))]
        other = "other data or labels" if any(change.startswith("data:") for change in found) else "other parts"
        changed = "; ".join(causes or [other])
        raise OutputError(
            f"{folder} holds a model that was asked for differently ({changed}).",
            "Choose another folder with --out, or remove this one.",
        )
