"""From computed labels to an encoder that fits into a mail: describe, pretrain, export, embed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.cli.conftest import SMALL, Run

QUICK = ("--epochs", 1, *SMALL, "--set", "schedule=none")


def test_descriptors_are_learned_and_the_encoder_passed_on(run, molecules: Path) -> None:
    made = run("data", "describe", molecules, "--out", "own.graphs", "--json")
    assert made.code == 0 and json.loads(made.out)["descriptors"] > 100
    trained = run("pretrain", "own.graphs", "--preset", "descriptors-transfer", "--out", "run", *QUICK)
    assert trained.code == 0, trained.err
    assert "adgcl embed run own.graphs" in trained.out and "--method descriptors" not in trained.out
    written = run("export", "run", "--out", "own.safetensors", "--json")
    assert written.code == 0 and json.loads(written.out)["method"] == "descriptors"
    for source, target in (("run", "whole.npy"), ("own.safetensors", "half.npy")):
        assert run("embed", source, molecules, "--out", target).code == 0
    whole, half = np.load("whole.npy"), np.load("half.npy")
    np.testing.assert_allclose(half, whole, atol=0.02 * np.nanmax(np.abs(whole)))
    labels = ("--label-column", "logp", "--seeds", 1, "--set", "num_folds=2")
    judged = run("evaluate", "own.safetensors", molecules, *labels)
    assert judged.code == 0 and "this is not a test" not in judged.err and "Descriptors + ECFP" in judged.out


def test_mistakes_are_said(run, molecules: Path, toys: Path) -> None:
    assert "has no descriptors to learn from" in run("pretrain", molecules, "--method", "descriptors", "--out", "r").err
    assert "Let it end in .graphs" in run("data", "describe", molecules, "--out", "own.csv").err
    assert "has no SMILES" in run("data", "describe", toys, "--out", "toys.graphs").err
    assert "packaged encoder" in run("export", "nowhere", "--out", "a.safetensors").err
    assert run("pretrain", molecules, "--out", "run", "--epochs", 1, *SMALL).code == 0
    assert "Let it end in .safetensors" in run("export", "run", "--out", "a.pt").err


def test_a_packaged_encoder_embeds_by_name(run: Run, molecules: Path) -> None:
    molecules.write_text("smiles\nCCO\nC1CC\nC~C\nCCO\n", encoding="utf-8")
    told = run("embed", "zinc-gin", molecules, "--out", "v.csv")
    assert told.code == 0 and "4 rows, 1 of them unreadable" in told.out and "300 numbers each" in told.out
    assert "bonds of other kinds (such as dative) in 1 molecule" in told.err
    rows = [line.split(",")[1:] for line in Path("v.csv").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 5 and len(rows[0]) == 300 and rows[1] == rows[4] != rows[3]
