"""`adgcl theory`: the shape of its JSON, its tables, its page, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adgcl.theory import survey, trained


def test_json_has_the_documented_shape(run) -> None:
    tree = json.loads(run("theory", "--nodes", 4, "--lambda", 5, "--starts", 2, "--json").out)
    assert list(tree) == ["nodes", "graphs", "classes", "lambda", "weights", "any", "independent", "uniform", "labels"]
    assert (tree["nodes"], tree["graphs"], tree["classes"], tree["lambda"]) == (4, 11, 11, 5.0)
    for family in ("any", "independent", "uniform"):
        assert set(tree[family]) == {"drop_ratio", "information_bits", "gap_bits"}
    assert tree["any"]["gap_bits"] < 1e-6 < tree["independent"]["gap_bits"] < tree["uniform"]["gap_bits"]
    assert set(tree["labels"]) == {"triangle", "connected", "degree", "random", "coin"}
    for label in tree["labels"].values():
        assert label["information_bits"] <= label["encoder_bits"] + 1e-9 <= label["entropy_bits"] + 2e-9
        whole = label["information_bits"] + label["given_label_bits"]
        assert whole == pytest.approx(tree["any"]["information_bits"], abs=1e-9)


def test_tables_for_people(run) -> None:
    answer = run("theory", "-n", 3, "-l", 2)
    assert answer.code == 0 and "4 graphs of 3 nodes" in answer.out and "any augmentation" in answer.out
    assert max(map(len, answer.out.splitlines()[:-1])) <= 80


def test_weights_and_colours(run) -> None:
    tree = json.loads(run("theory", "-n", 3, "--colours", 2, "--weights", "labelled", "--json").out)
    assert (tree["graphs"], tree["colours"], tree["weights"]) == (20, 2, "labelled")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("--nodes", 9), "too large", "at most 7"),
        (("--nodes", 400), "too large", "at most 7"),
        (("--nodes", 1), "at least 2 nodes", "--nodes 5"),
        (("--lambda", -1), "lambda is -1", "at least 0"),
        (("--lambda", "nan"), "lambda is nan", "at least 0"),
        (("--weights", "some"), "weights called 'some'", "uniform or labelled"),
        (("--starts", 0), "0 starts", "at least 1"),
        (("--weights", "labelled", "--nodes", 3, "--train"), "weighs all graphs equally", "--weights uniform"),
        (("--numbers", "none.json"), "does not say where", "--page FILE.md"),
        (("--page", "page.md", "--numbers", "none.json"), "none.json cannot be read", "numbers.json"),
    ],
)
def test_bad_input(run, arguments, message, hint) -> None:
    answer = run("theory", *arguments)
    assert answer.code == 1 and message in answer.err and hint in answer.err and not Path("page.md").exists()


def test_numbers_of_something_else_are_refused(run, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("[1, 2]", encoding="utf-8")
    answer = run("theory", "--page", "page.md", "--numbers", "other.json")
    assert answer.code == 1 and "does not hold the numbers" in answer.err


def test_a_page_and_the_same_page_from_its_numbers(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "LAMBDAS", (0.5, 2.0, 5.0))
    monkeypatch.setattr(survey, "_TRAINED", (2.0,))
    monkeypatch.setattr(survey, "NODES", (3, 4))
    monkeypatch.setattr(trained, "STEPS", {"network": 2, "free": 2})
    monkeypatch.setattr(trained, "WARM_UP", 2)
    assert run("theory", "--page", "docs/theory.md").code == 0
    made = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "docs").rglob("*.*")}
    assert set(made) == {"theory.md", "curve-3.svg", "curve-4.svg", "labels.svg", "numbers.json"}
    assert "### 4 nodes" in made["theory.md"] and "nan" not in made["theory.md"]
    answer = run("theory", "--page", "again/theory.md", "--numbers", "docs/theory/numbers.json", "--json")
    assert len(json.loads(answer.out)["files"]) == 5
    for path in (tmp_path / "again").rglob("*.*"):
        assert path.read_text(encoding="utf-8") == made[path.name]
