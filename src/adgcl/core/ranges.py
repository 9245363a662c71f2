"""Ranges: where a search looks for good values of a setting, declared beside the setting itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import BaseModel

from adgcl.core.config import Tree
from adgcl.core.errors import ConfigError

_KEY = "searched"
_DIGITS = 4  # of a number that is tried: what a person reads is exactly what was used


@dataclass(frozen=True)
class Range:
    """Numbers between two bounds, on a logarithmic scale or not, or some choices."""

    low: float = 0.0
    high: float = 0.0
    log: bool = False
    integer: bool = False
    choices: tuple[Any, ...] = ()

    def __str__(self) -> str:
        if self.choices:
            return ", ".join(map(shown, self.choices))
        return f"{shown(self.low)} to {shown(self.high)}{' (log)' if self.log else ''}"

    @property
    def size(self) -> int | None:
        """How many values there are; None for real numbers."""
        if self.choices:
            return len(self.choices)
        return int(self.high) - int(self.low) + 1 if self.integer else None

    @property
    def values(self) -> list[Any]:
        """Every value of a range that has finitely many."""
        return list(self.choices or range(int(self.low), int(self.high) + 1))

    def including(self, value: Any) -> Range:
        """The same range, made wide enough for `value` where that is possible."""
        if self.choices:
            return self if value in self.choices else Range(choices=(*self.choices, value))
        if not _is_number(value) or (self.log and value <= 0):
            return self
        return Range(min(self.low, value), max(self.high, value), self.log, self.integer)

    def holds(self, value: Any) -> bool:
        """Whether `value` belongs to the range."""
        return value in self.choices if self.choices else _is_number(value) and self.low <= value <= self.high

    def tidy(self, value: Any) -> Any:
        """A value of this range with few digits."""
        if self.choices or self.integer:
            return value
        return min(max(float(f"{value:.{_DIGITS}g}"), self.low), self.high)

    def to_tree(self) -> Tree:
        """The range as plain JSON."""
        if self.choices:
            return {"choices": list(self.choices)}
        return {name: value for name, value in asdict(self).items() if name != "choices"}


def searched(
    low: float | None = None, high: float | None = None, *, log: bool = False, choices: Sequence[Any] = ()
) -> Tree:
    """For `json_schema_extra` of a setting: the range in which `adgcl tune` looks for good values of it."""
    return {_KEY: {"choices": list(choices)} if choices else {"low": low, "high": high, "log": log}}


def ranges_of(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Range]]:
    """The settings of `model` that have a range, by dotted name; a class that only changes a default keeps it."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from ranges_of(inner, f"{prefix}{name}.")
        elif (found := _declared(model, name)) is not None:
            yield prefix + name, Range(**_as_fields(found), integer=inner is int and "low" in found)


def parse_range(text: str, like: Range) -> Range:
    """A range that a user writes, `0.1..10` or choices `a,b,c`, on the scale and of the kind of the setting's own."""
    low, dots, high = text.partition("..")
    try:
        if dots:
            bounds = [int(end) if like.integer else float(end) for end in (low, high)]
            if bounds[0] < bounds[1] and (bounds[0] > 0 or not like.log):
                return Range(bounds[0], bounds[1], like.log, like.integer)
        elif values := [_parsed(item.strip(), like) for item in text.split(",") if item.strip()]:
            return Range(choices=tuple(dict.fromkeys(values)))
    except ValueError:
        pass
    above = " above 0" if like.log else ""
    raise ConfigError(
        f"Cannot read the range {text!r}.", f"Write it as LOW..HIGH, both{above} and the smaller first, or as A,B,C."
    )


def shown(value: Any) -> str:
    """A value as tables show it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _parsed(text: str, like: Range) -> Any:
    known = {shown(value): value for value in like.choices}
    if text in known:
        return known[text]
    if like.choices and not all(map(_is_number, like.choices)):
        return {"true": True, "false": False}.get(text, text)
    return int(text) if like.integer or all(isinstance(c, int) for c in like.choices or (0.0,)) else float(text)


def _declared(model: type[BaseModel], name: str) -> Mapping[str, Any] | None:
    """The field's own range, or that of the class it overrides."""
    for owner in model.__mro__:
        field = getattr(owner, "__pydantic_fields__", {}).get(name)
        extra = field.json_schema_extra if field is not None else None
        if isinstance(extra, Mapping) and isinstance(found := extra.get(_KEY), Mapping):
            return found
    return None


def _as_fields(found: Mapping[str, Any]) -> Tree:
    return {"choices": tuple(found["choices"])} if "choices" in found else dict(found)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
