"""The reliability curve has a dot where its values are."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from adgcl.reports.reliability import reliability_figure

POINTS = [
    {"probability": 0.1, "share": 0.2, "labels": 100},
    {"probability": 0.9, "share": 0.7, "labels": 4},
]


def test_dots_stand_where_their_values_are() -> None:
    svg = reliability_figure(POINTS, "toy <curve>")
    assert ElementTree.fromstring(svg).get("aria-label") == "toy <curve>"
    dots = [tuple(map(float, dot)) for dot in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', svg)]
    (x1, y1, r1), (x2, y2, r2) = dots
    # Between the two, x covers 0.8 of the axis and y 0.5 of it, upwards; both axes are of one length.
    assert abs((x2 - x1) / 0.8 - (y1 - y2) / 0.5) < 1 and x2 > x1 and y2 < y1
    assert r1 > r2 and "found 0.70, 4 labels" in svg


def test_no_labels_give_an_empty_frame() -> None:
    assert "<circle" not in reliability_figure([], "nothing")
