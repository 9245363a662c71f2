"""What a user reads who lacks a package that is not installed by default."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from adgcl.core.extras import MissingExtraError, import_extra, is_installed
from adgcl.graphs.convert import to_pyg
from tests.graph_strategies import Plain, packed


def test_what_is_installed_is_imported() -> None:
    assert import_extra("json.decoder", "none", "Reading JSON").JSONDecoder is json.JSONDecoder


def test_what_is_absent_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch_geometric"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [_Absent("torch_geometric"), *sys.meta_path])
    with pytest.raises(MissingExtraError, match="torch_geometric, which is not installed") as caught:
        to_pyg(packed([Plain([0], [])]))
    assert caught.value.hint == 'Run `pip install "adgcl[pyg]"`.'


def test_what_is_broken_is_not_called_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_package.py").write_text("import something_that_is_nowhere")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="something_that_is_nowhere"):
        import_extra("broken_package", "none", "This")


class _Absent:
    """A finder that knows for certain that a package is not there."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_what_is_there_is_known_without_importing_it() -> None:
    assert is_installed("numpy") and not is_installed("no_such_package")
