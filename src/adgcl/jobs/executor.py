"""Executor: the interface between work and the place where it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar

from adgcl.core.errors import AdgclError, Interrupted
from adgcl.core.locks import BusyError
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


End = Done | Busy | Stopped | Failed


class Executor(ABC):
    """Starts work and reports how it ended; `workers` pieces run at a time.

    The caller chooses a key for each piece of work. While it runs, its messages reach `on_message` with the key; then
    `ends` yields the key with exactly one End. A piece that fails does not affect the others.
    """

    # Whether Ctrl-C in this process reaches the work itself.
    shares_signals: ClassVar[bool] = False

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self.on_message: Callable[[Any, Any], None] = lambda key, message: None

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


EXECUTORS: Registry[type[Executor]] = Registry("executor", "adgcl.jobs")


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
