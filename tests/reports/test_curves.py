"""Curves of a run: any metric it measured, and where the augmenter stops."""

from __future__ import annotations

import json
import math
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from adgcl.core.errors import DataError
from adgcl.reports.curves import STILL, curves_of_metrics, figure_of_curves, stopped_dropping
from adgcl.reports.documents import write_curves

SVG = "{http://www.w3.org/2000/svg}"
ROWS = [{"epoch": i, "loss": 2.0 / i, "drop_ratio": 0.3 if i < 4 else 0.001, "node_ratio": 0.1} for i in range(1, 7)]


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(SVG + "text")]


def test_loss_and_drop_ratio_unless_other_names_are_given() -> None:
    assert list(curves_of_metrics(ROWS)) == ["loss", "drop_ratio"]
    assert list(curves_of_metrics(ROWS, ("node_ratio", "unknown"))) == ["node_ratio"]
    assert curves_of_metrics([{"epoch": 1}]) == {}
    root = ElementTree.fromstring(figure_of_curves(curves_of_metrics(ROWS, ("node_ratio", "loss", "drop_ratio")), "t"))
    assert len(list(root.iter(SVG + "polyline"))) == 3


def test_what_is_no_number_is_left_out() -> None:
    rows = [{"epoch": 1, "loss": math.nan}, {"epoch": 2, "loss": 1.0}, {"epoch": 3, "loss": math.inf}]
    assert curves_of_metrics(rows) == {"loss": [(2.0, 1.0)]}


def test_the_end_of_dropping_by_brute_force() -> None:
    draw = random.Random(0)
    for _ in range(500):
        ratios = [draw.choice([0.0, 0.009, STILL, 0.2]) for _ in range(draw.randint(1, 8))]
        points = [(epoch, ratio) for epoch, ratio in enumerate(ratios, 1)]
        slow = [e for e, _ in points if all(ratio < STILL for _, ratio in points[e - 1 :])]
        assert stopped_dropping(points) == (slow[0] if slow else None)


def test_the_mark_stands_at_its_epoch() -> None:
    svg = figure_of_curves(curves_of_metrics(ROWS), "Training")
    assert "the augmenter stopped dropping (epoch 4)" in texts(svg)
    (dashes,) = [line for line in ElementTree.fromstring(svg).iter(SVG + "line") if line.get("stroke-dasharray")]
    curve = list(ElementTree.fromstring(svg).iter(SVG + "polyline"))[1]
    assert dashes.get("x1") == dashes.get("x2") == (curve.get("points") or "").split()[3].split(",")[0]


@pytest.mark.parametrize(("ratios", "mark"), [
    ([0.3, 0.001, 0.3], None), ([0.3, 0.2], None), ([0.0, 0.0], "the augmenter drops nothing"),
    ([0.3, 0.0], "the augmenter stopped dropping (epoch 2)"),
])  # fmt: skip
def test_only_an_end_that_lasts_is_marked(ratios: list[float], mark: str | None) -> None:
    points = [(float(i), ratio) for i, ratio in enumerate(ratios, 1)]
    found = [text for text in texts(figure_of_curves({"drop_ratio": points}, "t")) if "augmenter" in text]
    assert found == ([mark] if mark else [])
    assert not any("augmenter" in text for text in texts(figure_of_curves({"loss": points}, "t")))


def test_labels_stay_on_the_page_and_can_be_read() -> None:
    rows = [{"epoch": i, "drop_ratio": 0.3 if i < 100 else 0.0} for i in range(1, 101)]
    root = ElementTree.fromstring(figure_of_curves(curves_of_metrics(rows), "t"))
    for text in root.iter(SVG + "text"):
        size = float(text.get("font-size") or 0)
        assert size >= 12
        if text.get("text-anchor") == "start":
            assert float(text.get("x") or 0) + 0.56 * size * len(text.text or "") <= 760


def test_epochs_are_whole() -> None:
    ticks = texts(figure_of_curves({"loss": [(float(i), 1.0 * i) for i in range(1, 21)]}, "t"))
    assert "2.5" not in ticks and {"0", "5", "10", "15", "20"} <= set(ticks)


def test_a_run_that_measured_something_else(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    write_curves(tmp_path, tmp_path / "c.svg", ("node_ratio",))
    assert "node_ratio" in (tmp_path / "c.svg").read_text()
    with pytest.raises(DataError, match="did not measure accuracy") as error:
        write_curves(tmp_path, tmp_path / "c.svg", ("accuracy",))
    assert "drop_ratio, loss, node_ratio" in (error.value.hint or "")
