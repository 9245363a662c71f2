"""The examples run and do what they claim."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested():
    assert {p.stem for p in FOLDER.glob("*.py")} == {"own_smiles", "own_graphs", "sklearn_pipeline"}


def test_own_smiles_beats_guessing_the_mean(capsys):
    assert load("own_smiles").main(epochs=1) < 3.6  # the labels' standard deviation is 3.85
    assert "642 molecules" in capsys.readouterr().out


def test_own_graphs_finds_kin():
    assert load("own_graphs").main(epochs=2) > 0.5  # three kinds: chance is a third


def test_pipeline_beats_chance():
    assert load("sklearn_pipeline").main(num_graphs=45, epochs=1) > 0.4


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.stem)
def test_examples_say_what_they_are(path):
    assert load(path.stem).__doc__.strip()
