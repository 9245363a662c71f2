"""The tables of docs/regulariser.md are those of results/sweeps."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_shows_the_trials_that_are_kept():
    script = runpy.run_path(str(ROOT / "scripts" / "regulariser.py"))
    page = (ROOT / "docs" / "regulariser.md").read_text(encoding="utf-8")
    assert script["with_tables"](page) == page, "run `make results`"
    assert script["with_tables"](page.replace("| MUTAG | 0.36 |", "| MUTAG | 0.99 |")) == page
