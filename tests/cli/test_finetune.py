"""Fine-tune and predict from the command line: real BACE rows with other names, bad rows and missing labels."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from adgcl.cli.main import main
from adgcl.experiments.model import member_jobs
from adgcl.experiments.model.folder import WORK
from adgcl.protocols import fold_training
from tests.cli.conftest import MOLECULES, SMALL, Run
from tests.real_data import absent

QUICK = ("--epochs", 3, "--seeds", 2, "--split", "random", *SMALL)
COLUMNS = ("--smiles-column", "Structure", "--label-column", "is_active")


def read(path: str | Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="session")
def bace(data_dir: Path) -> list[tuple[str, str]]:
    path = data_dir / "moleculenet" / "bace.csv.gz"
    if not path.exists():
        absent(f"There is no {path}.")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = [(row["smiles"], row["Class"]) for row in csv.DictReader(file)]
    order = np.random.default_rng(0).permutation(len(rows))[:120]
    return [rows[i] for i in order]


def write_assay(path: Path, bace: list[tuple[str, str]]) -> Path:
    """Renamed columns, words for labels, two rows that cannot be read, three labels missing, one molecule twice."""
    rows = [[f"c{i}", smiles, {"1": "yes", "0": "no"}[y]] for i, (smiles, y) in enumerate(bace)]
    rows[7][1], rows[9][1] = "C1CC", ""
    for i in (3, 30, 31):
        rows[i][2] = ""
    rows.append(["again", rows[0][1], rows[0][2]])
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["Compound", "Structure", "is_active"], *rows])
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, bace: list[tuple[str, str]]) -> Path:
    """A pre-trained run, fine-tuned on the assay."""
    folder = tmp_path_factory.mktemp("models")
    data = write_assay(folder / "assay.csv", bace)
    quiet = ("--quiet", *SMALL)
    assert (
        main(
            [
                "pretrain",
                str(data),
                "--smiles-column",
                "Structure",
                "--out",
                str(folder / "run"),
                "--epochs",
                "1",
                *quiet,
            ]
        )
        == 0
    )
    words = ["finetune", folder / "run", data, *COLUMNS, "--out", folder / "model", *QUICK, "--quiet"]
    assert main(list(map(str, words))) == 0
    return folder / "model"


def test_the_way_from_an_assay_to_predictions(run: Run, bace: list[tuple[str, str]]) -> None:
    data = write_assay(Path("assay.csv"), bace)
    assert run("pretrain", data, "--smiles-column", "Structure", "--out", "run", "--epochs", 1, *SMALL, "-q").code == 0
    done = run("finetune", "run", data, *COLUMNS, "--out", "model", *QUICK)
    assert done.code == 0 and "119 graphs (3 of them without a label), yes or no, 2 members, split: random" in done.out
    assert "ROC-AUC" in done.out and "Brier" in done.out and "adgcl predict model NEW.csv" in done.out
    assert (
        "2 of 121 rows cannot be read" in done.err
        and "1 molecule is both in the training part and in the valid or test part" in done.err
    )
    assert [row["line"] for row in read("model/unreadable.csv")] == ["9", "11"]

    about = json.loads(Path("model/model.json").read_text())
    assert about["labels"] == ["is_active"] and about["started_from"]["method"] == "adgcl"
    assert about["started_from"]["data"] == "assay" and about["data"]["graphs"] == 119
    sizes = about["members"][0]["graphs"]
    assert sum(sizes.values()) == 116, "three rows have no label"
    for one in about["members"]:
        assert 0 <= one["valid"] <= 1 and 0 <= one["test"] <= 1 and 1 <= one["epoch"] <= 3
    assert sorted(p.name for p in Path("model").iterdir() if not p.name.startswith(".")) == [
        "domain.safetensors", "member-0.safetensors", "member-1.safetensors", "model.json", "unreadable.csv",
    ]  # fmt: skip

    again = run("finetune", "run", data, *COLUMNS, "--out", "model", *QUICK, "--json")
    answer = json.loads(again.out)
    assert answer["finished_before"] is True and (answer["graphs"], answer["unlabelled"]) == (119, 3)
    other = run("finetune", "run", data, *COLUMNS, "--out", "model", *QUICK, "--epochs", 4)
    assert other.code == 1 and "epochs: 3 -> 4" in other.err and "--out" in other.err

    told = run("predict", "model", data, "--smiles-column", "Structure", "--out", "p.csv")
    assert told.code == 0 and "121 rows, 2 of them unreadable" in told.out
    rows = read("p.csv")
    assert list(rows[0]) == [
        "id",
        "smiles",
        "is_active_probability",
        "is_active_std",
        "in_domain",
        "distance",
        "problem",
    ]
    assert [row["id"] for row in rows] == [*(f"c{i}" for i in range(120)), "again"]
    assert [row["smiles"] for row in rows] == [row["Structure"] for row in read(data)]
    assert {row["id"]: row["problem"] for row in rows if row["problem"]} == {"c7": "unclosed ring", "c9": "empty"}
    assert all((row["is_active_probability"] == "") == bool(row["problem"]) for row in rows)
    assert rows[0]["is_active_probability"] == rows[-1]["is_active_probability"] and rows[0]["in_domain"] == "true"
    assert run("predict", "model", data, "--smiles-column", "Structure", "--out", "p.parquet", "-q").code == 0
    from pyarrow import parquet

    table = parquet.read_table("p.parquet")
    assert table["is_active_probability"].null_count == 2 and table["in_domain"].null_count == 2
    assert [f"{v:.9g}" for v in table["is_active_std"].drop_null().to_pylist()] == [
        row["is_active_std"] for row in rows if not row["problem"]
    ]


def test_labels_of_new_molecules_are_not_looked_at_and_strange_atoms_are_counted(run: Run, model: Path) -> None:
    lines = ["smiles,activity", "CCO,who knows", "*CC*,", "CC(=O)[O-].[Na+],7", "[Pt](Cl)(Cl)(<-N)<-N,maybe"]
    Path("new.csv").write_text("\n".join(lines) + "\n")
    told = run("predict", model, "new.csv", "--out", "p.csv", "--json")
    answer = json.loads(told.out)
    assert (answer["rows"], answer["other_atoms"], answer["molecules_with_other_atoms"]) == (4, 2, 1)
    assert (answer["molecules_with_other_bonds"], answer["mixtures"], answer["unreadable"]) == (1, 1, 0)
    assert "read as `other`" in told.err and "Salts or mixtures in 1 of 4 rows" in told.err
    assert read("p.csv")[3]["in_domain"] == "false", "no metal complex was among the training molecules"


@pytest.mark.parametrize("stop_at", [2, 5])
def test_an_interrupted_fine_tuning_goes_on_and_ends_the_same(
    run: Run, molecules: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int
) -> None:
    """Killed in the first or in the second member: the files that come out are those of one that was not."""
    words = ("finetune", "none", molecules, "--label-column", "logp", *QUICK, "--set", "checkpoint_seconds=0")
    assert run(*words, "--out", "whole").code == 0
    scores, seen = fold_training.part_scores, []

    def dies(*arguments):
        seen.append(1)
        if len(seen) == stop_at:
            raise KeyboardInterrupt
        return scores(*arguments)

    monkeypatch.setattr(fold_training, "part_scores", dies)
    assert run(*words, "--out", "parts").code == 130
    assert not Path("parts/model.json").exists()
    refused = run("predict", "parts", molecules, "--out", "p.csv")
    assert refused.code == 1 and "The model in parts is not finished" in refused.err
    other = run(*words, "--out", "parts", "--set", "lr=0.01")
    assert other.code == 1 and "lr: 0.001 -> 0.01" in other.err
    assert run(*words, "--out", "parts").code == 0
    for name in ("member-0.safetensors", "member-1.safetensors", "domain.safetensors"):
        assert Path("whole", name).read_bytes() == Path("parts", name).read_bytes()
    abouts = [json.loads(Path(name, "model.json").read_text()) for name in ("whole", "parts")]
    for key in ("together", "calibration", "domain", "files"):
        assert abouts[0][key] == abouts[1][key], key
    assert not Path("parts", WORK).exists()


def test_ctrl_c_says_how_to_go_on(run: Run, molecules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from adgcl.core.errors import Interrupted

    def stops(*arguments):
        raise Interrupted("Stopped.", "Run the same command with --resume to continue.")

    monkeypatch.setattr(member_jobs, "train_fold", stops)
    stopped = run("finetune", "none", molecules, "--label-column", "logp", *QUICK, "--out", "m")
    assert stopped.code == 130 and "member 1 of 2" in stopped.err and "Run the same command again" in stopped.err
    assert "--resume" not in stopped.err


def test_regression_has_bands_and_folds(run: Run, molecules: Path) -> None:
    words = ("finetune", "none", molecules, "--label-column", "logp", "--unit", "log units", "--epochs", 2, *SMALL)
    done = run(*words, "--folds", 3, "--out", "cv", "--json")
    answer = json.loads(done.out)
    assert [one["name"] for one in answer["members"]] == ["fold 0", "fold 1", "fold 2"] and answer["split"] == "3 folds"
    assert sum(one["graphs"]["test"] for one in answer["members"]) == 13
    assert run("predict", "cv", molecules, "--out", "p.csv", "--coverage", 0.5).code == 0
    rows = [row for row in read("p.csv") if not row["problem"]]
    assert list(rows[0])[1:6] == ["smiles", "logp", "logp_std", "logp_low", "logp_high"] and len(rows) == 13
    for row in rows:
        assert float(row["logp_low"]) < float(row["logp"]) < float(row["logp_high"])
    greedy = run("predict", "cv", molecules, "--out", "p.csv", "--coverage", 0.999)
    assert greedy.code == 1 and "to promise a coverage of 0.999: logp (13)" in greedy.err
    assert "at most --coverage 0.92" in greedy.err, "every labelled molecule is held out once"
    assert run("predict", "cv", molecules, "--out", "p.csv", "--coverage", 1.5).code == 1
    assert run("predict", "cv", molecules, "--out", "p.xml").code == 1
    both = run(*words, "--folds", 3, "--seeds", 2, "--out", "b")
    assert both.code == 1 and "Both" in both.err


def test_a_sparse_label_has_no_bands_and_does_not_stop_the_others(run: Run) -> None:
    rows = [f"{'C' * (1 + i % 20)}{'NOS'[i % 3]},{i / 10},{i if i % 6 == 0 else ''}" for i in range(90)]
    Path("two.csv").write_text("smiles,full,sparse\n" + "\n".join(rows) + "\n")
    labels = ("--label-column", "full", "--label-column", "sparse")
    assert run("finetune", "none", "two.csv", *labels, "--folds", 3, "--epochs", 1, *SMALL, "--out", "m").code == 0
    intervals = json.loads(Path("m/model.json").read_text())["calibration"]["intervals"]
    Path("m2.csv").write_text("smiles\nCCO\n")
    known = len(intervals[1]["scores"])
    told = run("predict", "m", "m2.csv", "--out", "p.csv", "--json", "--coverage", known / (known + 1))
    assert told.code == 0 and json.loads(told.out)["without_bands"] == []
    asked = (known + 2) / (known + 3)
    refused = run("predict", "m", "m2.csv", "--out", "p.csv", "--coverage", asked)
    assert refused.code == 1 and f": sparse ({known})." in refused.err
    assert f"at most --coverage {int(known / (known + 1) * 100) / 100:g}" in refused.err


def test_with_the_usual_coverage_a_small_assay_gets_values_without_bands(run: Run, molecules: Path) -> None:
    words = ("finetune", "none", molecules, "--label-column", "logp", *QUICK)
    assert run(*words, "--out", "m", "-q").code == 0
    told = run("predict", "m", molecules, "--out", "p.csv")
    assert told.code == 0 and "No bands for logp" in told.err
    rows = [row for row in read("p.csv") if not row["problem"]]
    assert all(row["logp"] and not row["logp_low"] and not row["logp_high"] for row in rows)


def test_molecules_that_folds_share_are_reported(run: Run, bace: list[tuple[str, str]]) -> None:
    data = write_assay(Path("assay.csv"), bace)
    words = ("finetune", "none", data, *COLUMNS, "--folds", 3, "--epochs", 1, *SMALL, "--out", "m")
    done = run(*words)
    assert done.code == 0 and "2 molecules are both in the training part and in the valid or test part" in done.err
    assert "both in the training part" in json.loads(Path("m/model.json").read_text())["data"]["note"]


def test_classes_are_named(run: Run) -> None:
    kinds = ["acid", "base", "neutral"]
    rows = [f"{'C' * (2 + i % 9)}{('C(=O)O', 'N', 'O')[i % 3]},{kinds[i % 3]}" for i in range(45)]
    Path("kinds.csv").write_text("smiles,kind\n" + "\n".join(rows) + "\n")
    assert run("finetune", "none", "kinds.csv", "--label-column", "kind", "--out", "m", *QUICK, "-q").code == 0
    assert run("predict", "m", "kinds.csv", "--out", "p.csv", "-q").code == 0
    for row in read("p.csv"):
        values = [float(row[f"{kind}_probability"]) for kind in kinds]
        assert sum(values) == pytest.approx(1, abs=1e-5) and row["predicted"] == kinds[int(np.argmax(values))]


LABELS = {
    "one": ["1"] * 16,
    "none": [""] * 16,
    "words": [f"word {i}, and 3" if i % 2 else "7" for i in range(16)],
    "yes": ["active"] * 16,
    "units": [f"{i} nM" for i in range(16)],
    "names": [f"drug {i}" for i in range(16)],
}


@pytest.mark.parametrize(
    ("column", "says"),
    [("one", "the only label is 1."), ("none", "is empty"), ("words", "is not a number"), ("units", "measurements"),
     ("yes", "the only label is 'active'."), ("names", "look like names")],
)  # fmt: skip
def test_labels_that_teach_nothing_are_refused(run: Run, column: str, says: str) -> None:
    rows = [f'{smiles},"{label}"' for (_, smiles, _), label in zip(MOLECULES, LABELS[column])]
    Path("bad.csv").write_text(f"smiles,{column}\n" + "\n".join(rows) + "\n")
    answer = run("finetune", "none", "bad.csv", "--label-column", column, "--out", "m", *QUICK)
    assert answer.code == 1 and says in answer.err and not Path("m/model.json").exists()


def test_columns_of_different_kinds_need_a_model_each(run: Run) -> None:
    """The advice works."""
    rows = [f"{'C' * (1 + i % 9)}{'NOS'[i % 3]},{i % 2},{('red', 'blue', 'green')[i % 3]}" for i in range(90)]
    Path("two.csv").write_text("smiles,toxic,colour\n" + "\n".join(rows) + "\n")
    labels = [("--label-column", name) for name in ("toxic", "colour")]
    both = run("finetune", "none", "two.csv", *labels[0], *labels[1], "--out", "m", *QUICK)
    assert both.code == 1 and "name one label column at a time" in both.err and "--task" not in both.err
    for number, words in enumerate(labels):
        assert run("finetune", "none", "two.csv", *words, "--out", f"m{number}", *QUICK, "--epochs", 1).code == 0


def test_a_column_found_by_its_name_is_doubted_only_where_it_is_learned_or_judged_by(run: Run) -> None:
    rows = [f"{'C' * (1 + i % 9)}{'NOS'[i % 3]},{10 * (i % 11)} nM" for i in range(44)]
    Path("units.csv").write_text("smiles,activity\n" + "\n".join(rows) + "\n")
    assert run("pretrain", "units.csv", "--out", "run", "--epochs", 1, *SMALL, "-q").code == 0
    assert run("embed", "run", "units.csv", "--out", "vectors.csv", "-q").code == 0
    for words in (("finetune", "run", "units.csv", "--out", "m", *QUICK), ("evaluate", "run", "units.csv", "--alone")):
        refused = run(*words)
        assert refused.code == 1 and "The labels are measurements, such as '0 nM'" in refused.err
    assert run("evaluate", "run", "units.csv", "--alone", "--task", "multiclass", "--set", "num_folds=2").code == 0


def test_whole_numbers_that_become_classes_are_mentioned(run: Run) -> None:
    rows = [f"{'C' * (1 + i % 9)}{'NOS'[i % 3]},{i % 3 + 1}" for i in range(45)]
    Path("grades.csv").write_text("smiles,grade\n" + "\n".join(rows) + "\n")
    words = ("finetune", "none", "grades.csv", "--label-column", "grade", *QUICK, "--epochs", 1)
    told = run(*words, "--out", "classes")
    assert told.code == 0 and "read as 3 classes; --task regression reads them as numbers" in told.err
    values = run(*words, "--out", "values", "--task", "regression")
    assert values.code == 0 and "values" in values.out and "--task" not in values.err


def test_data_without_labels_and_mixed_tasks_are_refused(run: Run, molecules: Path) -> None:
    bare = run("finetune", "none", molecules, "--out", "m", *QUICK)
    assert bare.code == 1 and "no labels" in bare.err and "logp" in bare.err
    rows = [f"{smiles},{value},{i % 2}" for i, (_, smiles, value) in enumerate(MOLECULES)]
    Path("mixed.csv").write_text("smiles,logp,toxic\n" + "\n".join(rows) + "\n")
    words = ("finetune", "none", "mixed.csv", "--label-column", "logp", "--label-column", "toxic", "--out", "m", *QUICK)
    mixed = run(*words)
    assert mixed.code == 1 and "different kinds" in mixed.err and "--task regression" in mixed.err
    assert run(*words, "--task", "regression").code == 0


def test_what_does_not_fit_is_said(run: Run, model: Path, toys: Path, molecules: Path) -> None:
    graphs = run("predict", model, toys, "--out", "p.csv")
    assert graphs.code == 1 and "per node" in graphs.err
    nothing = run("finetune", "nowhere", molecules, "--label-column", "logp", "--out", "m")
    assert nothing.code == 1 and "called 'nowhere'" in nothing.err
    shape = run("finetune", model.parent / "run", molecules, "--label-column", "logp", "--out", "m",
                "--set", "encoder.hidden_dim=9", "--split", "random")  # fmt: skip
    assert shape.code == 1 and "hidden_dim: 8 -> 9" in shape.err


def edit_format(folder: Path) -> None:
    tree = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**tree, "format": "adgcl-model-9", "version": "7.1"}))


def edit_number(folder: Path) -> None:
    text = (folder / "model.json").read_text()
    (folder / "model.json").write_text(text.replace('"border": ', '"border": 1'))


def swap_members(folder: Path) -> None:
    (folder / "member-1.safetensors").write_bytes((folder / "member-0.safetensors").read_bytes())


def cut_file(folder: Path) -> None:
    content = (folder / "domain.safetensors").read_bytes()
    (folder / "domain.safetensors").write_bytes(content[:-5])


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (edit_format, r"format 'adgcl-model-9', written by adgcl 7.1"),
        (edit_number, "model.json was changed after it was written"),
        (swap_members, "member-1.safetensors was changed"),
        (cut_file, "domain.safetensors was changed"),
        (lambda folder: (folder / "member-0.safetensors").unlink(), "lost its file member-0.safetensors"),
        (lambda folder: (folder / "model.json").write_text("{"), "is damaged"),
        (lambda folder: (folder / "model.json").write_text("[1]"), "is damaged"),
        (lambda folder: (folder / "model.json").unlink(), "There is no model"),
    ],
)
def test_a_model_that_was_changed_is_refused(run: Run, model: Path, molecules: Path, harm, says: str) -> None:
    shutil.copytree(model, "copy")
    harm(Path("copy"))
    answer = run("predict", "copy", molecules, "--out", "p.csv")
    assert answer.code == 1 and says in answer.err and not Path("p.csv").exists()


def test_evaluate_fine_tunes_from_a_run(run: Run, model: Path, bace: list[tuple[str, str]]) -> None:
    data = write_assay(Path("assay.csv"), bace)
    words = ("evaluate", data, *COLUMNS, "--method", "supervised", "--protocol", "finetune", "--split", "random")
    judged = run(
        *words, "--set", f"start_from={model.parent / 'run'}", "--epochs", 2, "--seeds", 2, "--jobs", 1, "--json"
    )
    assert judged.code == 0, judged.err
    (record,) = json.loads(judged.out)["records"]
    assert (record["method"], record["protocol"], record["probe"], record["metric"]) == (
        "adgcl",
        "finetune",
        "head",
        "rocauc",
    )
    assert record["config"]["encoder"]["hidden_dim"] == 8 and record["config"]["started_from"]["epochs"] == 1
    assert run("report", "results", "--out", "report.html").code == 0
    assert "fine-tuned" in Path("report.html").read_text()


@pytest.mark.parametrize("where", [("--jobs", 2), ("--executor", "inline")])
def test_members_that_an_executor_trains_are_the_same(run: Run, model: Path, tmp_path: Path, where: tuple) -> None:
    data = model.parent / "assay.csv"
    answer = run("finetune", model.parent / "run", data, *COLUMNS, "--out", "other", *QUICK, *where, "--json")
    assert answer.code == 0 and "[2/2] member" in answer.err, answer.err
    one, other = (json.loads((folder / "model.json").read_text()) for folder in (model, tmp_path / "other"))
    for about in (one, other):
        for member in about["members"]:
            del member["seconds"]
    assert other["members"] == one["members"] and other["together"] == one["together"]
    assert not (tmp_path / "other" / "training").exists()
