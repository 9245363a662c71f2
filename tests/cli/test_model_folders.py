"""The life of a model folder: refused before it began, damaged after it was finished, asked for in another way."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Run

QUICK = ("--label-column", "logp", "--epochs", 1, "--split", "random", *SMALL)


@pytest.fixture
def finished(run: Run, molecules: Path) -> Path:
    assert run("finetune", "none", molecules, *QUICK, "--seeds", 2, "--out", "m").code == 0
    return Path("m")


def test_a_refused_command_leaves_its_folder_free(run: Run, molecules: Path) -> None:
    words = (
        "finetune",
        "zinc-gin",
        molecules,
        "--label-column",
        "logp",
        "--epochs",
        1,
        "--seeds",
        1,
        "--split",
        "random",
    )
    refused = run(*words, "--set", "encoder.hidden_dim=64", "--out", "m")
    assert refused.code == 1 and "different shape" in refused.err
    assert run("predict", "m", molecules, "--out", "p.csv").code == 1
    assert run("finetune", "none", molecules, *QUICK, "--seeds", 1, "--out", "m").code == 0


def test_a_damaged_model_is_not_called_finished(run: Run, molecules: Path, finished: Path) -> None:
    words = ("finetune", "none", molecules, *QUICK, "--seeds", 2, "--out", "m")
    assert "already finished" in run(*words).out
    member = finished / "member-0.safetensors"
    whole = member.read_bytes()
    member.write_bytes(whole[:-1])
    changed = run(*words)
    assert changed.code == 1 and "was changed" in changed.err and "remove the folder and fine-tune again" in changed.err
    member.unlink()
    lost = run(*words)
    assert lost.code == 1 and "has lost its file member-0.safetensors" in lost.err
    shutil.rmtree(finished)
    assert run(*words).code == 0, "the advice works"


def test_another_format_says_what_to_do(run: Run, molecules: Path, finished: Path) -> None:
    about = json.loads((finished / "model.json").read_text())
    (finished / "model.json").write_text(json.dumps({**about, "format": "adgcl-model-9"}))
    refused = run("finetune", "none", molecules, *QUICK, "--seeds", 2, "--out", "m")
    assert refused.code == 1 and "remove the folder and fine-tune again" in refused.err


def test_what_was_asked_for_differently_is_named_by_its_cause(run: Run, molecules: Path, finished: Path) -> None:
    def difference(*words: object) -> str:
        refused = run("finetune", *words, "--out", "m")
        assert refused.code == 1
        return refused.err.split("asked for differently (")[1].split(")")[0]

    assert difference("none", molecules, *QUICK, "--seeds", 1) == "members: ['seed 0', 'seed 1'] -> ['seed 0']"
    assert difference("none", molecules, *QUICK, "--seeds", 2, "--unit", "K") == "unit: nothing -> K"
    other = molecules.with_name("other.csv")
    other.write_text(molecules.read_text().replace("0.", "1.", 1))
    assert difference("none", other, *QUICK, "--seeds", 2) == "other data or labels"


def test_folds_are_not_mixed_with_a_split_or_with_seeds(run: Run, molecules: Path) -> None:
    words = ("finetune", "none", molecules, "--label-column", "logp", "--epochs", 1, *SMALL, "--out", "m")
    for split in ("scaffold", "random", "part"):
        refused = run(*words, "--split", split, "--folds", 2)
        assert refused.code == 1 and "Error" in refused.err and not Path("m").exists()
    assert "Both --split scaffold and --folds" in run(*words, "--split", "scaffold", "--folds", 2).err
    assert "Both --seeds and --folds" in run(*words, "--split", "cv", "--seeds", 2).err


def test_coverage_is_about_numbers(run: Run) -> None:
    rows = [f"{'C' * (1 + i)}{'NO'[i % 2]},{('no', 'yes')[i % 2]}" for i in range(24)]
    Path("new.csv").write_text("smiles,active\n" + "\n".join(rows) + "\n")
    words = ("finetune", "none", "new.csv", "--label-column", "active", "--epochs", 1, "--folds", 3, *SMALL)
    done = run(*words, "--out", "m")
    assert done.code == 0 and "calibrated by the other folds" in done.out
    refused = run("predict", "m", "new.csv", "--coverage", 0.95, "--out", "p.csv")
    assert refused.code == 1 and "predicts classes" in refused.err and not Path("p.csv").exists()
