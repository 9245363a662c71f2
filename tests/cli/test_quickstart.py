"""`adgcl quickstart`: the whole job, made short."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from adgcl.graphs.chem.vocabulary import Strangers
from adgcl.published import find_result


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed and a narrow encoder; everything else as a user runs it."""
    from adgcl.experiments import presets, quickstart

    monkeypatch.setattr(quickstart, "SEEDS", (0,))
    narrow = {**presets.presets()}
    for name in ("adgcl-ogb", "random_init-ogb"):
        old = narrow[name]
        settings = {**old.settings, "encoder": {"name": "gine", "hidden_dim": 8, "num_layers": 2}}
        narrow[name] = replace(old, settings=settings)
    monkeypatch.setattr(presets, "presets", lambda: narrow)


def test_quickstart_twice(run, small: None) -> None:
    first = run("quickstart", "--epochs", 1, "--json")
    assert first.code == 0
    tree = json.loads(first.out)
    assert [r["method"] for r in tree["records"]] == ["random_init", "ecfp", "adgcl"] and tree["reused_seeds"] == 0
    paper = find_result("ogbg-molfreesolv", "adgcl")
    assert paper is not None and tree["records"][2]["published"]["mean"] == paper.mean
    again = run("quickstart", "--epochs", 1)
    assert "1 of 1 seeds of AD-GCL were already finished" in again.out
    for words in (
        "untrained GIN",
        "ECFP",
        "AD-GCL",
        f"{paper.mean:.3f} ± {paper.std:.3f}",
        "adgcl embed runs/quickstart",
    ):
        assert words in again.out
    embedded = run("embed", "runs/quickstart", "freesolv", "--out", "v.npy", "--json")
    assert json.loads(embedded.out) == {
        "out": "v.npy", "rows": 642, "columns": 8, "unreadable": 0, "run": "runs/quickstart", "dataset": "freesolv",
        "mixtures": 0, **Strangers().counts(),
    }  # fmt: skip
    assert Path("runs/quickstart/config.json").exists()
