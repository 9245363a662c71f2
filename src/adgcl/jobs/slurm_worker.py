"""What submitit runs: a long piece of work that goes back to the queue when its time is up."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adgcl.core.errors import AdgclError
from adgcl.core.extras import import_extra
from adgcl.jobs.allocation import is_cancelled
from adgcl.jobs.executor import Failed, Stopped, Work, end_of, with_short_error
from adgcl.jobs.home import Home, WorkerError
from adgcl.jobs.notices import NOTICES
from adgcl.jobs.post import Outbox

# The name of a file that tells workers not to come back.
STOP = "stop"


@dataclass
class Worker:
    """A piece of work with its number, and the folder for what it has to say."""

    home: Home
    place: Path
    number: int
    work: Work
    given: tuple[Any, ...]

    def __call__(self) -> None:
        outbox = Outbox(self.place, self.number)
        try:
            self.home.enter()
        except WorkerError as error:
            outbox.end(Failed(error))
            return
        end = end_of(self.work, self.given, outbox.send)
        if isinstance(end, Stopped) and not (self.place / STOP).exists() and not is_cancelled():
            end = Failed(AdgclError(f"The worker could not go back to the queue: {_requeue()}"))
        outbox.end(with_short_error(end))

    def checkpoint(self) -> Any:
        """submitit asks what to run when this comes back: the same again, since all state is in the shared folder."""
        return _submitit().helpers.DelayedSubmission(self)


def _requeue() -> str:
    """Let submitit put this process back into the queue, which ends it; or why that is not possible."""
    try:
        signal.raise_signal(getattr(signal, f"SIG{_submitit().JobEnvironment.USR_SIG}"))
    except SystemExit:
        # The batch system may say the same at this moment: that must not change how this process ends.
        for number in NOTICES:
            signal.signal(number, signal.SIG_IGN)
        raise
    except Exception as error:
        return (str(error).strip().splitlines() or [type(error).__name__])[0]
    return "submitit did not end it."


def _submitit() -> Any:
    return import_extra("submitit", "slurm", "--executor slurm")
