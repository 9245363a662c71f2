"""The options that say how data is read: declared once, for every command that takes data."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from adgcl.cli import options

# What a command gets: the options by name, ready for `make_source`.
Reading = dict[str, Any]

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "data_dir": (options.DataDir, None),
    "smiles_column": (options.SmilesColumn, None),
    "label_columns": (options.LabelColumns, None),
    "id_column": (options.IdColumn, None),
    "task": (options.TaskKind, None),
    "split": (options.Split, None),
    "sheet": (options.Sheet, None),
    "keep_largest_fragment": (options.KeepLargestFragment, False),
}
_PARAMETER = "reading"


def reads_data(without: tuple[str, ...] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options for reading data instead of its parameter `reading`, except those in `without`."""
    names = [name for name in _OPTIONS if name not in without]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters: list[inspect.Parameter] = []
        for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
            if name == _PARAMETER:
                parameters += map(_parameter, names)
            else:
                parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

        @functools.wraps(command)
        def with_options(**given: Any) -> None:
            reading = {name: given.pop(name) for name in names}
            command(**given, reading=reading)

        # typer looks at these two; through `__wrapped__` it would find the original command.
        with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        with_options.__annotations__ = {part.name: part.annotation for part in parameters}
        del with_options.__wrapped__  # type: ignore[attr-defined]
        return with_options

    return decorate


def _parameter(name: str) -> inspect.Parameter:
    kind, default = _OPTIONS[name]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
