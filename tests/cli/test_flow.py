"""Pre-train, embed, evaluate and report: the happy paths, on small data of each kind."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import MOLECULES, SMALL, UNREADABLE

QUICK = ("--seeds", "2", "--jobs", "1", "--set", "num_folds=3")


def read_csv(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_a_csv_with_bad_rows_goes_all_the_way(run, molecules: Path) -> None:
    done = run("pretrain", molecules, "--out", "runs/mine", "--epochs", 2, "--label-column", "logp", *SMALL)
    assert done.code == 0
    assert "13 graphs" in done.out and "drop ratio" in done.out and "adgcl embed runs/mine" in done.out
    assert "3 of 16 rows cannot be read" in done.err and "unclosed ring" in done.err
    listed = read_csv(Path("runs/mine/unreadable.csv"))
    assert listed[0] == ["line", "text", "reason"] and [row[0] for row in listed[1:]] == ["4", "8", "16"]

    embedded = run("embed", "runs/mine", molecules, "--out", "vectors.csv")
    assert embedded.code == 0 and "3 of them unreadable" in embedded.out
    rows = read_csv(Path("vectors.csv"))
    assert rows[0] == ["id", *(f"e{i}" for i in range(8))]
    assert [row[0] for row in rows[1:]] == [name for name, _, _ in MOLECULES]
    assert {row[0] for row in rows[1:] if row[1] == "nan"} == set(UNREADABLE)

    judged = run("evaluate", "runs/mine", molecules, "--label-column", "logp", *QUICK[:2], *QUICK[4:])
    assert judged.code == 0 and "RMSE" in judged.out and "results/" in judged.out
    record = json.loads(next(Path("results").glob("*.json")).read_text())
    assert record["dataset"] == "molecules" and record["protocol"] == "finished-run"


def test_a_preset_by_name(run, molecules: Path, toys: Path) -> None:
    """The settings of transfer learning, molecules read as Hu et al. do; other graphs have no such features."""
    done = run("pretrain", molecules, "--preset", "adgcl-transfer", "--out", "run", "--epochs", 1, *SMALL, "--json")
    assert done.code == 0 and json.loads(done.out)["graphs"] == 13
    config = json.loads(Path("run/config.json").read_text())
    assert config["encoder"]["name"] == "hu_gin" and config["encoder"]["message"] == "relu"
    assert config["data"]["atom_features"] == "hu" and config["training"]["batch_size"] == 256
    resumed = run("pretrain", molecules, "--out", "run", "--resume", "--epochs", 2)
    assert resumed.code == 0 and json.loads(Path("run/config.json").read_text())["encoder"] == config["encoder"]
    embedded = run("embed", "run", molecules, "--out", "vectors.npy")
    assert embedded.code == 0 and np.load("vectors.npy").shape == (16, 8)
    refused = run("pretrain", toys, "--preset", "adgcl-transfer", "--out", "other")
    assert refused.code == 1 and "--set data.atom_features=hu" in refused.err
    unknown = run("pretrain", toys, "--preset", "adgcl-transport", "--out", "other")
    assert unknown.code == 1 and "Did you mean 'adgcl-transfer'" in unknown.err


def test_a_tu_folder_goes_all_the_way(run, toys: Path) -> None:
    assert run("pretrain", toys, "--out", "run", "--epochs", 2, *SMALL, "--quiet").code == 0
    answer = run("embed", "run", toys, "--out", "vectors.npy", "--json")
    assert json.loads(answer.out)["rows"] == 24 and np.load("vectors.npy").shape == (24, 8)
    judged = run("evaluate", "run", toys, "--json", *QUICK[:2], *QUICK[4:])
    records = json.loads(judged.out)["records"]
    assert [record["method"] for record in records] == ["adgcl", "random_init", "statistics", "constant"]
    for record in records:
        assert record["metric"] == "accuracy" and len(record["values"]) == 2 and record["published"] is None


def test_embedding_is_the_same_in_every_format(run, finished: Path, molecules: Path) -> None:
    for name in ("v.parquet", "v.csv", "v.npy"):
        assert run("embed", finished, molecules, "--out", name, "--quiet").code == 0
    from pyarrow import parquet

    table = parquet.read_table("v.parquet")
    assert table.column_names[:2] == ["id", "e0"] and table["id"].to_pylist() == [m[0] for m in MOLECULES]
    from_parquet = np.stack([table[f"e{i}"].to_numpy() for i in range(8)], axis=1)
    from_csv = np.array([row[1:] for row in read_csv(Path("v.csv"))[1:]], dtype=np.float32)
    np.testing.assert_array_equal(from_parquet, np.load("v.npy"))
    np.testing.assert_array_equal(from_csv, np.load("v.npy"))


def test_new_molecules_are_embedded_alike(run, finished: Path) -> None:
    Path("new.csv").write_text("smiles\nCCCCO\nCCO\n")
    Path("one.csv").write_text("smiles\nCCO\n")
    run("embed", finished, "new.csv", "--out", "new.npy")
    run("embed", finished, "one.csv", "--out", "one.npy")
    np.testing.assert_allclose(np.load("new.npy")[1], np.load("one.npy")[0], rtol=1e-4, atol=1e-5)


def test_evaluate_trains_seeds_and_reuses_them(run, toys: Path) -> None:
    first = run("evaluate", toys, "--epochs", 2, "--mode", "as_published", *SMALL, *QUICK, "--json")
    tree = json.loads(first.out)
    record = tree["records"][0]
    assert tree["reused_seeds"] == 0 and record["mode"] == "as_published" and record["method"] == "adgcl"
    assert record["command"].startswith("adgcl evaluate") and record["seeds"] == [0, 1]
    again = run("evaluate", toys, "--epochs", 2, "--mode", "as_published", *SMALL, *QUICK)
    assert "2 of 2 seeds were finished before" in again.out and "difference" not in again.out
    fresh = run("evaluate", toys, "--epochs", 2, "--mode", "as_published", *SMALL, *QUICK, "--fresh", "--json")
    assert json.loads(fresh.out)["reused_seeds"] == 0
    assert json.loads(fresh.out)["records"][0]["values"] == record["values"]


def test_evaluate_both_probes_beside_the_paper(run, data_dir: Path) -> None:
    settings = ("--method", "random_init", "--probe", "both", "--seeds", 1, "--data-dir", data_dir)
    answer = run("evaluate", "MUTAG", *settings, "--json")
    records = json.loads(answer.out)["records"]
    assert [r["probe"] for r in records] == ["linear", "svm"]
    assert records[0]["published"]["method"] == "RU-GIN" and 50 < records[0]["mean"] < 100
    assert "RU-GIN" in run("evaluate", "MUTAG", *settings).out


def test_evaluate_on_a_split(run, finished: Path, molecules: Path) -> None:
    arguments = ("evaluate", finished, molecules, "--label-column", "logp", "--split", "random", "--json")
    records = json.loads(run(*arguments).out)["records"]
    assert [record["method"] for record in records] == ["adgcl", "adgcl+ecfp", "random_init", "ecfp", "constant"]
    assert all(record["seeds"] == [0] and record["std"] is None for record in records)
    (alone,) = json.loads(run(*arguments, "--alone").out)["records"]
    assert alone["values"] == records[0]["values"]


def test_settings_come_in_layers(run, toys: Path) -> None:
    Path("own.toml").write_text("[training]\nepochs = 9\nbatch_size = 5\n[method]\nreg_lambda = 2.0\n")
    layers = ("--config", "own.toml", "--epochs", 1, "--set", "gate.hard=true", "--set", "method.temperature=0.5")
    answer = run("pretrain", toys, "--out", "run", *layers, *SMALL, "--json")
    assert json.loads(answer.out)["epochs"] == 1
    config = json.loads(Path("run/config.json").read_text())
    assert config["training"]["batch_size"] == 5 and config["encoder"]["hidden_dim"] == 8
    assert config["method"]["reg_lambda"] == 2.0 and config["method"]["temperature"] == 0.5
    assert config["method"]["gate"]["hard"] is True


def test_hu_features_are_kept_for_embedding(run, molecules: Path) -> None:
    assert (
        run("pretrain", molecules, "--out", "run", "--epochs", 1, *SMALL, "--set", "atom_features=hu", "-q").code == 0
    )
    answer = run("embed", "run", molecules, "--out", "v.npy", "-q")
    assert answer.code == 0 and np.load("v.npy").shape == (16, 8)


def test_pretrain_json_and_resume(run, toys: Path) -> None:
    start = run("pretrain", toys, "--out", "run", "--epochs", 1, *SMALL, "--json")
    tree = json.loads(start.out)
    assert tree["graphs"] == 24 and tree["method"] == "adgcl" and not tree["finished_before"]
    assert set(tree["metrics"]) >= {"epoch", "loss", "drop_ratio"}
    finished = run("pretrain", toys, "--out", "run", "--resume")
    assert finished.code == 0 and "already finished" in finished.out
    longer = json.loads(run("pretrain", toys, "--out", "run", "--resume", "--epochs", 3, "--json").out)
    assert longer["resumed_after_epoch"] == 1 and longer["metrics"]["epoch"] == 3
    whole = json.loads(run("pretrain", toys, "--out", "whole", "--epochs", 3, *SMALL, "--json").out)
    assert whole["metrics"]["loss"] == pytest.approx(longer["metrics"]["loss"], rel=1e-6)


def test_untrained_method(run, toys: Path) -> None:
    answer = run("pretrain", toys, "--method", "random_init", "--out", "run", *SMALL)
    assert answer.code == 0 and "RU-GIN" in answer.out


@pytest.mark.parametrize("ending", ["md", "html", "tex", "csv", "svg"])
def test_report(run, toys: Path, ending: str) -> None:
    run("evaluate", toys, "--method", "random_init", *SMALL, *QUICK, "-q")
    answer = run("report", "results", "--out", f"report.{ending}")
    name = "random_init" if ending == "csv" else "RU-GIN"
    assert answer.code == 0 and name in Path(f"report.{ending}").read_text()
    assert "TOYS" in run("report", "results").out


def test_report_of_a_run_folder(run, finished: Path) -> None:
    answer = run("report", finished, "--out", "curves.svg")
    assert answer.code == 0 and "drop_ratio" in Path("curves.svg").read_text()


def test_quiet_leaves_results_only(run, toys: Path) -> None:
    answer = run("evaluate", toys, "--method", "random_init", *SMALL, *QUICK, "--quiet")
    assert answer.err == "" and "Next" not in answer.out and "TOYS" in answer.out
