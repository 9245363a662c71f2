"""Registry: one name per variant, used in Python, TOML, on the command line and in the docs."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from adgcl.core.errors import UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Variants of one noun, found by importing every file of the folder they live in, and plug-ins.

    Adding a variant is adding a file: its decorator `@REGISTRY.register("name")` does the rest. Another package adds
    one by an entry point in the group named after the folder (`adgcl.methods`). Nothing is imported before the first
    lookup, so that `--help` stays quick. A file that cannot be imported does not affect the others: `broken` says
    which it is and why.
    """

    def __init__(self, noun: str, package: str) -> None:
        self.noun, self.package = noun, package
        self.broken: dict[str, str] = {}
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
            raise UnknownNameError(self.noun, name, self._entries, self._excuse())
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
            self._import(f"{self.package}.{module.name}")
        for plugin in importlib.metadata.entry_points(group=self.package):
            self._import(plugin.value.partition(":")[0], f"{plugin.name} ({plugin.value})")

    def _import(self, module: str, called: str = "") -> None:
        try:
            importlib.import_module(module)
        except Exception as error:
            first_line = (str(error).strip().splitlines() or [""])[0]
            self.broken[called or module] = f"{type(error).__name__}: {first_line}"

    def _excuse(self) -> str:
        """What could not be imported, since it may be what was asked for."""
        return " ".join(f"{module} cannot be imported ({why})." for module, why in self.broken.items())
