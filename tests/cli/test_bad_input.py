"""Whatever is wrong with the input: one clear line, what to do, and no traceback."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from tests.cli.conftest import SMALL, write_tu


def fails(answer, *words: str) -> None:
    assert answer.code == 1
    assert answer.err.startswith("Error: ") and answer.out == ""
    for word in words:
        assert word in answer.err


def test_missing_file(run, molecules: Path) -> None:
    fails(
        run("pretrain", "molecule.csv", "--out", "run"),
        "There is no file molecule.csv",
        "Did you mean",
        "molecules.csv",
    )


def test_a_mistake_leaves_no_folder_behind(run) -> None:
    fails(run("pretrain", "nosuch.csv", "--out", "run"))
    assert not Path("run").exists()


@pytest.mark.parametrize("text", ["", "smiles,y\n"])
def test_empty_csv(run, text: str) -> None:
    Path("empty.csv").write_text(text)
    fails(run("pretrain", "empty.csv", "--out", "run"), "empty.csv")


def test_no_smiles_column(run) -> None:
    Path("t.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    fails(run("pretrain", "t.csv", "--out", "run"), "--smiles-column")


def test_unknown_columns(run, molecules: Path) -> None:
    fails(run("pretrain", molecules, "--out", "run", "--smiles-column", "smile"), "smile", "smiles")
    fails(run("pretrain", molecules, "--out", "run", "--label-column", "logq"), "logp")


def test_nothing_readable(run) -> None:
    Path("t.csv").write_text("smiles\nxx\nC1CC\n???\n")
    fails(run("pretrain", "t.csv", "--out", "run"), "t.csv", "line 2")


def test_unknown_names(run, toys: Path) -> None:
    fails(run("pretrain", "MUTAGG", "--out", "run"), "Did you mean 'MUTAG'")
    fails(run("pretrain", toys, "--out", "run", "--method", "adgc"), "no method called 'adgc'", "Did you mean 'adgcl'")
    fails(run("evaluate", toys, "--mode", "loose"), "protocol.mode")
    fails(run("evaluate", toys, "--probe", "forest"), "linear, svm or both")
    fails(run("pretrain", toys, "--out", "run", "--set", "encoder.name=gim"), "Did you mean 'gin'")
    fails(run("pretrain", toys, "--out", "run", "--device", "tpu7"), "device")


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("reg_lamda=1", "Did you mean 'reg_lambda'"),
        ("method.reg_lamda=1", "Did you mean 'reg_lambda'"),
        ("gate.hart=true", "Did you mean 'hard'"),
        ("reg_lambda=-1", "greater than or equal to 0"),
        ("reg_lambda=much", "method.reg_lambda"),
        ("nosection.key=1", "There is no section"),
        ("name=gin", "encoder.name"),
        ("epochs", "key=value"),
    ],
)
def test_wrong_settings(run, toys: Path, assignment: str, words: str) -> None:
    fails(run("pretrain", toys, "--out", "run", "--set", assignment), words)


def test_wrong_config_files(run, toys: Path) -> None:
    fails(run("pretrain", toys, "--out", "run", "--config", "nosuch.toml"), "nosuch.toml")
    Path("broken.toml").write_text("[training\n")
    fails(run("pretrain", toys, "--out", "run", "--config", "broken.toml"), "not valid TOML")
    Path("key.toml").write_text("[training]\nepoch = 3\n")
    fails(run("pretrain", toys, "--out", "run", "--config", "key.toml"), "training.epoch", "Did you mean 'epochs'")
    Path("section.toml").write_text("[trainin]\nepochs = 3\n")
    fails(run("pretrain", toys, "--out", "run", "--config", "section.toml"), "Did you mean 'training'")


def test_out_of_range_flag(run, toys: Path) -> None:
    fails(run("pretrain", toys, "--out", "run", "--batch-size", 0), "training.batch_size", "adgcl settings")


def test_existing_run_is_not_overwritten(run, finished: Path, molecules: Path) -> None:
    before = (finished / "checkpoint.safetensors").read_bytes()
    fails(run("pretrain", molecules, "--out", finished, *SMALL), "already holds a run", "--resume")
    assert (finished / "checkpoint.safetensors").read_bytes() == before


def test_resume_with_other_settings_or_data(run, finished: Path, molecules: Path, toys: Path) -> None:
    config = (finished / "config.json").read_text()
    fails(
        run("pretrain", molecules, "--out", finished, "--resume", "--epochs", 9, "--set", "reg_lambda=1"),
        "other settings",
    )
    assert (finished / "config.json").read_text() == config
    fails(run("pretrain", toys, "--out", finished, "--resume", "--epochs", 9), "other data")


def test_wrong_checkpoints(run, finished: Path, molecules: Path, tmp_path: Path) -> None:
    answer = run("embed", "nowhere", molecules, "--out", "v.csv")
    fails(answer, "no run, checkpoint or packaged encoder", "adgcl pretrain --out")
    Path("checkpoint.safetensors").write_bytes(b"not a checkpoint at all")
    fails(run("embed", "checkpoint.safetensors", molecules, "--out", "v.csv"), "not a readable checkpoint")
    shutil.copytree(finished, "cut")
    whole = Path("cut/checkpoint.safetensors").read_bytes()
    Path("cut/checkpoint.safetensors").write_bytes(whole[: len(whole) // 2])
    fails(run("embed", "cut", molecules, "--out", "v.csv"), "not a readable checkpoint")


def _rewritten(finished: Path, **changes: object) -> Path:
    from safetensors import safe_open

    source = finished / "checkpoint.safetensors"
    with safe_open(source, framework="pt") as file:
        about = json.loads(file.metadata()["adgcl"])
    save_file(load_file(source), "other.safetensors", metadata={"adgcl": json.dumps({**about, **changes})})
    return Path("other.safetensors")


def test_checkpoint_of_another_version(run, finished: Path, molecules: Path) -> None:
    other = _rewritten(finished, format="adgcl-checkpoint-99")
    fails(run("embed", other, molecules, "--out", "v.csv"), "adgcl-checkpoint-99", "train again")
    plain = Path("plain.safetensors")
    save_file(load_file(finished / "checkpoint.safetensors"), plain)
    fails(run("embed", plain, molecules, "--out", "v.csv"), "checkpoint format 'none'")


def test_features_that_do_not_fit(run, finished: Path, toys: Path) -> None:
    fails(run("embed", finished, toys, "--out", "v.csv"), "do not fit the run", "9 categorical columns per node")
    fails(run("evaluate", finished, toys), "do not fit the run")


def test_categories_that_do_not_fit(run, toys: Path, tmp_path: Path) -> None:
    more = write_tu(tmp_path / "MORE", "MORE", labels=4)
    run("pretrain", toys, "--out", "run", "--epochs", 1, *SMALL, "-q")
    fails(run("embed", "run", more, "--out", "v.csv"), "node column 0 has category 3", "never saw")


def test_no_labels_to_judge_by(run, finished: Path, molecules: Path) -> None:
    fails(run("evaluate", finished, molecules), "no labels", "--label-column")
    fails(run("evaluate", molecules, "--seeds", 1), "no labels", "--label-column")


def test_too_few_graphs_to_judge(run, finished: Path) -> None:
    Path("two.csv").write_text("smiles,y\nCCO,1.5\nCCC,2.5\n")
    fails(run("evaluate", finished, "two.csv"))


def test_wrong_arguments_of_evaluate(run, finished: Path, molecules: Path) -> None:
    fails(run("evaluate", finished), "there is no data to evaluate it on")
    fails(run("evaluate", finished, molecules, "more"), "Too many arguments")
    fails(run("evaluate", finished, molecules, "--epochs", 3), "cannot be trained again")


@pytest.mark.parametrize("command", ["pretrain", "embed", "evaluate"])
def test_unwritable_folder(run, command: str, finished: Path, molecules: Path, toys: Path) -> None:
    Path("file").write_text("")
    arguments = {
        "pretrain": (toys, "--out", "file/run"),
        "embed": (finished, molecules, "--out", "file/v.csv"),
        "evaluate": (finished, molecules, "--label-column", "logp", "--set", "num_folds=3", "--out", "file/results"),
    }
    fails(run(command, *arguments[command]), "is not a folder")


def test_unknown_endings(run, finished: Path, molecules: Path) -> None:
    fails(run("embed", finished, molecules, "--out", "v.xlsx"), ".parquet, .csv, .npy")
    fails(run("report", finished, "--out", "c.png"), "Use .svg")


def test_full_disk(run, finished: Path, molecules: Path, toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("adgcl.core.files._sync", full)
    fails(run("embed", finished, molecules, "--out", "v.parquet"), "No space left on device", "The disk is full")
    fails(run("pretrain", toys, "--out", "run", "--epochs", 1, *SMALL), "The disk is full")
    assert not list(Path().glob("*.part")) and not list(Path("run").glob("*.part"))


def test_reports_without_records(run, tmp_path: Path) -> None:
    fails(run("report", "nowhere"), "There is no folder nowhere")
    Path("empty").mkdir()
    fails(run("report", "empty"), "There are no Records")
    Path("empty/x.json").write_text("{}")
    fails(run("report", "empty"), "There are no Records")
    Path("empty/y.json").write_text('{"format": "adgcl-record-1"}')
    fails(run("report", "empty"), "y.json is not a Record", "Remove it")


def test_report_of_a_folder_of_runs(run, finished: Path) -> None:
    answer = run("report", finished.parent, "--out", "all.svg")
    fails(answer, "There are no Records", f"adgcl report {finished} --out curves.svg")
    assert "config.json" not in answer.text
