"""Executor: the interface between work and the place where it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

from adgcl.core.config import Config
from adgcl.core.errors import AdgclError, Interrupted
from adgcl.core.locks import BusyError
from adgcl.core.provenance import available_cores
from adgcl.core.registry import Registry

Send = Callable[[Any], None]
# A module-level function, so that other processes can find it; the function that sends messages comes last.
Work = Callable[..., Any]


@dataclass(frozen=True)
class Done:
    """The work is finished, with this result."""

    result: Any = None


@dataclass(frozen=True)
class Busy:
    """Another process is doing the same work."""


@dataclass(frozen=True)
class Stopped:
    """The work was asked to stop; its progress is saved."""


@dataclass(frozen=True)
class Failed:
    """The work cannot be done, for this reason."""

    error: Exception


@dataclass(frozen=True)
class Lost(Failed):
    """Whatever did the work died, perhaps through no fault of the work: another try may succeed."""


End = Done | Busy | Stopped | Failed


class ExecutorConfig(Config):
    """Settings of an executor, given by `--executor-set`; an executor with its own extends this."""


class Executor(ABC):
    """Starts work and reports how it ended; `workers` pieces run at a time.

    The caller chooses a key for each piece of work. While it runs, its messages reach `on_message` with the key; then
    `ends` yields the key with exactly one End. A piece that fails does not affect the others. `folder` is where the
    work keeps its state, which everything that works must see.
    """

    Config: ClassVar[type[ExecutorConfig]] = ExecutorConfig
    # Whether Ctrl-C in this process reaches the work itself.
    shares_signals: ClassVar[bool] = False
    # Whether the cores of this machine are all it uses.
    here: ClassVar[bool] = True

    def __init__(self, workers: int = 1, config: ExecutorConfig | None = None, folder: Path | None = None) -> None:
        self.workers, self.config = workers, config or self.Config()
        self.folder = Path(folder or ".").absolute()
        self.on_message: Callable[[Any, Any], None] = lambda key, message: None

    @classmethod
    def capacity(cls, config: ExecutorConfig) -> int:
        """How many pieces can run at a time, unless the user says otherwise."""
        return available_cores()

    @classmethod
    def threads(cls, config: ExecutorConfig, workers: int) -> int:
        """How many threads each of some pieces should use; 0 where that is for the work to decide."""
        return max(1, available_cores() // workers) if workers > 1 else 0

    @property
    @abstractmethod
    def free(self) -> int:
        """How many more pieces can start now."""

    @abstractmethod
    def start(self, key: Hashable, work: Work, *given: Any) -> None:
        """Call `work(*given, send)`; there must be a free worker."""

    @abstractmethod
    def ends(self, seconds: float) -> Iterator[tuple[Any, End]]:
        """What has ended, waiting up to some seconds for the first."""

    @abstractmethod
    def stop(self) -> None:
        """Ask running work to save and end; `ends` reports when it has."""

    @abstractmethod
    def close(self) -> None:
        """End everything now."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ArrayExecutor(Executor):
    """An executor whose workers outlive the command.

    Each of `size` workers is one long piece of work, which chooses jobs from the shared folder by itself, `at_once` at
    a time. The keys are numbers.
    """

    here = False
    size: int
    at_once: int
    grace: float  # seconds before the end of its time at which a worker should save

    @abstractmethod
    def follow(self, name: str) -> list[int]:
        """The keys of workers under this name that an earlier command started and that are still there."""

    @property
    @abstractmethod
    def place(self) -> Path:
        """The folder of its own that all workers see; known once a name is followed."""

    @abstractmethod
    def __str__(self) -> str:
        """What a person calls the workers."""

    @property
    @abstractmethod
    def cancelling(self) -> str:
        """The command that ends them."""


EXECUTORS: Registry[type[Executor]] = Registry("executor", "adgcl.jobs")


def short_error(error: Exception) -> AdgclError:
    """An error that can be sent: our own always can, others are reduced to the first line of their message."""
    if isinstance(error, AdgclError):
        return error
    first_line = (str(error).strip().splitlines() or [""])[0]
    return AdgclError(f"{type(error).__name__}: {first_line}")


def with_short_error(end: End) -> End:
    """An End that can be sent."""
    return replace(end, error=short_error(end.error)) if isinstance(end, Failed) else end


def end_of(work: Work, given: tuple[Any, ...], send: Send) -> End:
    """Do the work; whatever it raises becomes the corresponding End."""
    try:
        return Done(work(*given, send))
    except BusyError:
        return Busy()
    except Interrupted:
        return Stopped()
    except MemoryError:
        return Failed(AdgclError("There is not enough memory.", "Try fewer --jobs, or a smaller --batch-size."))
    except Exception as error:
        return Failed(error)
