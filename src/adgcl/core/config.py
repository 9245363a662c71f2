"""Configuration: pydantic models with bounds and help, TOML files, and `key=value` overrides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from adgcl.core import trees
from adgcl.core.errors import ConfigError, did_you_mean

C = TypeVar("C", bound="Config")
Tree = dict[str, Any]


_SEE = "`adgcl settings` lists every setting with its range."
_LONGEST = 200  # characters of a value in a message
_DEEPEST = 8  # dots in the name of a setting

# Marks a setting (`json_schema_extra`) that changes where or how fast work is done, not its result.
HARMLESS: dict[str, Any] = {"harmless": True}


class Config(BaseModel):
    """Settings of one part: unknown keys are errors, values are checked and immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)

    def essence(self) -> Tree:
        """The settings that decide the result: two with the same essence mean the same work."""
        tree = self.model_dump(mode="json")
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if isinstance(field.json_schema_extra, Mapping) and field.json_schema_extra.get("harmless"):
                del tree[name]
            elif isinstance(value, Config):
                tree[name] = value.essence()
        return tree


def differences(old: Mapping[str, Any], new: Mapping[str, Any], where: str = "") -> list[str]:
    """Where two nested settings differ, in words: `method.reg_lambda: 5.0 -> 3.0`."""
    found = []
    for key in sorted({*old, *new}):
        a, b, path = old.get(key), new.get(key), f"{where}{key}"
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found += differences(a, b, f"{path}.")
        elif a != b:
            found.append(f"{path}: {_said(a)} -> {_said(b)}")
    return found


def _said(value: Any) -> str:
    return "nothing" if value == "" else str(value)


def read_toml(path: Path) -> Tree:
    """The settings in a TOML file."""
    try:
        return trees.read_toml(path)
    except OSError as error:
        raise ConfigError(f"Cannot read {path}: {error.strerror}.", "Check the path given to --config.") from error
    except trees.TreeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}.", "See docs/configuration.md for examples.") from error


def merged(*trees: Mapping[str, Any]) -> Tree:
    """Nested settings merged; later ones override earlier ones."""
    result: Tree = {}
    for tree in trees:
        for key, value in tree.items():
            old = result.get(key)
            both = isinstance(value, Mapping) and isinstance(old, Mapping)
            result[key] = merged(old, value) if both else (merged(value) if isinstance(value, Mapping) else value)  # type: ignore[arg-type]
    return result


def parse_overrides(assignments: Iterable[str], sections: Mapping[str, type[BaseModel]]) -> Tree:
    """Turn `section.key=value` (or a bare `key` that only one section has) into nested settings.

    A setting inside a setting is written with more dots: `method.gate.hard=true`, or `gate.hard=true`.
    """
    tree: Tree = {}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals or not path.strip():
            raise ConfigError(f"Cannot read the setting {assignment!r}.", "Write it as key=value.")
        *homes, key = _locate(path.strip(), sections)
        place = tree
        for home in homes:
            inner = place.setdefault(home, {})
            if not isinstance(inner, dict):
                raise ConfigError(f"{assignment!r} is about a part of {home!r}, which is set as a whole.", _SEE)
            place = inner
        place[key] = _value(text.strip())
    return tree


def _locate(path: str, sections: Mapping[str, type[BaseModel]]) -> list[str]:
    key, *inner = path.split(".")
    if len(inner) > _DEEPEST:
        raise ConfigError(f"{path[:_LONGEST]!r} has too many dots.", _SEE)
    if key in sections and inner:
        return [key, *inner]
    homes = [name for name, model in sections.items() if key in model.model_fields]
    if len(homes) == 1:
        return [homes[0], key, *inner]
    if homes:
        raise ConfigError(
            f"{key!r} is a setting of several sections.", "Use " + " or ".join(f"{h}.{path}" for h in homes) + "."
        )
    if inner:
        raise ConfigError(f"There is no section {key!r} in {path!r}.", did_you_mean(key, sections))
    known = {name for model in sections.values() for name in model.model_fields}
    raise ConfigError(f"There is no setting called {key!r}.", did_you_mean(key, known))


def _value(text: str) -> Any:
    """A TOML value, or the text itself, so that `name=gin` needs no quotes."""
    try:
        tree = trees.parse_toml(f"v = {text}")
    except trees.TreeError:
        return text
    return tree["v"] if tree.keys() == {"v"} else text


def build(model: type[C], settings: Mapping[str, Any], where: str = "") -> C:
    """Check `settings` against `model`; the first problems found become one clear error."""
    if not isinstance(settings, Mapping):
        raise ConfigError(f"{where or 'The configuration'} = {settings!r} is not a table of settings.", _SEE)
    try:
        return model.model_validate(dict(settings))
    except ValidationError as error:
        raise ConfigError(*_explain(error, model, where)) from error


def _explain(error: ValidationError, model: type[BaseModel], where: str) -> tuple[str, str]:
    problem = error.errors()[0]
    path = ".".join([*([where] if where else []), *(str(p) for p in problem["loc"])])
    if problem["type"] == "extra_forbidden":
        return f"There is no setting called {path!r}.", did_you_mean(
            str(problem["loc"][-1]), _fields_at(model, problem["loc"][:-1])
        )
    return (
        f"{path} = {_shown(problem.get('input'))}: {problem['msg']}.",
        _SEE,
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _fields_at(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    for step in path:
        annotation = model.model_fields[str(step)].annotation if str(step) in model.model_fields else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            break
        model = annotation
    return list(model.model_fields)
