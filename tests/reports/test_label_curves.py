"""What label curves say in words, tables and pictures."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from adgcl.reports.label_curves import Curve, LabelCurves, Point, label_table, label_values, labels_needed, sentences
from adgcl.reports.label_figure import figure_of_labels


def curve(name, kind, means, spread=0.1):
    points = [Point(rate, 1000 * rate, (mean - spread, mean + spread)) for rate, mean in means.items()]
    return Curve(name, kind, tuple(points))


def curves(*found, metric="accuracy", higher=True):
    return LabelCurves("SET", metric, higher, found)


SCRATCH = curve("no pre-training", "none", {0.05: 60.0, 0.1: 65.0, 0.4: 75.0})


def test_labels_are_interpolated_over_their_logarithm():
    assert labels_needed(SCRATCH, 65.0, True) == pytest.approx(100)
    assert labels_needed(SCRATCH, 70.0, True) == pytest.approx(200), "half way from 100 to 400"
    assert labels_needed(SCRATCH, 50.0, True) == 50 and labels_needed(SCRATCH, 76.0, True) == math.inf
    falling = curve("x", "none", {0.1: 0.9, 0.2: 1.1, 0.4: 0.7})
    assert labels_needed(falling, 0.9, False) == pytest.approx(100)
    assert labels_needed(falling, 0.8, False) == pytest.approx(math.sqrt(200 * 400)), "0.9 counts until it is beaten"


def test_the_sentence_says_how_many_labels_are_saved():
    trained = curve("AD-GCL pre-training", "pretrained", {0.05: 66.0, 0.1: 70.0, 0.4: 76.0})
    said = sentences(curves(SCRATCH, trained))
    assert said == ["With AD-GCL pre-training, 100 labels do what about 200 do without (70.00 with, 65.00 without)."]
    best = curve("AD-GCL pre-training", "pretrained", {0.1: 80.0})
    assert "do what not even 400 do without" in sentences(curves(SCRATCH, best))[0]


def test_it_says_as_plainly_that_nothing_is_saved():
    same = curve("AD-GCL pre-training", "pretrained", {0.1: 65.05})
    assert "makes no clear difference (65.05 with, 65.00 without)" in sentences(curves(SCRATCH, same))[0]
    worse = curve("AD-GCL pre-training", "pretrained", {0.1: 60.0, 0.4: 70.0})
    assert "Without AD-GCL pre-training, 100 labels do what about 200 do with" in sentences(curves(SCRATCH, worse))[0]


def test_another_network_is_named_as_one():
    """What a wide encoder gains over a narrow network from scratch is not all due to its pre-training."""
    said = []
    for means in ({0.1: 70.0}, {0.1: 65.05}, {0.1: 60.0, 0.4: 70.0}):
        found = replace(curve("zinc-gin", "pretrained", means), scratch="smaller")
        said += sentences(curves(SCRATCH, found))
    assert said == [
        "With zinc-gin, 100 labels do what about 200 do with a smaller network from scratch (70.00 with it, 65.00 from "
        "scratch).",
        "With 100 labels, zinc-gin makes no clear difference beside a smaller network from scratch (65.05 with it, "
        "65.00 from scratch).",
        "With a smaller network from scratch, 100 labels do what about 200 do with zinc-gin (60.00 with it, 65.00 from "
        "scratch).",
    ]
    other = replace(curve("mine", "pretrained", {0.1: 70.0}), scratch="other")
    assert "with another network from scratch" in sentences(curves(SCRATCH, other))[0]


def test_errors_are_better_when_lower():
    scratch = curve("no pre-training", "none", {0.1: 1.0, 0.4: 0.8}, 0.001)
    trained = curve("zinc-gin", "pretrained", {0.1: 0.9, 0.4: 0.7}, 0.001)
    said = sentences(curves(scratch, trained, metric="rmse", higher=False))
    assert said == ["With zinc-gin, 100 labels do what about 200 do without (0.900 with, 1.000 without)."]


@pytest.mark.parametrize(
    ("floor", "said"),
    [
        ({0.05: 80.0, 0.1: 80.0, 0.4: 80.0}, "at least as well as any network"),
        ({0.05: 50.0, 0.1: 50.0, 0.4: 50.0}, "worse than the best network, however many"),
        ({0.05: 80.0, 0.1: 60.0, 0.4: 60.0}, "worse than the best network with 100 and 400 labels"),
    ],
)
def test_the_floor_is_spoken_of_too(floor, said):
    assert said in sentences(curves(SCRATCH, curve("graph statistics", "floor", floor)))[-1]


def test_table_values_and_figure_hold_every_point():
    floor = curve("graph statistics", "floor", {0.1: 64.0})
    found = curves(SCRATCH, floor)
    table = label_table(found)
    assert [cell.plain for cell in table.rows[0].cells] == ["50", "5 %", "60.00 ± 0.14", "–"]
    assert len(label_values(found)) == 4 and label_values(found)[0]["values"] == [59.9, 60.1]
    root = ET.fromstring(figure_of_labels(found))
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"50", "100", "400", "graph statistics", "no pre-training"} <= set(texts)
    assert sum(element.tag.endswith("circle") for element in root.iter()) == 4


def test_one_seed_has_no_spread():
    one = Curve("no pre-training", "none", (Point(0.1, 100, (65.0,)),))
    assert one.points[0].std is None
    assert label_table(curves(one)).rows[0].cells[2].plain == "65.00"
    figure_of_labels(curves(one))
    floor = Curve("graph statistics", "floor", (Point(0.1, 100, (60.0,)),))
    assert sentences(curves(one, floor))[-1] == "One seed proves little."
