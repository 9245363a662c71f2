"""Trainer: runs a Method over a GraphStore, with checkpoints that make any interruption harmless."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adgcl.core.errors import CheckpointError, Interrupted, TrainingError
from adgcl.core.schema import FeatureSpec, Task
from adgcl.core.seeds import derived_rng, derived_seed
from adgcl.graphs.kernels.precision import half_products
from adgcl.graphs.store.ranges import IntArray
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.base import METHODS, Method
from adgcl.training.checkpoints import Checkpoint, Progress, load_checkpoint, random_states, restore, save_checkpoint
from adgcl.training.device import keep_freed_memory, pick_device, set_threads
from adgcl.training.run_config import RunConfig
from adgcl.training.run_folder import RunFolder
from adgcl.training.trackers import StepReport, Tracker


def build_method(config: RunConfig, spec: FeatureSpec, task: Task) -> Method:
    """The method that `config` names, with networks initialised from its seed."""
    torch.manual_seed(derived_seed(config.training.seed, "networks"))
    method = METHODS[config.method.name](config.method, config.encoder, spec, task)
    method.prepare(pick_device(config.training.device))
    return method


class Trainer:
    """Epochs, random states, progress, checkpoints and resume for one run."""

    def __init__(
        self,
        config: RunConfig,
        store: GraphStore,
        *,
        folder: RunFolder | None = None,
        trackers: Sequence[Tracker] = (),
        resume: bool = False,
        data: dict[str, Any] | None = None,
    ) -> None:
        keep_freed_memory()
        set_threads(config.training.threads, config.encoder.hidden_dim)
        self.config, self.folder, self.trackers = config, folder, trackers
        self.data = data or {}
        self.device = pick_device(config.training.device)
        self.method = build_method(config, store.spec, store.task)
        self.store = self.method.begin(store)
        self.generator = torch.Generator(self.device)
        self.progress = Progress()
        torch.manual_seed(derived_seed(config.training.seed, "global"))
        self.generator.manual_seed(derived_seed(config.training.seed, "noise"))
        if folder is not None:
            # Restored first: a run with other settings must not lose its config.json to this one.
            if resume and folder.checkpoint.exists():
                self._restore(load_checkpoint(folder.checkpoint))
            folder.create(config, resume)

    @property
    def steps(self) -> int:
        """Steps per epoch; the last one may have fewer graphs."""
        return math.ceil(len(self.store) / self.config.training.batch_size)

    def fit(self, after_epoch: Callable[[int], None] | None = None) -> Method:
        """Train to the last epoch; `after_epoch` sees every finished one, before it is saved."""
        epochs = self.config.training.epochs if self.method.trains else 0
        self._last_save = time.monotonic()
        for tracker in self.trackers:
            tracker.start(epochs, self.steps, self.progress.epoch * self.steps + self.progress.step)
        try:
            with _polite_interrupts() as interrupted:
                while self.progress.epoch < epochs:
                    self._run_epoch(epochs, interrupted)
                    if after_epoch is not None:
                        after_epoch(self.progress.epoch)
                    self._save(force=False)
            self._save(force=True)
        finally:
            for tracker in self.trackers:
                tracker.stop()
        return self.method

    def _run_epoch(self, epochs: int, interrupted: Callable[[], bool]) -> None:
        progress, started = self.progress, time.monotonic()
        epoch = progress.epoch + 1
        order = self._order(epoch)
        size = self.config.training.batch_size
        while progress.step < self.steps:
            ids = order[progress.step * size : (progress.step + 1) * size]
            metrics = self._step(ids, epoch)
            progress.step += 1
            for name, value in metrics.items():
                progress.sums[name] = progress.sums.get(name, 0.0) + value * len(ids)
            report = StepReport(epoch, epochs, progress.step, self.steps, len(ids), metrics)
            for tracker in self.trackers:
                tracker.step(report)
            if interrupted():
                self._stop_politely()
            if progress.step < self.steps:
                self._save(force=False)
        self.method.end_epoch()
        self._close_epoch(epoch, time.monotonic() - started)

    def _step(self, ids: IntArray, epoch: int) -> dict[str, float]:
        batch = self.store.batch(ids).to(self.device)
        with self._products():
            tensors = self.method.step(batch, self.generator)
        metrics = {name: float(value) for name, value in tensors.items()}
        for name, value in metrics.items():
            if not math.isfinite(value):
                raise TrainingError(
                    f"{name} became {value} in epoch {epoch}, step {self.progress.step + 1}.", self._rescue()
                )
        return metrics

    def _close_epoch(self, epoch: int, seconds: float) -> None:
        row = {"epoch": epoch, **{name: total / len(self.store) for name, total in self.progress.sums.items()}}
        self.progress.epoch, self.progress.step, self.progress.sums = epoch, 0, {}
        if self.folder is not None:
            self.folder.append_metrics(
                {**row, "seconds": round(seconds, 3), "graphs_per_second": round(len(self.store) / seconds, 1)}
            )
        for tracker in self.trackers:
            tracker.epoch(row)

    def _order(self, epoch: int) -> IntArray:
        """The order of graphs in an epoch: a function of seed and epoch alone."""
        return derived_rng(self.config.training.seed, "order", epoch).permutation(len(self.store)).astype(np.int64)

    def _products(self) -> Any:
        return half_products(self.device) if self.config.training.precision == "bfloat16" else nullcontext()

    def _save(self, force: bool) -> None:
        if self.folder is None:
            return
        if force or time.monotonic() - self._last_save >= self.config.training.checkpoint_seconds:
            save_checkpoint(
                self.folder.checkpoint, self.method, self.config, self.progress, self.random_states(), self.data
            )
            self._last_save = time.monotonic()

    def random_states(self) -> dict[str, Tensor]:
        """The state of every random generator, as a checkpoint keeps it."""
        states = {"noise": self.generator.get_state(), "global": torch.get_rng_state()}
        if self.device.type == "cuda":
            states["device"] = torch.cuda.get_rng_state(self.device)
        return states

    def _restore(self, checkpoint: Checkpoint) -> None:
        """Go on exactly where the checkpoint stands; only the number of epochs may have changed."""
        if _essence(checkpoint.config) != _essence(self.config):
            raise CheckpointError(
                "The run was started with other settings.",
                "Resume with the settings in its config.json, or choose another --out.",
            )
        restore(self.method, checkpoint)
        self.progress = checkpoint.progress
        states = random_states(checkpoint)
        self.generator.set_state(states["noise"])
        torch.set_rng_state(states["global"])
        if "device" in states and self.device.type == "cuda":
            torch.cuda.set_rng_state(states["device"], self.device)
        assert self.folder is not None
        self.folder.keep_metrics_before(self.progress.epoch)

    def _stop_politely(self) -> None:
        self._save(force=True)
        if self.folder is None:
            raise Interrupted("Stopped.", "Nothing was saved: the run had no folder.")
        raise Interrupted(
            f"Stopped after epoch {self.progress.epoch}; the state is saved in {self.folder.path}.",
            "Run the same command with --resume to go on.",
        )

    def _rescue(self) -> str:
        saved = self.folder is not None and self.folder.checkpoint.exists()
        where = f" The last good state is in {self.folder.checkpoint}." if saved and self.folder else ""
        return "Try a smaller learning rate or a higher loss temperature, or --precision float32." + where


def _essence(config: RunConfig) -> dict[str, Any]:
    """The settings that must agree between a checkpoint and the run that resumes it."""
    tree = config.to_tree()
    for harmless in ("epochs", "threads", "checkpoint_seconds", "device"):
        tree["training"].pop(harmless)
    return tree


@contextmanager
def _polite_interrupts() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C and SIGTERM finish the step that is running; a second Ctrl-C stops at once."""
    caught: list[int] = []

    def note(number: int, frame: Any) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    # A signal that is ignored stays so: workers leave Ctrl-C to the process that started them.
    minded = [s for s in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(s) is not signal.SIG_IGN]
    previous = {s: signal.signal(s, note) for s in minded}
    try:
        yield lambda: bool(caught)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
