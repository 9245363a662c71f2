"""Trees: what JSON and TOML hold, checked once where they are read, so that the code behind may trust them.

A tree that passes is bounded in size and depth, and holds only finite numbers of at most 64 bits and text that can be
written again. `fitted` then checks it against a schema: a pydantic model, or a dataclass with typed fields.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

T = TypeVar("T")
# Records of a thousand seeds take 10 MB. Both parsers recurse, and so does much of what reads a tree.
MAX_BYTES = 1 << 26
MAX_DEPTH = 64
_MAX_INTEGER = 1 << 64
# For dataclasses that are schemas: an unknown field is an error, as it is for their constructor.
SCHEMA = ConfigDict(extra="forbid", allow_inf_nan=False)


class TreeError(ValueError):
    """A text that is no tree, or not one of the kind that is expected; the message says what is wrong with it."""


def read_json(path: Path) -> Any:
    """The tree in a JSON file."""
    return parse_json(_read(Path(path)))


def read_json_lines(path: Path) -> Iterator[Any]:
    """The tree of every line of a file, as far as whole lines go: a crash may have cut the last one."""
    for line in _read(Path(path)).decode("utf-8", "replace").splitlines():
        try:
            yield parse_json(line)
        except TreeError:
            return


def read_toml(path: Path) -> dict[str, Any]:
    """The tree in a TOML file."""
    return parse_toml(_read(Path(path)))


def parse_json(text: str | bytes) -> Any:
    return _parsed(lambda utf8: json.loads(utf8, parse_constant=_refuse_constant), text)


def parse_toml(text: str | bytes) -> dict[str, Any]:
    tree: dict[str, Any] = _parsed(tomllib.loads, text)
    return tree


def fitted(kind: type[T], tree: Any) -> T:
    """`tree` as an instance of a schema; a TreeError names the first field that does not fit."""
    try:
        return _adapter(cast(Any, kind)).validate_python(tree)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise TreeError(f"{where}: {problem['msg']}" if where else str(problem["msg"])) from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise TreeError(f"more than {MAX_BYTES >> 20} MB")
    return content


def _parsed(parse: Callable[[str], Any], text: str | bytes) -> Any:
    try:
        tree = parse(text if isinstance(text, str) else text.decode("utf-8"))
    except RecursionError:
        raise TreeError("too deeply nested") from None
    except UnicodeDecodeError:
        raise TreeError("not UTF-8 text") from None
    except TreeError:
        raise
    except ValueError as error:
        raise TreeError(str(error)) from error
    _check(tree, MAX_DEPTH)
    return tree


def _check(value: Any, depth: int) -> None:
    if depth == 0:
        raise TreeError("too deeply nested")
    if isinstance(value, dict):
        for key, inner in value.items():
            _check(key, depth)
            _check(inner, depth - 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth - 1)
    elif isinstance(value, str):
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise TreeError("half a character (a lone surrogate)")
    elif isinstance(value, float):
        if not math.isfinite(value):
            _refuse_constant(str(value))
    elif isinstance(value, int) and abs(value) >= _MAX_INTEGER:
        raise TreeError("a whole number of more than 64 bits")


def _refuse_constant(name: str) -> NoReturn:
    raise TreeError(f"{name} is not a finite number")
