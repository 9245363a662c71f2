"""Errors that a person can act on: what is wrong, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class AdgclError(Exception):
    """What went wrong in one sentence, with an optional `hint` that says what to do."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors are pickled between processes; the hint must be kept."""
        return type(self), (self.message, self.hint)

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class DataError(AdgclError):
    """The data cannot be used as it is."""


class DataMissingError(DataError):
    """A known data set is not on this machine."""


class ConfigError(AdgclError):
    """A setting is unknown or out of range."""


class CheckpointError(AdgclError):
    """A checkpoint is missing, damaged, or belongs to something else."""


class OutputError(AdgclError):
    """A result could not be written: unwritable folder, full disk."""


class TrainingError(AdgclError):
    """Training cannot continue, for example because the loss is no longer finite."""


class Interrupted(AdgclError):
    """The user stopped a run; the state is saved."""

    exit_code = 130


class UnknownNameError(ConfigError):
    """A name that is in no registry, with the nearest ones that are; `excuse` says why it may be missing."""

    def __init__(self, noun: str, name: str, known: Iterable[str], excuse: str = "") -> None:
        names = sorted(known)
        super().__init__(f"There is no {noun} called {name!r}.", f"{did_you_mean(name, names)} {excuse}".strip())
        self.noun, self.name, self.known, self.excuse = noun, name, names, excuse

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, list[str], str]]:
        """Errors are pickled between processes, which must call `__init__` with its own arguments."""
        return UnknownNameError, (self.noun, self.name, self.known, self.excuse)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint with the names close to `name`, or else all known names."""
    names = sorted(known)
    lowered = {n.lower(): n for n in names}
    close = difflib.get_close_matches(name.lower(), list(lowered), n=3, cutoff=0.6)
    if close:
        return "Did you mean " + " or ".join(repr(lowered[c]) for c in close) + "?"
    return "Known: " + ", ".join(names) + "." if names else "None are registered."
