"""Machine code is never older than any of its sources."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest

import adgcl
from adgcl.graphs.kernels.code_cache import PARTS, current_code

PACKAGE = Path(adgcl.__file__).parent
# A loop that reads and writes its numbers through `floats`, which another file defines.
_DOUBLE = """
import torch
from adgcl.encoders.dropout import _drop
from adgcl.graphs.kernels.compiled import addresses, on_compiling

x, out, heard = torch.arange(1.0, 6.0), torch.zeros(5), []
with on_compiling(lambda: heard.append(1)):
    _drop(*addresses(x, out), 4, 0, 0, 2.0)
print(out.tolist(), bool(heard))
"""


def run(package: Path) -> str:
    environment = {name: text for name, text in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment["PYTHONPATH"] = str(package.parent)
    command = [sys.executable, "-c", _DOUBLE]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_a_loop_is_compiled_again_when_what_it_calls_has_changed(tmp_path: Path) -> None:
    package = tmp_path / "adgcl"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    assert run(package) == "[2.0, 4.0, 6.0, 8.0, 0.0] True"
    assert run(package) == "[2.0, 4.0, 6.0, 8.0, 0.0] False", "the second time it comes from the cache"
    file = package / "graphs" / "kernels" / "compiled.py"
    text = file.read_text()
    file.write_text(
        text.replace("numba.carray(_to_floats(address), shape)", "numba.carray(_to_floats(address + 4), shape)")
    )
    assert file.read_text() != text
    assert run(package) == "[0.0, 4.0, 6.0, 8.0, 10.0] True"
    assert len(list((package / "__pycache__").glob("loops-*"))) == 1, "what is of no use is removed"


def functions_in_machine_code() -> Iterator[tuple[Path, ast.Module, ast.FunctionDef]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        for found in ast.walk(tree):
            if isinstance(found, ast.FunctionDef):
                decorators = {ast.unparse(decorator).partition("(")[0] for decorator in found.decorator_list}
                if decorators & {"compiled", "callable_in_loops", "part", "emitted"}:
                    yield path, tree, found


def test_whatever_becomes_part_of_a_loop_counts() -> None:
    """Otherwise a loop could keep what it has called, or a constant it has read, in an older form."""
    counted = {f"adgcl.{part.replace('/', '.')}" for part in PARTS}
    checked = 0
    for path, tree, function in functions_in_machine_code():
        used = {node.id for statement in function.body for node in ast.walk(statement) if isinstance(node, ast.Name)}
        for line in tree.body:
            if isinstance(line, ast.ImportFrom) and (line.module or "").startswith("adgcl"):
                names = used & {alias.asname or alias.name for alias in line.names}
                origin = (line.module or "").rpartition(".")[0]
                assert not names or origin in counted, f"{path.name}: {function.name} reads {names} of {line.module}"
                checked += len(names)
    assert checked > 50


def test_the_folder_of_others_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Numba's setting is the user's, for loops of the user's own."""
    for chosen in ("", str(tmp_path)):
        monkeypatch.setattr(numba.config, "CACHE_DIR", chosen)
        with current_code():
            assert Path(numba.config.CACHE_DIR).name.startswith("loops-")
            assert Path(numba.config.CACHE_DIR).is_relative_to(chosen or PACKAGE)
        assert chosen == numba.config.CACHE_DIR
