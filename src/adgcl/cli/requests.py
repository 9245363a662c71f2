"""Requests: a command's options as the library's Source and Request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adgcl.experiments.planning import Request
    from adgcl.experiments.source import Source


def given(**flags: Any) -> dict[str, Any]:
    """Only the flags that the user gave."""
    return {name: value for name, value in flags.items() if value is not None}


def make_source(data: str, label_columns: Sequence[str] | None = None, **reading: Any) -> Source:
    """Where the data is and how to read it."""
    from adgcl.experiments.source import Source

    return Source(data, label_columns=tuple(label_columns or ()), **reading)


def make_request(
    method: str | None,
    config: Path | None,
    assignments: Sequence[str] | None,
    protocol: dict[str, Any] | None = None,
    **training: Any,
) -> Request:
    """What the user asks for; of the flags in `training`, only those that were given count."""
    from adgcl.experiments.planning import Request

    flags = {"training": given(**training), **({"protocol": protocol} if protocol else {})}
    return Request(method, config, flags, tuple(assignments or ()))
