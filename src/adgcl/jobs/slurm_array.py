"""Array: submit workers through submitit, and see which are still there; on Slurm, or as processes to try it out."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adgcl.core.errors import AdgclError
from adgcl.core.extras import import_extra
from adgcl.core.files import is_running

if TYPE_CHECKING:
    from adgcl.jobs.slurm import SlurmConfig
    from adgcl.jobs.slurm_worker import Worker

_ADVICE = (
    "Run this where `sbatch` works, such as a login node; `--executor-set cluster=local` tries it on this machine."
)


class Cluster(ABC):
    """Where an array runs; a task is known by the name that submitit gives it."""

    between_looks: float  # seconds
    patience: float  # seconds for the last file of a worker that has ended to be seen

    def __init__(self, settings: SlurmConfig) -> None:
        self.settings = settings
        self._looked = 0.0
        self._absent: dict[str, float] = {}

    @abstractmethod
    def alive(self, tasks: Sequence[str]) -> set[str]:
        """Those that run or wait; all of them if nobody can say."""

    @abstractmethod
    def signal(self, tasks: Sequence[str]) -> None:
        """Ask them to save and end."""

    @abstractmethod
    def describe(self, tasks: Sequence[str]) -> str: ...

    @abstractmethod
    def cancelling(self, tasks: Sequence[str]) -> str: ...

    @abstractmethod
    def _executor(self, folder: Path) -> Any:
        """submitit's own executor."""

    def gone(self, tasks: Sequence[str]) -> set[str]:
        """Those that have been absent for a while."""
        now = time.monotonic()
        if tasks and now - self._looked >= self.between_looks:
            self._looked = now
            alive = self.alive(tasks)
            self._absent = {task: self._absent.get(task, now) for task in tasks if task not in alive}
        return {task for task, since in self._absent.items() if now - since >= self.patience}

    def submit(self, folder: Path, workers: Sequence[Worker]) -> list[str]:
        """Submit all of them at once, as one array."""
        executor = self._executor(folder)
        try:
            with executor.batch():
                jobs = [executor.submit(worker) for worker in workers]
        except Exception as error:  # submitit has many, and passes on whatever sbatch says
            raise AdgclError(f"The workers cannot be submitted: {_essence(error)}", _ADVICE) from error
        _started.update({str(job.job_id): job for job in jobs})
        return [str(job.job_id) for job in jobs]

    def log(self, folder: Path, task: str) -> Path:
        return folder / f"{task}_0_log.err"


class SlurmCluster(Cluster):
    """A real one, asked by `squeue`: unlike `sacct` it needs no accounting."""

    between_looks, patience = 5.0, 20.0

    def alive(self, tasks: Sequence[str]) -> set[str]:
        arrays = sorted({task.partition("_")[0] for task in tasks})
        if not arrays:
            return set()
        command = ["squeue", "--noheader", "--array", "--format=%i", f"--jobs={','.join(arrays)}"]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.SubprocessError):
            return set(tasks)
        if answer.returncode:
            # Slurm has forgotten them all; anything else is trouble of Slurm's own, which may pass.
            return set() if "Invalid job id" in answer.stderr else set(tasks)
        return set(tasks) & set(answer.stdout.split())

    def signal(self, tasks: Sequence[str]) -> None:
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(["scancel", *tasks], capture_output=True, timeout=60, check=False)

    def describe(self, tasks: Sequence[str]) -> str:
        return f"Slurm array {_arrays(tasks)}"

    def cancelling(self, tasks: Sequence[str]) -> str:
        return f"scancel {_arrays(tasks)}"

    def _executor(self, folder: Path) -> Any:
        settings = self.settings
        if shutil.which("sbatch") is None or shutil.which("srun") is None:
            raise AdgclError("This machine has no Slurm: there is no command sbatch.", _ADVICE)
        executor = _submitit().SlurmExecutor(folder, max_num_timeout=settings.requeues)
        named = {"partition": settings.partition, "account": settings.account, "qos": settings.qos}
        more = {**({"gpus-per-node": settings.gpus} if settings.gpus else {}), "requeue": True, **settings.sbatch}
        if settings.memory_gb:
            more["mem"] = f"{int(settings.memory_gb * 1024)}M"
        executor.update_parameters(
            job_name="adgcl",
            time=max(1, round(settings.time)),
            cpus_per_task=settings.cpus,
            signal_delay_s=settings.grace,
            additional_parameters={name.replace("_", "-"): value for name, value in more.items()},
            # Without it srun would take no notice of the cores that sbatch was asked for.
            srun_args=[f"--cpus-per-task={settings.cpus}"],
            **{name: text for name, text in named.items() if text},
        )
        return executor


class LocalCluster(Cluster):
    """Processes of this machine, each with its own time limit; a task is named by its process."""

    between_looks, patience = 0.5, 1.0

    def alive(self, tasks: Sequence[str]) -> set[str]:
        # Asking submitit also buries the children of this process, which would seem to run for ever.
        dead = {task for task in tasks if task in _started and _started[task].done()}
        return {task for task in tasks if task not in dead and is_running(int(task))}

    def signal(self, tasks: Sequence[str]) -> None:
        for task in tasks:
            with suppress(OSError):
                os.kill(int(task), signal.SIGTERM)

    def describe(self, tasks: Sequence[str]) -> str:
        return f"array of processes {', '.join(tasks)}"

    def cancelling(self, tasks: Sequence[str]) -> str:
        return f"kill {' '.join(tasks)}"

    def submit(self, folder: Path, workers: Sequence[Worker]) -> list[str]:
        with _ignoring_ctrl_c():
            return super().submit(folder, workers)

    def _executor(self, folder: Path) -> Any:
        settings = self.settings
        executor = _submitit().LocalExecutor(folder, max_num_timeout=settings.requeues)
        executor.update_parameters(timeout_min=settings.time, signal_delay_s=settings.grace)
        return executor


# The tasks that this process has submitted, by whichever executor.
_started: dict[str, Any] = {}
# submitit's objects say goodbye in a way that fails when Python has begun to end.
atexit.register(_started.clear)


def cluster_of(settings: SlurmConfig) -> Cluster:
    _submitit()  # Whether it is installed is said before anything else.
    return LocalCluster(settings) if settings.cluster == "local" else SlurmCluster(settings)


@contextmanager
def _ignoring_ctrl_c() -> Iterator[None]:
    """What is started meanwhile ignores Ctrl-C at the terminal, as an array elsewhere would."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _arrays(tasks: Sequence[str]) -> str:
    return " ".join(sorted({task.partition("_")[0] for task in tasks}))


def _essence(error: Exception) -> str:
    """What sbatch said, without what submitit wraps around it."""
    if isinstance(error, AdgclError):
        return error.message
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return (said or lines or [type(error).__name__])[0]


def _submitit() -> Any:
    return import_extra("submitit", "slurm", "--executor slurm")
