"""Pages in a real browser: what is under the pointer appears, tables sort, nothing is requested, nothing fails."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.data.load import load_dataset
from adgcl.pages.drawing.compact import compact_pictures
from adgcl.pages.frame import render
from adgcl.pages.packing import base64_of, joined, plane
from benchmarks.pointer import point_at
from tests.pages.test_pages import EVIL, NAMES, pages  # noqa: F401

_MANY = 20_000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_pages_open_without_a_complaint(look, pages, name: str, width: int, scheme: str) -> None:  # noqa: F811
    opened = look(pages[name], width, scheme)
    assert opened.errors == []
    assert [url for url in opened.requests if not url.startswith("file://")] == [] and len(opened.requests) == 1
    assert not opened.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    background = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    levels = [int(part) for part in background.removeprefix("rgb(").removesuffix(")").split(",")]
    assert (max(levels) < 60) == (scheme == "dark")
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def is_drawn(page, canvas: str) -> bool:
    code = """name => { const c = document.querySelector(name);
        return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v > 0); }"""
    return page.evaluate(code, canvas)


@pytest.mark.parametrize("name", ["map", "report"])
def test_the_molecule_under_the_pointer_appears(look, pages, name: str) -> None:  # noqa: F811
    page = look(pages[name]).page
    page.locator("#map").scroll_into_view_if_needed()
    assert page.locator("#tip").is_hidden() and is_drawn(page, "#points")
    for graph in (3, 8):
        point_at(page, graph)
        shown = int(page.get_attribute("#tip", "data-graph"))
        # Points may lie on top of one another; the nearest is within a point's width.
        gap = page.evaluate("([a, b]) => Math.hypot(px(a) - px(b), py(a) - py(b)) * view().side", [graph, shown])
        assert gap < 4 and page.locator("#tip b").text_content() == f"{EVIL}{shown}"
        assert is_drawn(page, "#tip canvas") and "cluster" in page.locator("#tip span").text_content()
    page.mouse.move(2, 2)
    assert page.locator("#tip").is_hidden()


def test_a_click_keeps_a_molecule_and_keys_walk(look, pages) -> None:  # noqa: F811
    opened = look(pages["map"])
    page = opened.page
    point_at(page, 5)
    page.mouse.down()
    page.mouse.up()
    assert page.locator("#kept figure").count() == 1 and is_drawn(page, "#kept canvas")
    page.locator("#kept button").click()
    assert page.locator("#kept figure").count() == 0
    page.focus("#points")
    before = page.get_attribute("#tip", "data-graph")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip").is_visible() and before is not None and opened.errors == []


def test_colours_layouts_and_search(look, pages) -> None:  # noqa: F811
    opened = look(pages["map"])
    page = opened.page
    page.select_option("#colouring", label="cluster")
    assert page.locator("#legend button").count() == 3
    page.locator("#legend button").first.click()
    assert page.locator("#legend button").first.get_attribute("aria-pressed") == "false"
    page.select_option("#plane", index=1)
    page.fill("#find", "c1ccccc1")
    assert page.locator("#found").text_content() == "3 found"
    page.locator("#zoom-in").click()
    page.locator("#zoom-reset").click()
    assert opened.errors == []


def test_tables_sort_by_their_headings(look, pages) -> None:  # noqa: F811
    page = look(pages["map"]).page
    table = page.locator("table.sortable").first
    heads = table.locator("th button")
    column = heads.all_text_contents().index("graphs")
    read = lambda: [int(v) for v in page.locator("table.sortable tbody td:nth-child(4)").all_text_contents()]  # noqa: E731
    heads.nth(column).click()
    assert read() == sorted(read(), reverse=True)
    heads.nth(column).click()
    assert read() == sorted(read())


def test_bonds_change_their_colours(look, pages) -> None:  # noqa: F811
    page = look(pages["explain"]).page
    band = page.locator("#cards .band").first
    value, rank = band.get_attribute("data-v"), band.get_attribute("data-r")
    assert f"s{value}" in band.get_attribute("class").split()
    page.select_option("#colour", "rank")
    assert f"s{rank}" in band.get_attribute("class").split()
    names = lambda: page.locator("#cards article").evaluate_all("all => all.map(a => Number(a.dataset.size))")  # noqa: E731
    page.select_option("#order", "size:-1")
    assert names() == sorted(names(), reverse=True)
    page.fill("#find", "nosuch")
    assert page.locator("#found").text_content() == "0 found"


def test_neighbours_are_drawn_and_found(look, pages) -> None:  # noqa: F811
    page = look(pages["neighbours"]).page
    assert page.locator(".query").count() == 8 and page.locator(".query").first.locator("canvas").count() == 9
    assert is_drawn(page, ".strip canvas")
    page.locator("#on").click()
    assert page.locator("#where").text_content() == "2 of 3"
    page.fill("#find", f"{EVIL}17")
    assert page.locator(".query").count() == 1


def test_twenty_thousand_points_answer_the_pointer(look) -> None:
    rng = np.random.default_rng(0)
    dataset = load_dataset("freesolv")
    pictures, labels = compact_pictures(dataset)
    many = [pictures[i % len(pictures)] for i in range(_MANY)]
    points = rng.normal(size=(_MANY, 2)).astype(np.float32)
    data = {
        "count": _MANY,
        "names": [f"molecule {i}" for i in range(_MANY)],
        "smiles": None,
        "planes": [{"title": "PCA", "points": plane(points)}],
        "colourings": [
            {"title": "size", "low": 0.0, "high": 1.0, "values": base64_of(rng.random(_MANY).astype("<f4"))},
        ],
        "pictures": {**joined(many), "labels": labels},
    }
    text = render("map", title="Many", scripts=("sorting.js", "pictures.js", "map.js"), data=data, label="many")
    page = look(text).page
    answers = []
    for graph in range(0, _MANY, 2000):
        point_at(page, graph)
        answers.append(float(page.get_attribute("#map", "data-answered")))
        assert page.locator("#tip").is_visible()
    assert sorted(answers)[len(answers) // 2] < 100
