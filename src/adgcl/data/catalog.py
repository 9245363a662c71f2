"""Every data set known by name."""

from __future__ import annotations

import importlib
from functools import cache

from adgcl.core.errors import UnknownNameError
from adgcl.data.entry import Entry

FAMILIES = ("tu", "ogb", "zinc", "moleculenet", "ppi", "freesolv", "generated")


@cache
def all_entries() -> tuple[Entry, ...]:
    """The entries of all families; each family's file is imported only now."""
    families = [importlib.import_module(f"adgcl.data.families.{family}") for family in FAMILIES]
    return tuple(entry for family in families for entry in family.entries())


def find_entry(name: str) -> Entry:
    """The entry with this name or alias, ignoring case, `_` and `-`."""
    found = _by_name().get(_plain(name))
    if found is None:
        raise UnknownNameError("data set", name, known_names())
    return found


def is_known(name: str) -> bool:
    return _plain(name) in _by_name()


def known_names() -> list[str]:
    """The names of all entries, in the order of the families."""
    return [entry.name for entry in all_entries()]


@cache
def _by_name() -> dict[str, Entry]:
    table: dict[str, Entry] = {}
    for entry in all_entries():
        for name in (entry.name, *entry.aliases):
            other = table.setdefault(_plain(name), entry)
            if other is not entry:
                raise ValueError(f"two data sets are called {name}: {other.name} and {entry.name}")
    return table


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")
