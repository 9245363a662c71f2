"""Registry: one name per variant, used in Python, TOML, on the command line and in the docs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from adgcl.core.errors import UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Variants of one noun, found by importing every file of the folder they live in.

    Adding a variant is adding a file: its decorator `@REGISTRY.register("name")` does the rest. Nothing is
    imported before the first look-up, so that `--help` stays quick.
    """

    def __init__(self, noun: str, package: str) -> None:
        self.noun, self.package = noun, package
        self._entries: dict[str, T] = {}
        self._discovered = False

    def register(self, name: str) -> Callable[[T], T]:
        def add(entry: T) -> T:
            if name in self._entries and self._entries[name] is not entry:
                raise ValueError(f"two {self.noun}s are called {name!r}")
            self._entries[name] = entry
            return entry

        return add

    def __getitem__(self, name: str) -> T:
        self._discover()
        if name not in self._entries:
            raise UnknownNameError(self.noun, name, self._entries)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        self._discover()
        return iter(sorted(self._entries))

    def __contains__(self, name: object) -> bool:
        self._discover()
        return name in self._entries

    def _discover(self) -> None:
        if self._discovered:
            return
        self._discovered = True
        folder = importlib.import_module(self.package)
        for module in pkgutil.iter_modules(folder.__path__):
            importlib.import_module(f"{self.package}.{module.name}")
