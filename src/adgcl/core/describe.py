"""Descriptions of settings: name, kind, default, range and help of every field of a configuration."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

_BOUNDS = (("ge", "≥ "), ("gt", "> "), ("le", "≤ "), ("lt", "< "))


@dataclass(frozen=True)
class Setting:
    """One setting, described for people."""

    name: str
    kind: str
    default: Any
    allowed: str
    help: str


def describe(model: type[BaseModel], prefix: str = "") -> list[Setting]:
    """Every setting of `model`; settings inside settings follow with a dotted name."""
    found = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found += describe(inner, f"{prefix}{name}.")
        else:
            found.append(Setting(prefix + name, _kind(inner), _default(field), _allowed(field), _help(model, name)))
    return found


def _kind(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin is Literal:
        return "choice"
    if origin in (tuple, list):
        return "list"
    if origin in (Union, types.UnionType):
        return " or ".join(_kind(part) for part in get_args(annotation) if part is not type(None))
    return {"str": "text", "int": "integer", "float": "number", "bool": "true or false"}.get(
        annotation.__name__, annotation.__name__
    )


def _default(field: FieldInfo) -> Any:
    value = field.get_default(call_default_factory=True)
    return None if value is PydanticUndefined else value


def _allowed(field: FieldInfo) -> str:
    choices = _choices(field.annotation)
    if choices:
        return ", ".join(choices)
    bounds = [
        f"{sign}{getattr(rule, name):g}"
        for rule in field.metadata
        for name, sign in _BOUNDS
        if getattr(rule, name, None) is not None
    ]
    return " and ".join(bounds)


def _choices(annotation: Any) -> list[str]:
    """The values of a Literal, also inside a list of them."""
    if get_origin(annotation) is Literal:
        return [str(value) for value in get_args(annotation)]
    return [choice for part in get_args(annotation) if part is not Ellipsis for choice in _choices(part)]


def _help(model: type[BaseModel], name: str) -> str:
    """The field's own description, or that of the class it overrides."""
    for owner in model.__mro__:
        fields = getattr(owner, "__pydantic_fields__", {})
        if name in fields and fields[name].description:
            return str(fields[name].description)
    return ""
