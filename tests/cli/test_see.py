"""explain, map, neighbours and report on a finished run: pages, tables, JSON, and errors that help."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.conftest import MOLECULES, SMALL, UNREADABLE

READABLE = len(MOLECULES) - len(UNREADABLE)


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open() as file:
        return list(csv.DictReader(file))


def test_explain_writes_a_page_and_a_table(run, finished: Path, molecules: Path) -> None:
    answer = run("explain", finished, molecules, "--out", "page.html", "--out", "bonds.csv", "--graph", "benzene")
    assert answer.code == 0 and "3 of 16 rows cannot be read" in answer.err and "adgcl map" in answer.out
    assert all(len(line) <= 80 for line in answer.out.splitlines() if "─" in line)
    page = Path("page.html").read_text()
    assert page.count("<article") == 1 and "benzene" in page and "one seed only" in page
    rows = rows_of("bonds.csv")
    assert {row["graph"] for row in rows if row["bond"] == "aromatic"} == {"benzene", "toluene", "phenol"}
    assert all(float(row["drop"]) == pytest.approx(1 - float(row["keep"])) for row in rows)
    # Unreadable rows keep their numbers in the input.
    assert {row["row"] for row in rows if row["graph"] == "acid"} == {"3"}


def test_explain_as_json(run, finished: Path, molecules: Path) -> None:
    tree = json.loads(run("explain", finished, molecules, "--out", "bonds.parquet", "--json").out)
    assert tree["graphs"] == READABLE and set(tree["mean_drop"]) == {"trained", "untrained", "uniform"}
    assert tree["agreement"]["seeds"] is None and Path("bonds.parquet").exists()


def test_map_and_neighbours(run, finished: Path, molecules: Path) -> None:
    answer = run("map", finished, molecules, "--label-column", "logp", "--out", "map.html", "--out", "map.csv")
    assert answer.code == 0 and "adgcl neighbours" in answer.out
    rows = rows_of("map.csv")
    assert len(rows) == READABLE and {"tsne_x", "pca_y", "logp", "cluster", "nodes"} <= set(rows[0])
    Path("query.csv").write_text("name,smiles\nwood alcohol,CO\n")
    answer = run("neighbours", finished, molecules, "query.csv", "-k", "3", "--out", "near.csv", "--out", "near.html")
    assert answer.code == 0 and "wood alcohol" in answer.out
    rows = rows_of("near.csv")
    assert len(rows) == 6 and {row["by"] for row in rows} == {"embedding", "ECFP (Tanimoto)"}
    tree = json.loads(run("neighbours", finished, molecules, "--json", "-k", "2").out)
    assert len(tree["nearest"]) == READABLE and 0 <= tree["shared"] <= 1


def test_the_report_of_a_run(run, finished: Path, molecules: Path) -> None:
    tree = json.loads(run("report", finished, "--data", molecules, "--out", "report.html", "--json").out)
    assert tree["runs"] == 1 and tree["bytes"] < 5e6
    page = Path("report.html").read_text()
    assert "The map" in page and "What the augmenter drops" in page and "--set" in page
    answer = run("report", finished, "--out", "plain.html", "--plain")
    assert answer.code == 0 and "The map" not in Path("plain.html").read_text()


def test_a_model_is_explained_and_reported(run, finished: Path, molecules: Path) -> None:
    labels = ("--label-column", "logp", "--split", "random", "--epochs", "1", "--seeds", "2", "--quiet")
    assert run("finetune", finished, molecules, *labels, "--out", "model").code == 0
    answer = run("explain", "model", molecules, "--augmenter", finished, "--out", "page.html", "--out", "bonds.csv")
    assert answer.code == 0, answer.err
    page = Path("page.html").read_text()
    assert "matters for logp" in page and "trained: drops" in page
    assert {"change", "prediction", "drop"} <= set(rows_of("bonds.csv")[0])
    assert run("explain", "model", molecules, "--label", "logP", "--out", "page.html").code == 1
    assert run("report", "model", finished, "--data", molecules, "--out", "report.html").code == 0
    assert "predicts" in Path("report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("explain", "RUN", "DATA", "--out", "page.pdf"), "neither .html nor"),
        (("explain", "RUN", "DATA", "--out", "page.html", "--graph", "bensene"), "Did you mean 'benzene'"),
        (("explain", "nosuch", "DATA", "--out", "page.html"), "no run, checkpoint"),
        (("map", "nosuch", "DATA", "--out", "page.html"), "packaged encoder"),
        (("map", "RUN", "DATA", "--out", "page.html", "--colour", "logp"), "cluster"),
        (("map", "RUN", "DATA", "--out", "page.html", "--projection", "mds"), "auto, pca, tsne, umap"),
        (("neighbours", "RUN", "DATA", "nosuch.csv"), "nosuch.csv"),
        (("report", "nosuch", "--out", "page.html"), "no folder"),
    ],
)
def test_errors_say_what_to_do(run, finished: Path, molecules: Path, arguments: tuple[str, ...], words: str) -> None:
    given = {"RUN": finished, "DATA": molecules}
    answer = run(*(given.get(argument, argument) for argument in arguments))
    assert answer.code == 1 and words in answer.err and not Path("page.html").exists()


def test_a_run_that_learned_no_dropping(run, molecules: Path) -> None:
    assert run("pretrain", molecules, "--method", "graphcl", "--epochs", "1", *SMALL, "--out", "run", "-q").code == 0
    answer = run("explain", "run", molecules, "--out", "page.html")
    assert answer.code == 1 and "nothing to explain" in answer.err
    assert run("report", "run", "--data", molecules, "--out", "report.html").code == 0
    assert "There is no explanation" in Path("report.html").read_text()
