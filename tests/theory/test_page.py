"""docs/theory.md is what its numbers say, and its numbers are those of this version."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from adgcl.reports.theory_page import figures, page, read_numbers
from adgcl.reports.theory_tables import height, trained_rows
from adgcl.theory.study import Study

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def numbers() -> dict:
    return read_numbers(DOCS / "theory" / "numbers.json")


def test_the_page_and_its_figures_are_those_of_the_numbers(numbers):
    advice = "run `adgcl theory --page docs/theory.md --numbers docs/theory/numbers.json`"
    assert (DOCS / "theory.md").read_text(encoding="utf-8") == page(numbers), advice
    for name, svg in figures(numbers).items():
        assert (DOCS / "theory" / name).read_text(encoding="utf-8") == svg, advice


def test_curves_of_four_five_and_six_nodes_are_certified(numbers):
    assert list(numbers["universes"]) == ["4", "5", "6"]
    for entry in numbers["universes"].values():
        points = entry["points"]
        assert points[0]["lambda"] == 0.1 and points[-1]["lambda"] == 40
        for point in points:
            assert point["any"]["gap_bits"] < 1e-6
            assert point["any"]["gap_bits"] <= point["independent"]["gap_bits"] + 1e-6
            assert point["independent"]["gap_bits"] <= point["uniform"]["gap_bits"] + 1e-6
        ratios = [point["any"]["drop_ratio"] for point in points]
        assert all(later <= ratio + 1e-6 for ratio, later in pairwise(ratios))


def test_every_trained_point_is_on_or_above_the_exact_curve(numbers):
    rows = trained_rows(numbers)
    assert len(rows) == 30
    assert min(height(row.point, row.points) for row in rows) >= -1e-9


def test_a_point_below_the_curve_would_be_seen(numbers):
    points = numbers["universes"]["5"]["points"]
    best = points[8]["any"]
    assert 0 <= height(best, points) < 1e-5
    assert height({**best, "information_bits": best["information_bits"] - 0.01}, points) < 0
    assert height({**best, "drop_ratio": best["drop_ratio"] - 0.01}, points) < 0


@pytest.mark.parametrize("nodes", ["4", "5"])
def test_the_numbers_are_those_of_this_version(numbers, nodes):
    for point in numbers["universes"][nodes]["points"][5::5]:
        again = Study(int(nodes), starts=2).solve(point["lambda"])
        for family in ("any", "uniform"):
            assert again[family]["information_bits"] == pytest.approx(point[family]["information_bits"], abs=1e-3)
        assert again["independent"]["gap_bits"] == pytest.approx(point["independent"]["gap_bits"], abs=5e-3)
