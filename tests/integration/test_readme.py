"""Every figure in the README comes from a Record, and every command in it exists."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from adgcl.core.records import read_records
from adgcl.protocols.finished_run import WITH_ECFP
from adgcl.reports.documents import put_between_marks
from adgcl.reports.figure import figure_of_records
from adgcl.training.packaged import packaged_encoders, packaged_file

ROOT = Path(__file__).resolve().parents[2]


def test_the_tables_are_those_of_the_records():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text == put_between_marks(text, read_records(ROOT / "results")), "run `make results`"


def test_the_front_page_shows_five_data_sets():
    page = put_between_marks("<!-- headline:begin -->\n<!-- headline:end -->", read_records(ROOT / "results"))
    rows = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")]
    assert rows == ["data set", "---", "MUTAG", "PROTEINS", "IMDB-BINARY", "ogbg-molbbbp", "ogbg-molesol"]
    assert "89.25 ± 1.45" in page and "ECFP" in page and "–" not in page


def test_the_front_page_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_the_figure_is_that_of_the_records():
    assert (ROOT / "results/figure.svg").read_text(encoding="utf-8") == figure_of_records(
        read_records(ROOT / "results")
    )


def test_the_settings_that_a_search_chose_are_those_of_its_records():
    text = (ROOT / "docs/tune.md").read_text(encoding="utf-8")
    assert text == put_between_marks(text, read_records(ROOT / "docs/tune")), "run `make results`"


def test_the_speeds_are_those_that_were_measured():
    from benchmarks.measured import put_between_marks, read_measured

    text = (ROOT / "docs/speed.md").read_text(encoding="utf-8")
    assert text == put_between_marks(text, read_measured()), "run `python -m benchmarks --write`"


def test_the_costs_are_those_that_were_measured():
    from benchmarks.costs import page

    tree = json.loads((ROOT / "benchmarks/costs.json").read_text(encoding="utf-8"))
    assert (ROOT / "docs/costs.md").read_text(encoding="utf-8") == page(tree), (
        "run `python -m benchmarks.costs --render`"
    )


def test_the_quality_of_faster_updates_is_that_of_its_records():
    from benchmarks.quality import PAGE, whole_page

    assert PAGE.read_text(encoding="utf-8") == whole_page(), "run `python -m benchmarks.quality --page-only`"


def test_links_lead_somewhere():
    for page in (ROOT / "README.md", *ROOT.glob("docs/**/*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} -> {target}"


def test_commands_are_known():
    from adgcl.cli.main import app

    names = {command.name or command.callback.__name__ for command in app.registered_commands}
    names |= {group.name for group in app.registered_groups}
    used = set(re.findall(r"^adgcl (\w+)|`adgcl (\w+)", (ROOT / "README.md").read_text(), flags=re.MULTILINE))
    assert {a or b for a, b in used} <= names


def test_settings_of_records_still_resolve():
    """A Record's configuration can be run again with this version."""
    from adgcl.experiments.presets import presets
    from adgcl.training.run_config import resolve

    rows = {name.rpartition("-")[0]: preset.method for name, preset in presets().items()}
    for record in read_records(ROOT / "results"):
        if record.method.removesuffix(WITH_ECFP) in packaged_encoders():
            continue  # Named after the encoder, not after the method that trained it.
        sections = {k: v for k, v in record.config.items() if k not in ("protocol", "tune", "take", "started_from")}
        # A row that was pre-trained bears the name of that, whatever it learned from labels with.
        tuned = any(key.startswith("pretraining.") for key in record.config.get("tune", ()))
        trained = "started_from" in record.config or tuned
        assert resolve(sections).method.name == ("supervised" if trained else rows.get(record.method, record.method))


@pytest.mark.parametrize("name", packaged_encoders())
def test_the_page_of_an_encoder_is_that_of_the_records(name):
    text = packaged_file(name).with_suffix(".md").read_text(encoding="utf-8")
    assert text == put_between_marks(text, read_records(ROOT / "results")), "run `make results`"


def test_the_page_of_results_is_that_of_the_records():
    text = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    assert text == put_between_marks(text, read_records(ROOT / "results")), "run `make results`"
