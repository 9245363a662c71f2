"""Trainer: runs a Method over a GraphStore, with checkpoints that make any interruption harmless."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adgcl.core.config import differences
from adgcl.core.errors import CheckpointError, Interrupted, TrainingError
from adgcl.core.files import ensure_folder
from adgcl.core.schema import FeatureSpec, Task
from adgcl.core.seeds import derived_rng, derived_seed
from adgcl.core.words import counted
from adgcl.encoders.dropout import give_generator
from adgcl.graphs.kernels.compiled import on_compiling
from adgcl.graphs.kernels.precision import half_products
from adgcl.graphs.store.ranges import IntArray
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.base import METHODS, Method
from adgcl.parallel.collectives import wait_for_all
from adgcl.training.checkpoints import (
    Checkpoint,
    Position,
    load_checkpoint,
    random_states,
    restore,
    save_checkpoint,
    save_networks,
)
from adgcl.training.device import keep_freed_memory, pick_device, set_threads
from adgcl.training.interrupts import Interrupts, polite_interrupts
from adgcl.training.run_config import MOST_THREADS, RunConfig
from adgcl.training.run_folder import RunFolder
from adgcl.training.start import find_encoder, prepare_store, start_from
from adgcl.training.step_choice import choose_step, steps_so_far
from adgcl.training.tally import NotFinite, Tally
from adgcl.training.team import Team
from adgcl.training.trackers import StepReport, Tracker, tell

_COMPILING = (
    "Compiling inner loops, once on this machine: about ten seconds (`adgcl doctor --compile` does it in advance)."
)
# Networks are initialised from torch's global random state, which threads share.
_initialising = threading.Lock()


def build_method(
    config: RunConfig,
    spec: FeatureSpec,
    task: Task,
    kind: type[Method] | None = None,
    networks_seed: int | None = None,
) -> Method:
    """The method that `config` names, with networks initialised from its seed; the global state is left as it was.

    `kind` is a variant of that method without a name of its own. `networks_seed` initialises the networks in place of
    the run's seed, so that runs with different seeds can start from the same weights.
    """
    seed = config.training.seed if networks_seed is None else networks_seed
    with _initialising, torch.random.fork_rng(devices=()):
        torch.random.default_generator.manual_seed(derived_seed(seed, "networks"))
        method = (kind or METHODS[config.method.name])(config.method, config.encoder, spec, task)
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
        networks_seed: int | None = None,
    ) -> None:
        keep_freed_memory()
        self.team = Team(config)
        threads = set_threads(config.training.threads, config.encoder.hidden_dim)
        self.config, self.folder, self.trackers = config, folder, trackers
        self.data = {**(data or {}), "threads": threads, **self.team.facts}
        self.remark = ""  # what a person should know about how the run was continued
        self.device = pick_device(config.training.device)
        origin = load_checkpoint(find_encoder(config.training.start_from)) if config.training.start_from else None
        if origin is not None:
            store = prepare_store(store, origin)
        self.method = build_method(config, store.spec, store.task, networks_seed=networks_seed)
        if origin is not None:
            self.data["started_from"] = start_from(self.method, origin, config.training.start_from)
        self.store = self.method.begin(store)
        self.team.check_store(self.store)
        self.position, self._tally = Position(), Tally(self.device)
        self.generator, self.dropout = (self._generator(place) for place in ("noise", "global"))
        give_generator(self.method, self.dropout)
        before = None
        if folder is not None:
            # Restored first: a run with other settings must not lose its config.json to this one.
            if resume and folder.checkpoint.exists():
                saved = load_checkpoint(folder.checkpoint)
                self._restore(saved)
                before = steps_so_far(saved.data)
            self.team.agree(config.essence(), self.data, vars(self.position))
            if self.team.leads:
                folder.create(config, resume)
            wait_for_all()
        self.choice = choose_step(self.method, config.training, before)
        self._take_step = self.choice.step or self.method.step
        self.data["step"] = self.choice.steps

    def _generator(self, *place: int | str) -> torch.Generator:
        """A source of random numbers of this run alone."""
        generator = torch.Generator(self.device)
        generator.manual_seed(derived_seed(self.config.training.seed, *place))
        return generator

    @property
    def steps(self) -> int:
        """Steps per epoch; the last one may have fewer graphs, or a few more where too few were left over."""
        whole, rest = divmod(len(self.store), self.config.training.batch_size)
        single = self.config.training.merge_single and rest == 1
        merged = whole > 0 and (single or self.team.merges(rest))
        return whole if merged or not rest else whole + 1

    def fit(self, after_epoch: Callable[[int], bool | None] | None = None, max_seconds: float | None = None) -> Method:
        """Train to the last epoch; `after_epoch` runs after each one, before it is saved, and returns True to stop.

        After `max_seconds` the run is saved and stopped, as by Ctrl-C.
        """
        epochs = self.config.training.epochs if self.method.trains else 0
        self._last_save = time.monotonic()
        self._tally = Tally(self.device, self.position.sums)
        for tracker in self.trackers:
            tracker.start(epochs, self.steps, self.position.epoch * self.steps + self.position.step)
        announce = cache(lambda: tell(self.trackers, _COMPILING))  # once, however many loops there are
        try:
            with polite_interrupts(max_seconds) as interrupts, on_compiling(announce):
                while self.position.epoch < epochs:
                    self._run_epoch(epochs, interrupts)
                    self._keep_snapshot()
                    if after_epoch is not None and after_epoch(self.position.epoch):
                        break
                    self._save(force=False)
                if self.team.any(interrupts.signalled):  # in the last evaluation: whatever comes next must not begin
                    self._stop_politely()
                self._save(force=True)
            wait_for_all()
        finally:
            for tracker in self.trackers:
                tracker.stop()
        return self.method

    def _run_epoch(self, epochs: int, interrupts: Interrupts) -> None:
        position, started, seen = self.position, time.monotonic(), 0
        epoch = position.epoch + 1
        order = self._order(epoch)
        size = self.config.training.batch_size
        self._tally = Tally(self.device, position.sums)
        while position.step < self.steps:
            last = position.step + 1 == self.steps
            ids = order[position.step * size : None if last else (position.step + 1) * size]
            self._step(ids, epoch)
            position.step += 1
            seen += len(ids)
            report = StepReport(epoch, epochs, position.step, self.steps, len(ids), self._tally.latest)
            for tracker in self.trackers:
                tracker.step(report)
            if self.team.any(interrupts.due):
                self._stop_politely()
            if position.step < self.steps:
                self._save(force=False)
        self.method.end_epoch()
        # An epoch that was resumed counts as if all of it had gone as fast as what was left of it, if anything was.
        share = seen / len(self.store) if seen else 1.0
        self._close_epoch(epoch, (time.monotonic() - started) / share)

    def _step(self, ids: IntArray, epoch: int) -> None:
        batch = self.team.batch(self.store, ids, self.dropout, (epoch, self.position.step)).to(self.device)
        with self._products(), self.team.step(self.method):
            metrics = self._take_step(batch, self.generator)
        try:
            self._tally.add(self.team.metrics(metrics), len(ids))
        except NotFinite as error:
            where = f"in epoch {epoch}, step {self.position.step + 1}"
            raise TrainingError(f"{error} {where}.", self._rescue()) from error

    def _close_epoch(self, epoch: int, seconds: float) -> None:
        row = {"epoch": epoch, **{name: total / len(self.store) for name, total in self._tally.sums.items()}}
        self.position.epoch, self.position.step, self.position.sums = epoch, 0, {}
        self._tally = Tally(self.device)
        if self.folder is not None and self.team.leads:
            self.folder.append_metrics(
                {**row, "seconds": round(seconds, 3), "graphs_per_second": round(len(self.store) / seconds, 1)}
            )
        advice = type(self.method).advice(self.config.method, row)
        for tracker in self.trackers:
            tracker.epoch({**row, "advice": advice} if advice else row)

    def _order(self, epoch: int) -> IntArray:
        """The order of graphs in an epoch: a function of seed and epoch alone."""
        return derived_rng(self.config.training.seed, "order", epoch).permutation(len(self.store)).astype(np.int64)

    @property
    def _in_32_bits(self) -> bool:
        return self.config.training.precision == "float32"

    def _products(self) -> Any:
        return nullcontext() if self._in_32_bits else half_products(self.device)

    def _save(self, force: bool) -> None:
        if self.folder is None or not self.team.leads:
            return
        if force or time.monotonic() - self._last_save >= self.config.training.checkpoint_seconds:
            self.position.sums = dict(self._tally.sums)
            save_checkpoint(
                self.folder.checkpoint, self.method, self.config, self.position, self.random_states(), self.data
            )
            self._last_save = time.monotonic()

    def _keep_snapshot(self) -> None:
        epoch = self.position.epoch
        if self.folder is not None and self.team.leads and epoch in self.config.training.snapshots:
            path = self.folder.snapshot(epoch)
            ensure_folder(path.parent)
            save_networks(path, self.method, self.config, self.position, self.data)

    def random_states(self) -> dict[str, Tensor]:
        """The state of every random generator, as a checkpoint keeps it."""
        return {"noise": self.generator.get_state(), "global": self.dropout.get_state()}

    def _restore(self, checkpoint: Checkpoint) -> None:
        """Continue exactly from the checkpoint; only the number of epochs may have changed."""
        check_same_settings(checkpoint.config, self.config)
        self.team.check_resumed(checkpoint.data)
        restore(self.method, checkpoint)
        self._keep_threads(checkpoint.data.get("threads"))
        self.position = checkpoint.position
        states = random_states(checkpoint)
        for name, generator in (("noise", self.generator), ("global", self.dropout)):
            try:
                self._set_state(name, generator, states[name])
            except (KeyError, RuntimeError, TypeError) as error:
                raise CheckpointError(
                    "The checkpoint lacks the state of its random numbers.", "Start the run again in another folder."
                ) from error
        assert self.folder is not None
        if self.team.leads:
            self.folder.keep_metrics_before(self.position.epoch)

    def _keep_threads(self, begun: Any) -> None:
        """Continue with as many threads as the run began with: another number rounds differently."""
        if isinstance(begun, int) and 0 < begun <= MOST_THREADS and begun != self.data["threads"]:
            self.data["threads"] = set_threads(begun, self.config.encoder.hidden_dim)
            count = counted(begun, "thread")
            self.remark = f"The run continued with {count}, as it began: another number would round differently."

    def _set_state(self, name: str, generator: torch.Generator, state: Tensor) -> None:
        """Continue the random numbers of the checkpoint; those of another kind of device cannot be continued.

        In that case a new series begins, given by seed and position alone: the same resume gives the same run.
        """
        if state.shape == generator.get_state().shape:
            generator.set_state(state)
        else:
            place = (name, self.position.epoch, self.position.step)
            generator.manual_seed(derived_seed(self.config.training.seed, *place))

    def _stop_politely(self) -> None:
        self._save(force=True)
        wait_for_all()
        if self.folder is None:
            raise Interrupted("Stopped.", "Nothing was saved: the run had no folder.")
        raise Interrupted(
            f"Stopped after epoch {self.position.epoch}; the state is saved in {self.folder.path}.",
            "Run the same command with --resume to continue.",
        )

    def _rescue(self) -> str:
        saved = self.folder is not None and self.folder.checkpoint.exists()
        where = f" The last good state is in {self.folder.checkpoint}." if saved and self.folder else ""
        return "Try a smaller learning rate or a higher loss temperature, or --precision float32." + where


def check_same_settings(saved: RunConfig, wanted: RunConfig) -> None:
    """Refuse to continue a run with different settings; only its length may change."""
    found = differences(saved.essence_without("epochs"), wanted.essence_without("epochs"))
    if found:
        raise CheckpointError(
            f"The run was started with other settings ({'; '.join(found)}).",
            "Resume with the settings in its config.json, or choose another --out.",
        )
