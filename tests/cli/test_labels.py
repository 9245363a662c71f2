"""`adgcl labels` on graphs and on a table of molecules: table, plot, sentence, and clear errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adgcl.experiments.label_efficiency import LabelRequest, plan_labels
from adgcl.experiments.source import LoadedSource, Source
from adgcl.training.packaged import packaged_encoders
from tests.cli.conftest import write_tu

QUICK = (
    "--seeds", "1", "--folds", "3", "--jobs", "1", "--set", "training.epochs=2", "--pretrain-set", "training.epochs=1",
)  # fmt: skip


def smiles_table(path: Path) -> Path:
    """Alkanes and alcohols: how many carbons, and whether there is an oxygen."""
    rows = [f"{'C' * n}{'O' * (n % 2)},{n % 2},{n * 0.5}" for n in range(1, 61)]
    path.write_text("smiles,alcohol,weight\n" + "\n".join(rows) + "\n")
    return path


def test_graphs_get_a_table_a_plot_and_a_sentence(run, tmp_path):
    data = write_tu(tmp_path / "TOYS")
    answer = run("labels", str(data), "--rates", "20", "100", *QUICK, "--out", "found", "--json")
    assert answer.code == 0, answer.text
    tree = json.loads(answer.out)
    assert {row["curve"] for row in tree["points"]} == {"no pre-training", "AD-GCL pre-training", "graph statistics"}
    assert len(tree["points"]) == 6 and tree["unfinished_jobs"] == 0 and len(tree["sentences"]) == 3
    assert all(Path(name).exists() for name in tree["files"])
    again = run("labels", str(data), "--rates", "20,100", *QUICK, "--out", "found")
    assert again.code == 0 and "no pre-training" in again.out and "Kept as found/labels.csv" in again.out
    assert "finished in" not in again.err, "nothing is trained twice"


@pytest.mark.parametrize(("label", "metric"), [("alcohol", "rocauc"), ("weight", "rmse")])
def test_a_table_of_molecules_is_compared_with_fingerprints(run, tmp_path, label, metric):
    data = smiles_table(tmp_path / "m.csv")
    narrow = ("--set", "encoder.hidden_dim=8")
    answer = run("labels", str(data), "--label-column", label, "--rates", "50", *QUICK, *narrow, "--json")
    assert answer.code == 0, answer.text
    tree = json.loads(answer.out)
    assert {row["metric"] for row in tree["points"]} == {metric}
    ours, curves = {"no pre-training", "AD-GCL pre-training", "ECFP fingerprints"}, {p["curve"] for p in tree["points"]}
    assert curves == {*ours, *packaged_encoders()} and "zinc-gin" in curves
    assert tree["unfinished_jobs"] == 0 and not tree["notes"]
    said = {name: next(text for text in tree["sentences"] if name in text) for name in ("zinc-gin", "AD-GCL")}
    assert "a smaller network from scratch" in said["zinc-gin"].lower() and "scratch" not in said["AD-GCL"]


def test_what_cannot_be_is_said_before_anything_is_trained(run, tmp_path):
    data = write_tu(tmp_path / "TOYS")
    small = run("labels", str(data), "--rates", "1", *QUICK)
    assert small.code == 1 and "the smallest share that works is" in small.err and "--rates" in small.err
    assert not Path("runs").exists()
    wrong = run("labels", str(data), "--rates", "120", *QUICK)
    assert wrong.code == 1 and "120 % is no share" in wrong.err
    method = run("labels", str(data), "--method", "supervised", *QUICK)
    assert method.code == 1 and "graphcl" in method.err
    unlabelled = run("labels", str(smiles_table(tmp_path / "m.csv")), *QUICK)
    assert unlabelled.code == 1 and "no labels" in unlabelled.err


def test_only_methods_that_can_be_used_are_advised(run, tmp_path):
    graphs, molecules = write_tu(tmp_path / "TOYS"), smiles_table(tmp_path / "m.csv")
    for data, method, known, unusable in (
        ((graphs,), "supervised", "gae", {"supervised", "no_pretrain", "statistics", "adgcl-opt"}),
        ((molecules, "--label-column", "alcohol"), "gae", "graphcl", {"gae", "ss_gcn_a", "ecfp"}),
    ):
        answer = run("labels", *data, "--method", method, *QUICK)
        advised = answer.err.partition("Known: ")[2].split(".")[0].split(", ")
        assert answer.code == 1 and known in advised and not unusable & set(advised)


def test_too_few_labels_for_the_folds_are_no_matter_of_rates(run, tmp_path):
    (tmp_path / "few.csv").write_text("smiles,active\nC,1\nCC,0\nCCC,1\nCCCC,\n")
    few = run("labels", "few.csv", "--label-column", "active", *QUICK)
    assert few.code == 1 and "too few for 3 folds" in few.err and "at least 6" in few.err
    assert "--rates" not in few.err and "fewer folds" not in few.err
    more = run("labels", "few.csv", "--label-column", "active", *QUICK, "--folds", "5")
    assert more.code == 1 and "fewer folds with --folds 3" in more.err


def test_work_that_fails_is_said_and_is_nothing_to_resume(run, tmp_path, monkeypatch):
    from adgcl.protocols.pretraining import Pretraining

    def fails(*given, **named):
        raise RuntimeError("no more weights")

    monkeypatch.setattr(Pretraining, "run_seed", fails)
    answer = run("labels", str(write_tu(tmp_path / "TOYS")), "--rates", "100", *QUICK, "--json")
    assert answer.code == 0, answer.text
    tree = json.loads(answer.out)
    assert tree["unfinished_jobs"] == 0 and any("no more weights" in note for note in tree["notes"])
    assert {row["curve"] for row in tree["points"]} == {"no pre-training", "graph statistics"}


@pytest.mark.parametrize(
    ("assignment", "option"),
    [
        ("label_rate=0.5", "--rates"),
        ("protocol.label_rate=0.5", "--rates"),
        ("num_folds=3", "--folds"),
        ("mode=as_published", "adgcl evaluate"),
        ("protocol.validation=fold", "adgcl evaluate"),
        ("seed=1", "--seeds"),
        ("start_from=zinc-gin", "--encoder"),
    ],
)
def test_settings_that_would_break_what_the_table_says_are_refused(run, tmp_path, assignment, option):
    answer = run("labels", str(write_tu(tmp_path / "TOYS")), "--rates", "100", *QUICK, "--set", assignment)
    assert answer.code == 1 and assignment.partition("=")[0] in answer.err and option in answer.err
    assert not Path("runs").exists()


def test_a_class_with_one_graph_is_named_and_a_constant_target_refused(run, tmp_path):
    rows = [f"{'C' * n},{'odd' if n == 1 else 'even' if n % 2 else 'tiny'},1.5" for n in range(1, 31)]
    (tmp_path / "m.csv").write_text("smiles,kind,level\n" + "\n".join(rows) + "\n")
    loaded = LoadedSource.of(Source("m.csv", label_columns=("kind",)))
    assert "Class odd has 1 labelled graph" in " ".join(plan_labels(loaded, LabelRequest(folds=3, seeds=1)).notes)
    constant = run("labels", "m.csv", "--label-column", "level", "--task", "regression", "--rates", "100", *QUICK)
    assert constant.code == 1 and "nothing to predict" in constant.err


def test_a_rate_that_is_too_small_is_left_out_of_others(run, tmp_path):
    data = write_tu(tmp_path / "TOYS")
    answer = run("labels", str(data), "--rates", "1", "100", *QUICK, "-q")
    assert answer.code == 0 and "1 % is left out" in answer.out
