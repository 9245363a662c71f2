"""What the benchmarks keep and say: rows by name, slopes, and the work of a point of the cost table."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import ttest_ind

from adgcl.reports.formats.marks import put_between
from benchmarks.changes import by_chance, change_of, in_deviations
from benchmarks.cost_point import Point, make_store
from benchmarks.costs import AXES
from benchmarks.measured import keep, read_measured, table
from benchmarks.scale import MEASURED, PAGE
from benchmarks.scale_page import render
from benchmarks.slopes import last_doubling, slope
from benchmarks.timing import Measurement


def row(name, ratio=2.0, target=None, plain=4.0):
    return Measurement(name, ratio, target, 2.0, plain, "s")


def test_kept_rows_replace_those_of_their_name_and_leave_the_others(tmp_path):
    path, page = tmp_path / "measured.json", tmp_path / "README.md"
    page.write_text("before\n<!-- speed:begin -->\nold\n<!-- speed:end -->\nafter\n")
    keep([row("SMILES to packed graphs"), row("training NCI1")], path, page)
    keep([row("training NCI1", 3.0), row("evaluation MUTAG", target=8.0)], path, page)
    rows = read_measured(path)
    assert [(r.name, r.ratio) for r in rows] == [
        ("training NCI1", 3.0),
        ("evaluation MUTAG", 2.0),
        ("SMILES to packed graphs", 2.0),
    ]
    assert all(r.measured and r.machine for r in rows)
    text = page.read_text()
    assert text.startswith("before") and text.endswith("after\n") and "old" not in text
    assert table(rows) in text and rows[0].machine in text


def test_a_row_without_anything_to_compare_has_no_ratio():
    assert "| store, batches |  |  | 2 |  | s |" in table([row("store, batches", plain=None)])


def test_a_page_without_marks_is_left_alone(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("nothing here")
    with pytest.raises(ValueError, match="speed:begin"):
        keep([row("training NCI1")], tmp_path / "measured.json", page)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_slope_is_the_power_of_a_power_law(power):
    rows = [{"size": size, "seconds": 3 * size**power} for size in (16, 32, 64, 128)]
    assert slope(rows, "seconds") == pytest.approx(power, abs=1e-9)
    assert last_doubling(rows, "seconds") == pytest.approx(2**power)


def test_generated_graphs_have_the_sizes_asked_for():
    store = make_store(Point("training", graphs=5, nodes=7, edges=9), labels=True)
    assert len(store) == 5 and store.edge_reverse is not None
    assert np.all(store.node_counts == 7) and np.all(store.edge_counts == 18)


def test_axes_have_four_sizes_that_double():
    for axis in AXES.values():
        assert np.all(np.divide(axis.sizes[1:], axis.sizes[:-1]) == 2) and len(axis.sizes) == 4
        assert all(axis.count(size) >= 1 for size in axis.sizes)
        json.dumps([vars(axis.point(size)) for size in axis.sizes])


def test_change_over_its_error_is_welchs_statistic():
    rng = np.random.default_rng(0)
    scores, usual = rng.normal(70.0, 1.0, 20), rng.normal(71.0, 3.0, 5)
    change, error = change_of(scores, usual)
    assert change / error == pytest.approx(ttest_ind(scores, usual, equal_var=False).statistic)
    assert in_deviations(scores, usual) == pytest.approx(change / usual.std(ddof=1))


def test_chance_is_that_of_drawing_equal_methods():
    draws = np.random.default_rng(0).normal(size=(2, 20_000, 5)).mean(2)
    assert by_chance(5) == pytest.approx(np.mean(np.abs(draws[0] - draws[1]) > 1), abs=0.01)


def test_the_plain_resgcn_is_the_same_network(data_dir):
    from adgcl.data.load import load_dataset
    from adgcl.training.trainer import Trainer
    from benchmarks.few_labels_speed import _run, check_equal

    store = load_dataset("MUTAG", data_dir=data_dir, features="deg+odeg10").store
    check_equal(Trainer(_run("adgcl-semi"), store))


def test_the_page_of_scale_shows_what_was_measured():
    tree = json.loads(MEASURED.read_text())
    text = PAGE.read_text()
    assert put_between(text, "scale", render(tree)) == text
    tree["store"]["bytes"] = 2_500 * tree["store"]["molecules"]
    assert "| on disk | 250 GB |" in render(tree) and "| on disk, for each molecule | 2500 bytes |" in render(tree)
    # Half a gigabyte of gradients, twice through a ring, at 25 GB/s; four exchanges of 30 microseconds.
    tree["exchange"]["2"]["exchanges"]["gradients"] = [4, 500_000_000]
    (row,) = [line for line in render(tree).splitlines() if line.startswith("| 1,000 |")]
    assert row.split(" | ")[3] == "40.1"
