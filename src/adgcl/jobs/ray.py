"""Work on a Ray cluster: one that is there, or one made of this machine for as long as the command runs.

Ray decides where a piece runs; there a process of our own does the work, so that signals, threads and the death of a
worker mean what they mean everywhere else. Ray itself repeats nothing: what is lost is for the caller to start again.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
import time
from collections.abc import Hashable, Iterator
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import Any, cast

from pydantic import Field

from adgcl.core.errors import AdgclError
from adgcl.core.extras import import_extra
from adgcl.core.provenance import available_cores
from adgcl.jobs.executor import EXECUTORS, End, Executor, ExecutorConfig, Failed, Lost, Stopped, Work
from adgcl.jobs.home import Home, WorkerError, signed_home
from adgcl.jobs.ray_worker import Mailbox, oversee

_LOCAL = "local"
_PATIENCE = 10.0  # seconds for a cluster to answer
_ANSWER = 2.0  # seconds for the mailbox to answer: it is near
_STORE = 128 << 20  # bytes of Ray's object store: all that goes through it is settings and progress


class RayConfig(ExecutorConfig):
    address: str = Field("", description="of the cluster (host:6379); without one $RAY_ADDRESS, or this machine alone")
    cpus: int = Field(1, ge=1, description="cores of each job")
    gpus: float = Field(0.0, ge=0.0, description="GPUs of each job")
    memory_gb: float = Field(0.0, ge=0.0, description="memory that each job is promised; 0: not looked at")

    @property
    def cluster(self) -> str:
        return self.address or os.environ.get("RAY_ADDRESS") or _LOCAL


@EXECUTORS.register("ray")
class Ray(Executor):
    """One Ray task per running piece of work."""

    Config = RayConfig
    here = False

    def __init__(self, workers: int = 1, config: ExecutorConfig | None = None, folder: Path | None = None) -> None:
        super().__init__(workers, config, folder)
        self._settings = cast(RayConfig, self.config)
        self._ray = _ray()
        self._open = ExitStack()
        self._home: Home | None = None
        self._running: dict[Any, tuple[int, Hashable]] = {}
        self._numbers = count()
        self._stopping = False

    @classmethod
    def capacity(cls, config: ExecutorConfig) -> int:
        settings = cast(RayConfig, config)
        if settings.cluster == _LOCAL and not _ray().is_initialized():
            return max(available_cores() // settings.cpus, 1)
        connect(settings)
        return max(int(_ray().cluster_resources().get("CPU", 0)) // settings.cpus, 1)

    @classmethod
    def threads(cls, config: ExecutorConfig, workers: int) -> int:
        return cast(RayConfig, config).cpus

    @property
    def free(self) -> int:
        return self.workers - len(self._running)

    def start(self, key: Hashable, work: Work, *given: Any) -> None:
        self._begin()
        number = next(self._numbers)
        # As bytes: Ray's own process must not import all that the work needs.
        piece = pickle.dumps((work, given))
        ref = self._task.remote(self._home, number, piece, self._settings.cpus == 1, self._mailbox)
        self._running[ref] = (number, key)

    def ends(self, seconds: float) -> Iterator[tuple[Any, End]]:
        if not self._running:
            time.sleep(seconds)
            return
        ready, _ = self._ray.wait(list(self._running), timeout=seconds)
        if ready:
            ready, _ = self._ray.wait(list(self._running), num_returns=len(self._running), timeout=0)
        self._hear()
        for ref in ready:
            end = self._end(ref)
            yield self._running.pop(ref)[1], end

    def stop(self) -> None:
        self._stopping = True

    def close(self) -> None:
        for ref in self._running:
            self._ray.cancel(ref, force=True)
        self._running.clear()
        self._open.close()
        self._home = None

    def _hear(self) -> None:
        """Take in messages and say whether work should stop; a mailbox that was lost comes back empty."""
        by_number = dict(self._running.values())
        with suppress(self._ray.exceptions.RayError):
            for number, message in self._ray.get(self._mailbox.take.remote(self._stopping), timeout=_ANSWER):
                if number in by_number:
                    self.on_message(by_number[number], message)

    def _begin(self) -> None:
        """Connect, and prepare what all pieces need."""
        if self._home is not None:
            return
        connect(self._settings, self.workers)
        self._open.callback(_disconnect)
        self._home = self._open.enter_context(signed_home(self.folder))
        self._mailbox = self._here(Mailbox)
        memory, settings = int(self._settings.memory_gb * (1 << 30)), self._settings
        resources = {"num_cpus": settings.cpus, "num_gpus": settings.gpus, "memory": memory}
        wanted = {name: amount for name, amount in resources.items() if amount}
        self._task = self._ray.remote(oversee).options(max_retries=0, **wanted)

    def _here(self, kind: type) -> Any:
        """An actor on the machine of this command: it must not be lost with another one."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        node = self._ray.get_runtime_context().get_node_id()
        near = NodeAffinitySchedulingStrategy(node, soft=False)
        actor = self._ray.remote(kind).options(num_cpus=0, max_restarts=-1, scheduling_strategy=near).remote()
        self._open.callback(self._ray.kill, actor)
        return actor

    def _end(self, ref: Any) -> End:
        """How a piece ended; for one whose worker is gone, what Ray knows about it."""
        errors = self._ray.exceptions
        try:
            end = cast(End, self._ray.get(ref))
        except errors.OutOfMemoryError:
            advice = "Try fewer --jobs, or promise each job more: --executor-set memory_gb=8."
            end = Lost(AdgclError("Ray stopped the worker: its machine ran out of memory.", advice))
        except errors.TaskCancelledError:
            end = Stopped()
        except errors.RayTaskError as error:
            raise _unusable(error) from error
        except errors.RayError as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            # Ray adds advice that needs its own tools; the first sentence says what happened.
            end = Lost(AdgclError(f"The worker was lost: {reason.split('. ')[0].rstrip('.')}."))
        if isinstance(end, Failed) and isinstance(end.error, WorkerError):
            raise end.error
        return Stopped() if self._stopping and isinstance(end, Lost) else end


def connect(settings: RayConfig, workers: int = 1) -> None:
    """Connect this process to the cluster, unless it is connected already."""
    ray = _ray()
    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report to its makers
    os.environ.setdefault("RAY_worker_niceness", "0")  # a Ray of our own would give way to everything else (15)
    _try_address(settings.cluster)
    own: dict[str, Any] = {"num_cpus": workers * settings.cpus, "object_store_memory": _STORE}
    try:
        ray.init(
            address=settings.cluster,
            log_to_driver=False,
            logging_level=logging.ERROR,
            include_dashboard=False,
            **(own if settings.cluster == _LOCAL else {}),
        )
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise _no_cluster(settings.cluster, error) from error
    _connected.append(settings.cluster)


def _try_address(cluster: str) -> None:
    """Say at once that nobody answers: Ray itself would try for minutes."""
    host, _, port = cluster.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        try:
            socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
        except OSError as error:
            raise _no_cluster(cluster, error) from error


def _no_cluster(cluster: str, error: Exception) -> AdgclError:
    first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return AdgclError(
        f"No Ray cluster can be used at {cluster}: {first_line}",
        "Start one with `ray start --head` and give its address: --executor-set address=HOST:6379, or RAY_ADDRESS. "
        "Without an address Ray runs on this machine alone.",
    )


# The cluster that this module has connected to; a connection that was there before is left alone.
_connected: list[str] = []


def _disconnect() -> None:
    if _connected:
        _connected.clear()
        _ray().shutdown()


def _ray() -> Any:
    return import_extra("ray", "ray", "--executor ray")


def _unusable(error: Exception) -> WorkerError:
    """An error from outside of the work itself, such as a worker without adgcl."""
    last_line = (str(error).strip().splitlines() or [type(error).__name__])[-1]
    return WorkerError(
        f"A Ray worker cannot run jobs of adgcl: {last_line}",
        "Install the same version on all machines, with the extra: adgcl[ray].",
    )
