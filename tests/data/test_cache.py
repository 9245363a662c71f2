"""What the packing cache depends on: all that readers import, and no more than that."""

from __future__ import annotations

import ast
import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from adgcl.data import cache, catalog

# Imported by readers without any say in what they pack: cutting batches, errors, files, the shape of declarations.
_NO_SAY = {
    "adgcl.core.errors", "adgcl.core.extras", "adgcl.core.files", "adgcl.core.progress", "adgcl.core.schema",
    "adgcl.core.safe_text", "adgcl.core.trees", "adgcl.data.checked", "adgcl.data.entry", "adgcl.data.fetch.archives",
    "adgcl.graphs.store.batch", "adgcl.graphs.store.soundness",
}  # fmt: skip
_NO_SAY_FOLDERS = ("adgcl.jobs",)


def test_every_file_that_a_reader_imports_is_named() -> None:
    starts = [f"adgcl.data.families.{family}" for family in catalog.FAMILIES]
    reached = _reached([*starts, "adgcl.data.text.smiles_table", "adgcl.data.text.tu_format", "adgcl.data.packed"])
    named = {path.resolve() for path in cache.reader_files()}
    forgotten = [
        name
        for name, path in reached.items()
        if path not in named and name not in _NO_SAY and not name.startswith(_NO_SAY_FOLDERS)
    ]
    assert forgotten == []


def test_editing_a_kernel_repacks_nothing() -> None:
    assert not [path for path in cache.reader_files() if "kernels" in path.parts]


def test_a_reader_that_moved_away_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_READERS", ("adgcl.data.smiles_table",))
    with pytest.raises(ModuleNotFoundError, match=r"depends on adgcl\.data\.smiles_table"):
        cache.reader_files()


def _reached(starts: list[str]) -> dict[str, Path]:
    """Every module of the package that these import, directly or through others, with its file."""
    found: dict[str, Path] = {}
    waiting = list(starts)
    while waiting:
        name = waiting.pop()
        spec = _spec(name)
        if name in found or spec is None or spec.origin is None:
            continue
        found[name] = Path(spec.origin).resolve()
        if name in _NO_SAY or name.startswith(_NO_SAY_FOLDERS):
            continue
        for node in ast.walk(ast.parse(found[name].read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("adgcl."):
                waiting += [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return {name: path for name, path in found.items() if path.name != "__init__.py"}


def _spec(name: str) -> ModuleSpec | None:
    """A module, or None where `name` is a class or function of one."""
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return None
