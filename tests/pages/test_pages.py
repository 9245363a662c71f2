"""Pages: whole, self-contained, harmless whatever the data is called."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from adgcl.core.errors import DataError
from adgcl.data.dataset import Dataset
from adgcl.data.load import load_dataset
from adgcl.experiments.source import Source
from adgcl.insight.explanation import explain_data
from adgcl.insight.graph_map import map_data
from adgcl.insight.neighbours import find_neighbours
from adgcl.pages.explain_page import explain_page
from adgcl.pages.frame import as_json
from adgcl.pages.map_page import map_page
from adgcl.pages.material import Material, gather
from adgcl.pages.neighbours_page import neighbours_page
from adgcl.pages.repeating import pretrain_command
from adgcl.pages.report_page import report_page
from tests.insight_cases import MOLECULES, SETTINGS, finished_run
from tests.reports.test_documents import record

EVIL = "<script>alert('x')</script>"


def evil_dataset() -> Dataset:
    """Molecules whose set, names and labels are all called <script>."""
    dataset = load_dataset(list(MOLECULES))
    store = replace(dataset.store, ids=[f"{EVIL}{i}" for i in range(len(dataset))])
    return replace(dataset, name=EVIL, store=store)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    source = Source(evil_dataset())
    run = finished_run()
    material = gather([run])
    return {
        "explain": explain_page(explain_data(run, source, seeds=[finished_run(1)]), shown=4),
        "map": map_page(map_data(run, source, projection="tsne", clusters=3)),
        "neighbours": neighbours_page(find_neighbours(run, source, count=4)),
        "strangers": neighbours_page(find_neighbours(run, source, Source(["CCBr", "OO"]), count=4)),
        "report": report_page(replace(material, records=[record(dataset=EVIL)]), source),
    }


NAMES = ("explain", "map", "neighbours", "strangers", "report")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_from_a_file_becomes_markup(pages, name: str) -> None:
    page = pages[name]
    assert "alert(" in page and EVIL not in page
    scripts = re.findall(r"<script[^>]*>", page)
    assert scripts in (["<script>"], ['<script type="application/json" id="data">', "<script>"])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_loaded_from_outside(pages, name: str) -> None:
    page = pages[name]
    assert not re.findall(r"""(?:src|href|action)\s*=|url\(|@import|fetch\(|XMLHttp""", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'") and f"script-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_whole_and_every_picture_has_a_text(pages, name: str) -> None:
    page = pages[name]
    assert page.count("<html") == page.count("</html>") == 1
    assert "prefers-color-scheme" in page and "@media print" in page
    pictures = re.findall(r"<(?:svg|canvas)[^>]*>", page.partition("<script")[0])
    described = [p for p in pictures if "aria-label" in p or 'aria-hidden="true"' in p or 'width="1"' in p]
    assert len(described) == len(pictures)


def test_embedded_json_is_json(pages) -> None:
    text = re.search(r'id="data">(.*?)</script>', pages["map"], re.DOTALL)[1]
    data = json.loads(text)
    assert data["count"] == len(MOLECULES) and data["names"][0] == f"{EVIL}0" and data["smiles"] == list(MOLECULES)
    assert as_json("</script>\u2028&") == '"\\u003c/script\\u003e\\u2028\\u0026"'


def test_the_report_says_everything(pages) -> None:
    page = pages["report"]
    headings = ("What was trained", "Scores", "The map", "What the augmenter drops", "How to repeat it")
    for words in (*headings, "88.12 ± 1.25"):
        assert words in page, words
    assert "drop_ratio" in page and "hidden_dim" in page


def test_a_report_without_its_data_says_so() -> None:
    page = report_page(gather([finished_run()]), Source("nosuch.csv"))
    assert "There is no map" in page and "nosuch.csv" in page and "What was trained" in page


def test_a_report_of_records_alone() -> None:
    page = report_page(Material(records=[record(), record(method="random_init", published=None)]))
    assert "RU-GIN" in page and "The map" not in page and "var(--ink)" in page and 'fill="white"' not in page


def test_folders_with_nothing_in_them(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no run, model or Record"):
        gather([tmp_path])
    with pytest.raises(DataError, match="no folder"):
        gather([tmp_path / "nosuch"])


def test_the_command_of_a_run_has_every_changed_setting() -> None:
    (run,) = gather([finished_run()]).runs
    command = pretrain_command(run)
    assert command.startswith("adgcl pretrain") and "--epochs 2" in command
    for setting in SETTINGS:
        assert f"--set {setting}" in command
