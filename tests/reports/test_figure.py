"""The picture of Records: every one is there, at its place, and no figure of the paper where it does not belong."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from adgcl.core.records import Record
from adgcl.reports.figure import figure_of_records
from adgcl.reports.folders import find_records
from adgcl.reports.takeaway import takeaway
from tests.record_cases import a_record

SVG = "{http://www.w3.org/2000/svg}"
PUBLISHED = {"mean": 89.25, "std": 1.45}
RESULTS = find_records(Path(__file__).resolve().parents[2] / "results")


def root(records: list[Record]) -> ElementTree.Element:
    return ElementTree.fromstring(figure_of_records(records))


def texts(records: list[Record]) -> list[str]:
    return [text.text or "" for text in root(records).iter(SVG + "text")]


def rows(records: list[Record]) -> dict[str, ElementTree.Element]:
    """The marks of every Record by what they say when the pointer rests on them."""
    return {group.findtext(SVG + "title") or "": group for group in root(records).iter(SVG + "g")}


def test_every_record_has_a_mark_that_says_its_values() -> None:
    records = [
        a_record(dataset="A & B", mode="as_published", published=PUBLISHED),
        a_record(probe="svm", std=None, seeds=[0]),
        a_record(method="graphcl"),
        a_record(protocol="finished-run", probe="svm"),
    ]
    assert sorted(rows(records)) == [
        "A & B, AD-GCL, as_published, linear probe: 89.00 ± 1.00 (2 seeds); published 89.25 ± 1.45",
        "MUTAG, AD-GCL, strict, svm probe, one run: 89.00 ± 1.00 (2 seeds)",
        "MUTAG, AD-GCL, strict, svm probe: 89.00 (1 seed)",
        "MUTAG, GraphCL, strict, linear probe: 89.00 ± 1.00 (2 seeds)",
    ]
    assert all(len(list(group.iter(SVG + "circle"))) == 1 for group in rows(records).values())


def test_published_figures_stand_in_their_own_mode_alone() -> None:
    records = [a_record(mode=mode, published=PUBLISHED) for mode in ("as_published", "strict")]
    diamonds = {note: len(list(group.iter(SVG + "polygon"))) for note, group in rows(records).items()}
    assert sorted(diamonds.values()) == [0, 1] and all(("published 89.25" in note) == n for note, n in diamonds.items())
    assert "published" not in texts([records[1]]) and "published" in texts(records)
    both = texts(records)
    assert both.index("as_published: evaluated as the authors did") < next(
        i for i, text in enumerate(both) if text.startswith("strict:")
    )


@pytest.mark.parametrize(("higher", "order"), [(True, ["GraphCL", "AD-GCL"]), (False, ["AD-GCL", "GraphCL"])])
def test_the_best_is_on_top(higher: bool, order: list[str]) -> None:
    records = [a_record(mean=80.0, higher_is_better=higher), a_record(method="graphcl", higher_is_better=higher)]
    assert [text for text in texts(records) if text in order][-2:] == order


def test_numbers_stand_beside_rows_of_one_mark() -> None:
    one, other = a_record(), a_record(probe="svm")
    assert "89.00 ± 1.00" in texts([one]) and "89.00 ± 1.00" not in texts([one, other])


def test_dots_stand_where_their_values_are_and_panels_do_not_overlap() -> None:
    methods = (("adgcl", 90.0), ("graphcl", 80.0), ("nadgcl", 70.0))
    records = [a_record(dataset=name, method=method, mean=mean) for name in "ABCDEFG" for method, mean in methods]
    dots = [dot for group in rows(records).values() for dot in group.iter(SVG + "circle")]
    xs, ys = [float(dot.get("cx") or 0) for dot in dots], [float(dot.get("cy") or 0) for dot in dots]
    for first in range(0, len(dots), 3):
        best, middle, worst = xs[first : first + 3]
        assert best - middle == pytest.approx(middle - worst) and best > middle
    assert len(set(zip(xs, ys))) == len(dots)
    assert max(ys) < float(root(records).get("height") or 0) and len({round(x) for x in xs}) == 9  # three columns


def test_outliers_are_at_the_edge_with_their_value() -> None:
    usual = [a_record(method=f"m{i}", mean=80.0 + i) for i in range(5)]
    outlier = a_record(method="random_init", mean=20.0)
    marks = rows([*usual, outlier])
    far = next(group for note, group in marks.items() if "20.00" in note)
    assert not list(far.iter(SVG + "circle")) and len(list(far.iter(SVG + "polygon"))) == 1
    assert [text.text for text in far.iter(SVG + "text")] == ["20.00"]
    near = [group for note, group in marks.items() if "20.00" not in note]
    assert all(len(list(group.iter(SVG + "circle"))) == 1 for group in near)
    places = [float(dot.get("cx") or 0) for group in near for dot in group.iter(SVG + "circle")]
    assert max(places) - min(places) > 60  # and the others have room


def test_what_the_figure_is_about_is_never_off_the_scale() -> None:
    usual = [a_record(method=f"m{i}", mean=80.0 + i) for i in range(5)]
    marks = rows([*usual, a_record(mean=20.0)])
    assert all(len(list(group.iter(SVG + "circle"))) == 1 for group in marks.values())


@pytest.mark.parametrize("records", [
    RESULTS, RESULTS[:1], [a_record()], [a_record(dataset="x" * 80)],
    [a_record(dataset=name * 40, method=method * 30) for name in "abcd" for method in "ef"],
])  # fmt: skip
def test_labels_can_be_read_and_nothing_leaves_the_page(records: list[Record]) -> None:
    page = root(records)
    width, height = float(page.get("width") or 0), float(page.get("height") or 0)
    for text in page.iter(SVG + "text"):
        size, x, y = (float(text.get(name) or 0) for name in ("font-size", "x", "y"))
        about = 0.5 * size * len(text.text or "")
        left = x - {"start": 0.0, "middle": about / 2, "end": about}[text.get("text-anchor") or "start"]
        assert size >= 12 and left >= 0 and left + about <= width and 0 < y <= height, text.text
    for kind in ("circle", "rect", "line"):
        for shape in page.iter(SVG + kind):
            place = [float(shape.get(name) or 0) for name in ("cx", "x", "x1", "x2") if shape.get(name)]
            assert all(0 <= value <= width for value in place)


def test_the_title_is_the_takeaway_and_is_read_out() -> None:
    title = takeaway(RESULTS)
    assert root(RESULTS).get("aria-label") == title and root(RESULTS).get("role") == "img"
    assert " ".join(texts(RESULTS)[:2]).startswith(title)


def test_the_takeaway_counts_what_is_not_worse() -> None:
    facts = {"mode": "as_published", "published": PUBLISHED}
    records = [
        a_record(dataset="A", mean=89.25 - 1.4, **facts), a_record(dataset="B", mean=95.0, **facts),
        a_record(dataset="C", mean=89.25 - 1.5, **facts),
        a_record(dataset="D", mean=1.0, **{**facts, "mode": "strict"}), a_record(dataset="A", probe="svm", **facts),
    ]  # fmt: skip
    assert takeaway(records) == "AD-GCL meets the published figure on 2 of 3 data sets (as_published, linear probe)"
    lower = {**facts, "metric": "rmse", "higher_is_better": False}
    assert "on 0 of 1 data set " in takeaway([a_record(mean=95.0, **lower)])


def test_the_takeaway_without_the_paper() -> None:
    own = [a_record(dataset=name, mean=mean) for name, mean in (("A", 90.0), ("B", 70.0), ("C", 10.0))]
    rivals = [a_record(dataset=name, method="random_init", mean=80.0) for name in "AB"]
    assert takeaway([*own, *rivals]) == "AD-GCL is best on 1 of 2 data sets (strict, linear probe)"
    assert takeaway(own) == "AD-GCL on 3 data sets"
    assert takeaway(own[:1]) == "AD-GCL on A: accuracy (%) ↑ 90.00 ± 1.00 (strict, linear probe)"
    assert takeaway(rivals) == "RU-GIN on 2 data sets"
