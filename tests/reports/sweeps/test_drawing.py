"""Texts beside points."""

from __future__ import annotations

import itertools

import pytest

from adgcl.reports.sweeps.drawing import label_points

figures = pytest.importorskip("matplotlib.figure")


def test_texts_of_points_that_are_close_stay_apart() -> None:
    figure = figures.Figure(figsize=(3.5, 2.7))
    axis = figure.subplots()
    axis.set(xlim=(0, 1), ylim=(0, 1))
    near = [(0.50, 0.50), (0.51, 0.52), (0.49, 0.54), (0.52, 0.49)]
    label_points(axis, near, ["0.1", "0.3", "0.5", "10"], "black")
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axis.texts]
    assert [text.get_text() for text in axis.texts] == ["0.1", "0.3", "0.5", "10"]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    dots = axis.transData.transform(near)
    assert not any(box.contains(*dot) for box in boxes for dot in dots)
