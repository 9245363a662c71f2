"""A short campaign over every target; `make fuzz N=100000` runs a long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.campaign import run
from tests.fuzz.targets import TARGETS

# Models and runs take longer to open than a table.
_FEW = {"model": 40, "checkpoint": 60, "record": 80, "xlsx": 60}
_INPUTS = 150


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "packed"))


@pytest.mark.parametrize("name", TARGETS)
def test_bent_inputs_work_or_are_refused(name: str, tmp_path: Path) -> None:
    summary = run(name, range(_FEW.get(name, _INPUTS)), tmp_path / "fuzz")
    assert not summary.failures, "\n\n".join(f"{where}: {what}" for where, what in summary.failures.items())
    assert summary.counts["worked"] + summary.counts["refused"] > 0


@pytest.mark.parametrize("name", TARGETS)
def test_the_valid_input_works(name: str, tmp_path: Path) -> None:
    TARGETS[name].make(tmp_path)
    TARGETS[name].use(tmp_path)
