"""The samples in CONTRIBUTING.md work as they stand: pasted into a file, registered, run through the contracts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
SAMPLES = dict(re.findall(r"```python\n# (src/adgcl/\S+\.py)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
# What is run over a sample once it is part of the package.
SUITES = {
    "src/adgcl/methods/mine.py": ("tests/contracts/test_methods.py", "mine", "adgcl.methods"),
    "src/adgcl/protocols/nearest.py": ("tests/contracts/test_protocols.py", "nearest", "adgcl.protocols"),
}


def test_there_is_a_suite_for_every_sample() -> None:
    assert set(SAMPLES) == set(SUITES)


@pytest.mark.parametrize("path", list(SUITES))
def test_a_pasted_sample_passes_the_contracts(path: str, tmp_path: Path) -> None:
    suite, name, group = SUITES[path]
    (tmp_path / f"{name}_sample.py").write_text(SAMPLES[path], encoding="utf-8")
    about = tmp_path / "sample-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{name} = {name}_sample\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "pytest", suite, "-k", name, "-p", "no:xdist"]
    made = subprocess.run(
        command, cwd=PAGE.parent, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert made.returncode == 0, made.stdout[-3000:]
    assert re.search(r"\d+ passed", made.stdout + made.stderr), "no test of the contract ran"
