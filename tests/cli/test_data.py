"""`adgcl data`: list, info, prepare."""

from __future__ import annotations

import json
import math
from pathlib import Path


def test_list_knows_what_is_here(run, data_dir: Path, tmp_path: Path) -> None:
    tree = json.loads(run("data", "list", "--json", "--data-dir", data_dir).out)
    rows = {row["name"]: row for row in tree["datasets"]}
    assert rows["MUTAG"]["here"] and rows["MUTAG"]["graphs"] == 188 and rows["MUTAG"]["metric"] == "accuracy"
    empty = json.loads(run("data", "list", "--json", "--data-dir", tmp_path).out)
    here = {row["name"] for row in empty["datasets"] if row["here"]}
    assert "freesolv" in here and "MUTAG" not in here


def test_list_for_people(run, data_dir: Path) -> None:
    answer = run("data", "list", "--data-dir", data_dir)
    assert "ogbg-molesol" in answer.out and "adgcl data info" in answer.out


def test_info_agrees_with_the_paper(run, data_dir: Path) -> None:
    tree = json.loads(run("data", "info", "MUTAG", "--json", "--data-dir", data_dir).out)
    assert tree["agrees"] is True
    assert tree["counted"]["graphs"] == tree["published"]["graphs"] == 188
    assert {f["name"] for f in tree["figures"]} == {"graphs", "avg_nodes", "avg_edges", "classes_or_tasks"}
    assert "17.93" in run("data", "info", "MUTAG", "--data-dir", data_dir).out


def test_info_says_which_graphs_no_encoder_can_tell_apart(run, data_dir: Path) -> None:
    tree = json.loads(run("data", "info", "MUTAG", "--json", "--data-dir", data_dir).out)
    structure, labels, bonds = tree["lookalikes"]
    assert structure["sees"] == "structure" and structure["alike"] > labels["alike"] > bonds["alike"] == 0
    text = run("data", "info", "MUTAG", "--data-dir", data_dir).out
    assert "cannot tell apart" in text and "0.9681" in text


def test_lookalikes_in_a_file_of_ones_own(run, tmp_path: Path) -> None:
    """Butane and propanol have one structure; the same molecule twice, with two labels, cannot be told apart at all."""
    lines = ["smiles,logp", "CCCC,2.9", "CCCO,0.3", "OCCC,0.5", "c1ccccc1,2.1"]
    (tmp_path / "own.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    answer = run("data", "info", "own.csv", "--label-column", "logp", "--json")
    structure, atoms, _ = json.loads(answer.out)["lookalikes"]
    assert (structure["alike"], structure["pairs"], structure["differing"]) == (3, 3, 3)
    assert (atoms["alike"], atoms["pairs"], atoms["differing"]) == (2, 1, 1)
    assert math.isclose(atoms["ceiling"], math.sqrt(2 * 0.1**2 / 4))
    assert "least RMSE" in run("data", "info", "own.csv", "--label-column", "logp").out


def test_info_of_a_csv_file(run, molecules: Path) -> None:
    answer = run("data", "info", molecules, "--label-column", "logp", "--json")
    tree = json.loads(answer.out)
    assert tree["counted"]["graphs"] == 13 and tree["unreadable"] == 3
    assert tree["published"] is None and tree["agrees"] is None and tree["task"]["kind"] == "regression"
    assert "3 of 16 rows cannot be read" in answer.err


def test_info_of_a_tu_folder(run, toys: Path) -> None:
    tree = json.loads(run("data", "info", toys, "--json").out)
    assert tree["counted"]["graphs"] == 24 and tree["task"]["num_classes"] == 2


def test_prepare_packs_what_is_here(run, data_dir: Path) -> None:
    answer = run("data", "prepare", "mutag", "--data-dir", data_dir, "--json")
    assert answer.code == 0 and json.loads(answer.out)["graphs"] == 188


def test_unknown_name(run) -> None:
    answer = run("data", "prepare", "MUTAGG")
    assert answer.code == 1 and "Did you mean 'MUTAG'" in answer.err


def test_missing_data_says_how_to_get_it(run, tmp_path: Path) -> None:
    answer = run("data", "info", "MUTAG", "--data-dir", tmp_path)
    assert answer.code == 1 and "adgcl data prepare MUTAG" in answer.err
