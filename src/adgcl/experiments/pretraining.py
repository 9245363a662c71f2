"""Pre-training: data and a request in, a run folder out, that can be stopped and resumed at any time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adgcl.core.errors import CheckpointError, OutputError
from adgcl.core.files import check_writable, ensure_folder
from adgcl.core.locks import locked, refuse_if_locked
from adgcl.data.dataset import Dataset
from adgcl.experiments.model.folder import ABOUT, begun
from adgcl.experiments.planning import Request, plan
from adgcl.experiments.source import Source
from adgcl.parallel.collectives import wait_for_all
from adgcl.parallel.world import world
from adgcl.training.checkpoints import Checkpoint, load_checkpoint
from adgcl.training.export import write_bad_rows
from adgcl.training.run_config import RunConfig
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import describe_data
from adgcl.training.step_choice import steps_so_far
from adgcl.training.team import one_first
from adgcl.training.trackers import Tracker
from adgcl.training.trainer import Trainer, check_same_settings

BAD_ROWS_FILE = "unreadable.csv"


@dataclass(frozen=True)
class Pretrained:
    """What came of it: the folder, the settings, the data, and the last epoch's metrics.

    `started_at` is how many epochs were done before; `finished_before` says that nothing was left to do, `step` by
    which steps it was trained, and `remark` what a person should know about how it was continued.
    """

    folder: Path
    run: RunConfig
    dataset: Dataset
    metrics: dict[str, Any]
    seconds: float
    started_at: int = 0
    finished_before: bool = False
    step: str = ""
    remark: str = ""


def pretrain(
    source: Source,
    folder: Path,
    request: Request,
    *,
    resume: bool = False,
    trackers: Sequence[Tracker] = (),
    progress: Any = None,
    on_loaded: Callable[[Dataset, RunConfig], None] = lambda dataset, run: None,
    max_seconds: float | None = None,
) -> Pretrained:
    """Train a method on data and keep everything in `folder`; before that, `on_loaded` sees data and settings.

    Processes that have joined (`adgcl.parallel.world`) train together; the first of them holds and fills the folder.
    """
    files = RunFolder(folder)
    files.refuse_to_overwrite(resume)
    if (folder / ABOUT).exists() or begun(folder):
        raise OutputError(f"{folder} holds a model of `adgcl finetune`.", "Choose another folder with --out.")
    check_writable(folder)
    if world().leads:
        refuse_if_locked(folder)
    with one_first():
        dataset, run = _settle(source, request, _saved(files, resume), progress)
    with locked(folder) if world().leads else nullcontext():
        # Asked again: another process may have been here while the data was read.
        files.refuse_to_overwrite(resume)
        wait_for_all()
        saved = _saved(files, resume)
        return pretrain_dataset(
            dataset, run, folder, saved=saved, trackers=trackers, on_loaded=on_loaded, max_seconds=max_seconds
        )


def pretrain_dataset(
    dataset: Dataset,
    run: RunConfig,
    folder: Path,
    *,
    saved: Checkpoint | None = None,
    trackers: Sequence[Tracker] = (),
    on_loaded: Callable[[Dataset, RunConfig], None] = lambda dataset, run: None,
    max_seconds: float | None = None,
) -> Pretrained:
    """The same for data that is already loaded, in a folder that is locked; `saved` is what to continue from."""
    files = RunFolder(folder)
    data = describe_data(dataset)
    if saved is not None:
        if saved.config.data == run.data:
            _check_same_data(saved, data)
        check_same_settings(saved.config, run)
        if saved.position.epoch >= run.training.epochs:
            rows = files.read_metrics()
            last, done = rows[-1] if rows else {}, saved.position.epoch
            return Pretrained(folder, saved.config, dataset, last, 0.0, done, True, steps_so_far(saved.data))
    on_loaded(dataset, run)
    ensure_folder(folder)
    if dataset.bad_rows and world().leads:
        write_bad_rows(folder / BAD_ROWS_FILE, dataset.bad_rows)
    started, trackers = time.monotonic(), [*trackers, *run.make_trackers(folder)]
    trainer = Trainer(run, dataset.store, folder=files, trackers=trackers, resume=saved is not None, data=data)
    trainer.fit(max_seconds=max_seconds)
    rows = files.read_metrics()
    return Pretrained(
        folder,
        run,
        dataset,
        rows[-1] if rows else {},
        time.monotonic() - started,
        saved.position.epoch if saved else 0,
        step=trainer.choice.steps,
        remark=" ".join(filter(None, (trainer.choice.remark, trainer.remark))),
    )


def _saved(files: RunFolder, resume: bool) -> Checkpoint | None:
    """The checkpoint to continue from, if there is one."""
    return load_checkpoint(files.checkpoint) if resume and files.checkpoint.exists() else None


def _settle(source: Source, request: Request, saved: Checkpoint | None, progress: Any) -> tuple[Dataset, RunConfig]:
    """The data as the run sees it, and the run's settings, which depend on the kind of data."""
    dataset = source.load(progress=progress)
    run = plan(dataset, request.reading(source), saved=saved.config if saved else None).run
    return source.seen_through(dataset, run.data, progress), run


def _check_same_data(saved: Checkpoint, data: dict[str, Any]) -> None:
    before = saved.data.get("fingerprint")
    if before is not None and before != data["fingerprint"]:
        raise CheckpointError(
            f"The run was started on other data ({saved.data.get('name')}, {saved.data.get('graphs')} graphs).",
            "Resume with the same data and columns, or choose another folder with --out.",
        )
