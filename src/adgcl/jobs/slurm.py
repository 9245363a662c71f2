"""Work on a Slurm cluster: one array of identical workers, submitted by submitit, that outlive the command.

Workers and command meet in the shared folder alone. A worker whose time is up saves and goes back to the queue; the
command only follows what they do, and finds them again when it is called again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Hashable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import Field

from adgcl.core.errors import AdgclError
from adgcl.core.files import ensure_folder, private_folder, write_json
from adgcl.core.locks import locked
from adgcl.core.trees import TreeError, fitted, read_json
from adgcl.jobs.executor import EXECUTORS, ArrayExecutor, End, ExecutorConfig, Failed, Lost, Work
from adgcl.jobs.home import WorkerError, home_of
from adgcl.jobs.post import Inbox
from adgcl.jobs.slurm_array import Cluster, cluster_of
from adgcl.jobs.slurm_worker import STOP, Worker

_FOLDER = ".slurm"
_ARRAY = "array.json"


class SlurmConfig(ExecutorConfig):
    cluster: Literal["slurm", "local"] = Field("slurm", description="local: processes of this machine, to try it out")
    array: int = Field(4, ge=1, description="workers, unless --jobs says how many jobs run at a time")
    time: float = Field(60.0, gt=0.0, description="minutes of an allocation; unfinished workers are requeued")
    cpus: int = Field(1, ge=1, description="cores of each worker")
    at_once: int = Field(0, ge=0, description="jobs at a time of each worker; 0: one per core")
    gpus: int = Field(0, ge=0, description="GPUs of each worker")
    memory_gb: float = Field(0.0, ge=0.0, description="memory of each worker; 0: the cluster's default")
    partition: str = Field("", description="of the cluster")
    account: str = Field("", description="that is charged")
    qos: str = Field("", description="quality of service")
    sbatch: dict[str, Any] = Field({}, description="any other option of sbatch: sbatch.constraint=avx2")
    grace: int = Field(120, ge=1, description="seconds before the end of an allocation at which a worker saves")
    requeues: int = Field(100, ge=0, description="how often a worker may go back to the queue")


@EXECUTORS.register("slurm")
class Slurm(ArrayExecutor):
    """One task of an array per worker; pieces that are started together are submitted together."""

    Config = SlurmConfig

    def __init__(self, workers: int = 1, config: ExecutorConfig | None = None, folder: Path | None = None) -> None:
        super().__init__(workers, config, folder)
        settings = cast(SlurmConfig, self.config)
        self.at_once, self.grace = settings.at_once or settings.cpus, settings.grace
        self.size = -(-workers // self.at_once)
        self._cluster: Cluster = cluster_of(settings)
        self._name = "unnamed"
        self._guard = ExitStack()
        self._waiting: dict[int, Worker] = {}
        self._tasks: dict[int, str] = {}
        self._inboxes: dict[int, Inbox] = {}

    @classmethod
    def capacity(cls, config: ExecutorConfig) -> int:
        settings = cast(SlurmConfig, config)
        return settings.array * (settings.at_once or settings.cpus)

    @classmethod
    def threads(cls, config: ExecutorConfig, workers: int) -> int:
        settings = cast(SlurmConfig, config)
        return max(1, settings.cpus // (settings.at_once or settings.cpus))

    @property
    def place(self) -> Path:
        return self.folder / _FOLDER / self._name

    def _ensure_place(self) -> Path:
        # Workers are sent there as pickled calls, and answer in kind.
        private_folder(self.folder / _FOLDER)
        return ensure_folder(self.place)

    def __str__(self) -> str:
        return self._cluster.describe(list(self._tasks.values()))

    @property
    def cancelling(self) -> str:
        return self._cluster.cancelling(list(self._tasks.values()))

    @property
    def free(self) -> int:
        return self.size - len(self._waiting) - len(self._inboxes)

    def follow(self, name: str) -> list[int]:
        self._name = name
        # Held until the array is submitted: of two commands at once, the second follows the first one's array.
        self._guard.enter_context(locked(self._ensure_place(), wait=True))
        known = self._known()
        alive = self._cluster.alive(list(known.values()))
        found = [number for number, task in known.items() if task in alive]
        if found:
            self._guard.close()
            self._tasks = known
            self._inboxes = {number: Inbox(self.place, number) for number in found}
        else:
            for path in self.place.iterdir():  # all but the lock, which is held
                if not path.name.startswith("."):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        return found

    def start(self, key: Hashable, work: Work, *given: Any) -> None:
        assert isinstance(key, int), "workers are numbered"
        self._ensure_place()
        self._waiting[key] = Worker(home_of(self.folder), self.place, key, work, given)

    def ends(self, seconds: float) -> Iterator[tuple[Any, End]]:
        self._submit()
        time.sleep(seconds)
        gone = self._cluster.gone([self._tasks[number] for number in self._inboxes])
        for number, inbox in list(self._inboxes.items()):
            vanished = self._tasks[number] in gone  # looked at first: what a worker wrote before its end is all there
            for message in inbox.take():
                self.on_message(number, message)
            end = inbox.end()
            if end is None and vanished:
                end = self._lost(number)
            if end is not None:
                del self._inboxes[number]
                if isinstance(end, Failed) and isinstance(end.error, WorkerError):
                    raise end.error
                yield number, end

    def stop(self) -> None:
        if self._inboxes:
            (self.place / STOP).touch()
            self._cluster.signal([self._tasks[number] for number in self._inboxes])

    def close(self) -> None:
        """Stop following; the workers stay."""
        self._guard.close()
        self._inboxes.clear()

    def _submit(self) -> None:
        if not self._waiting:
            return
        tasks = self._cluster.submit(self.place, list(self._waiting.values()))
        self._tasks.update(zip(self._waiting, tasks, strict=True))
        write_json(self.place / _ARRAY, {str(number): task for number, task in self._tasks.items()})
        self._guard.close()
        self._inboxes |= {number: Inbox(self.place, number) for number in self._waiting}
        self._waiting.clear()

    def _known(self) -> dict[int, str]:
        """The workers that an earlier command noted."""
        try:
            noted = fitted(dict[str, str], read_json(self.place / _ARRAY))
            return {int(number): task for number, task in noted.items()}
        except (OSError, TreeError, ValueError):
            return {}

    def _lost(self, number: int) -> Lost:
        log = self._cluster.log(self.place, self._tasks[number])
        return Lost(
            AdgclError(
                f"Worker {self._tasks[number]} has vanished.",
                f"Its log is {log}. If there is none, the worker could not see that folder.",
            )
        )
