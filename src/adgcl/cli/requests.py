"""Requests: a command's options as the library's Source and Request."""

from __future__ import annotations

import shlex
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


def data_words(source: Source) -> str:
    """The words of a command that name the data, and how it is read apart from its labels."""
    columns = {
        "--smiles-column": source.smiles_column,
        "--id-column": source.id_column,
        "--sheet": source.sheet,
    }
    words = [word for name, value in columns.items() if value for word in (name, value)]
    words += ["--keep-largest-fragment"] if source.keep_largest_fragment else []
    return shlex.join([str(source.data), *words])


def label_words(source: Source) -> str:
    """Those that name its labels."""
    return shlex.join([word for name in source.label_columns for word in ("--label-column", name)])


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
