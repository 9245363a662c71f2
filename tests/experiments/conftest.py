"""A small table: rings and chains, tiny networks, and no processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adgcl.experiments.tables.reproduction import Reproduction, TableRequest, open_table
from adgcl.published import layout
from tests.cli.conftest import write_tu

SMALL = ("encoder.hidden_dim=8", "encoder.num_layers=2", "training.epochs=2", "num_folds=2", "evaluate_every=1")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path_factory.getbasetemp() / "packed"))


@pytest.fixture
def toys(tmp_path: Path) -> Path:
    return write_tu(tmp_path / "TOYS")


Make = Callable[..., Reproduction]


@pytest.fixture
def table(toys: Path, tmp_path: Path) -> Make:
    """`table("adgcl", seeds=2)`: a table of these rows on the small graphs."""

    def make(*methods: str, **changes: Any) -> Reproduction:
        wanted: dict[str, Any] = {
            "table": layout("table1-tu"), "datasets": (str(toys),), "methods": methods, "seeds": 1, "jobs": 1,
            "executor": "inline", "assignments": SMALL, "work": tmp_path / "runs", "out": tmp_path / "results",
        }  # fmt: skip
        return open_table(TableRequest(**{**wanted, **changes}))

    return make
