"""The space of a search: the ranges that stand beside the settings, without what the user has settled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adgcl.core.config import Config, Tree, merged, parse_overrides, read_toml
from adgcl.core.errors import ConfigError, did_you_mean
from adgcl.core.ranges import Range, parse_range, ranges_of
from adgcl.experiments.planning import Plan, Request, sections
from adgcl.methods.base import METHODS
from adgcl.methods.unlearned import Unlearned
from adgcl.training.run_config import RunConfig

# Their own ranges decide what is searched; `data` and `protocol` say what is asked, not how well it is answered.
_SECTIONS = ("method", "encoder", "training")


def make_space(plan: Plan, request: Request, asked: Sequence[str] = ()) -> dict[str, Range]:
    """What to search: every setting with a range that the user has not set, or only those that are `asked` for.

    Each entry of `asked` is a setting, or `setting=range`. Ranges are made wide enough for the starting settings, but
    not those that the user wrote.
    """
    tree = plan.run.to_tree()
    known = {name: range_.including(value_at(tree, name)) for name, range_ in _known(plan.run, tree).items()}
    settled = _settled(plan, request)
    if asked:
        chosen = dict(_asked(line, plan, known) for line in asked)
        for name in chosen.keys() & settled:
            raise ConfigError(f"{name} is searched, and also set.", f"Leave out --set {name}=..., or --search {name}.")
    else:
        chosen = {name: range_ for name, range_ in known.items() if name not in settled}
    if not chosen:
        raise ConfigError(
            f"There is nothing to search: no setting of {plan.run.method.name} is open.",
            "Name settings and ranges with --search reg_lambda=0.1..10, or set fewer of them.",
        )
    return chosen


def value_at(tree: Mapping[str, Any], name: str) -> Any:
    """The value of a setting by its dotted name."""
    found: Any = tree
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _known(run: RunConfig, tree: Tree) -> dict[str, Range]:
    """Every setting of a run that has a range, by full name; not those that are off, or decide nothing."""
    learned = not issubclass(METHODS[run.method.name], Unlearned)
    found: dict[str, Range] = {}
    for section in _SECTIONS if learned else _SECTIONS[:1]:
        config: Config = getattr(run, section)
        found |= {f"{section}.{name}": range_ for name, range_ in ranges_of(type(config))}
    idle = {f"method.{name}" for name in run.method.idle}
    found = {name: range_ for name, range_ in found.items() if name not in idle and value_at(tree, name) is not None}
    if run.training.start_from:
        # The weights that a run starts from fix the shape of its encoder.
        found = {name: range_ for name, range_ in found.items() if name.partition(".")[2] not in run.encoder.shape()}
    return found


def _asked(line: str, plan: Plan, known: Mapping[str, Range]) -> tuple[str, Range]:
    key, equals, text = line.partition("=")
    name = _full_name(key.strip(), plan)
    if name in known:
        return name, parse_range(text, known[name]) if equals else known[name]
    if not equals:
        hint = did_you_mean(name, known)
        raise ConfigError(f"{name} has no range of its own.", f"Write one: --search {key}=LOW..HIGH. {hint}")
    value = value_at(plan.run.to_tree(), name)
    if isinstance(value, bool | str):
        return name, parse_range(text, Range(choices=(value,)))
    return name, parse_range(text, Range(integer=isinstance(value, int)))


def _full_name(key: str, plan: Plan) -> str:
    """A setting by its section and name; an unknown one is an error that names the nearest."""
    known = sections(plan.run.method.name, plan.run.encoder.name, plan.judging.name)
    tree: Any = parse_overrides([f"{key}=0"], {name: known[name] for name in _SECTIONS})
    path = []
    while isinstance(tree, dict):
        ((name, tree),) = tree.items()
        path.append(name)
    if value_at(plan.run.to_tree(), ".".join(path[:-1])) is None or path[-1] not in _names_at(plan, path):
        raise ConfigError(f"There is no setting called {key!r}.", did_you_mean(path[-1], _names_at(plan, path)))
    return ".".join(path)


def _names_at(plan: Plan, path: Sequence[str]) -> list[str]:
    place = value_at(plan.run.to_tree(), ".".join(path[:-1]))
    return list(place) if isinstance(place, Mapping) else []


def _settled(plan: Plan, request: Request) -> set[str]:
    """The settings that the user gave, by full name."""
    known = sections(plan.run.method.name, plan.run.encoder.name, plan.judging.name)
    file = read_toml(request.config) if request.config else {}
    given = merged(file, request.flags, parse_overrides(request.assignments, known))
    return set(_names({section: given.get(section, {}) for section in _SECTIONS}))


def _names(tree: Tree, prefix: str = "") -> list[str]:
    found = []
    for name, value in tree.items():
        found += _names(value, f"{prefix}{name}.") if isinstance(value, dict) else [prefix + name]
    return found
