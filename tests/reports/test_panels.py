"""The picture of Records: every one is there, at its place, best first."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from adgcl.reports.panels import figure_of_records
from tests.record_cases import a_record

SVG = "{http://www.w3.org/2000/svg}"
PUBLISHED = {"mean": 89.25, "std": 1.45}


def shapes(records, kind):
    return list(ElementTree.fromstring(figure_of_records(records)).iter(SVG + kind))


def notes(records, kind):
    """What the shapes say when the pointer rests on them; those of the legend say nothing."""
    return [shape.findtext(SVG + "title") for shape in shapes(records, kind) if len(shape)]


def test_every_record_is_a_dot_and_every_published_figure_a_diamond():
    records = [
        a_record(dataset="A & B", published=PUBLISHED),
        a_record(probe="svm", std=None, seeds=[0]),
        a_record(method="graphcl", mode="as_published"),
    ]
    assert sorted(notes(records, "circle")) == [
        "A & B, AD-GCL, strict, linear: 89.00 ± 1.00 (2 seeds)",
        "MUTAG, AD-GCL, strict, svm: 89.00 (1 seed)",
        "MUTAG, GraphCL, as_published, linear: 89.00 ± 1.00 (2 seeds)",
    ]
    assert notes(records, "polygon") == ["A & B, AD-GCL, strict, linear, published: 89.25 ± 1.45"]
    assert len(shapes(records, "circle")) == 3 + 3  # a legend for each mode and probe


@pytest.mark.parametrize(("higher", "order"), [(True, ["GraphCL", "AD-GCL"]), (False, ["AD-GCL", "GraphCL"])])
def test_the_best_is_on_top(higher, order):
    records = [a_record(mean=80.0, higher_is_better=higher), a_record(method="graphcl", higher_is_better=higher)]
    texts = [text.text for text in shapes(records, "text")]
    assert [text for text in texts if text in order] == order


def test_numbers_stand_beside_rows_of_one_mark():
    one, other = a_record(), a_record(probe="svm")
    assert "89.00 ± 1.00" in [text.text for text in shapes([one], "text")]
    assert "89.00 ± 1.00" not in [text.text for text in shapes([one, other], "text")]


def test_dots_stand_where_their_values_are_and_panels_do_not_overlap():
    records = [a_record(dataset=name, method=method, mean=mean) for name in "ABCDEFG" for method, mean in
               (("adgcl", 90.0), ("graphcl", 80.0), ("nadgcl", 70.0))]  # fmt: skip
    dots = [shape for shape in shapes(records, "circle") if len(shape)]
    xs, ys = [float(dot.get("cx")) for dot in dots], [float(dot.get("cy")) for dot in dots]
    for first in range(0, len(dots), 3):
        best, middle, worst = xs[first : first + 3]
        assert best - middle == pytest.approx(middle - worst) and best > middle
    assert len(set(zip(xs, ys))) == len(dots)
    height = float(ElementTree.fromstring(figure_of_records(records)).get("height"))
    assert max(ys) < height and len({round(x) for x in xs}) == 9  # three columns
