"""Summaries of campaigns, kept in the docs between two marks."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from adgcl.core.files import write_text
from adgcl.core.provenance import versions
from adgcl.reports.formats.marks import put_between

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"


def write_between(name: str, lines: Sequence[str]) -> None:
    """Replace what is between the marks of a name, and say when and with which version it was made."""
    made = f"Run on {datetime.date.today().isoformat()} with adgcl {versions()['adgcl']}."
    write_text(PAGE, put_between(PAGE.read_text(encoding="utf-8"), name, "\n".join([*lines, "", made])))
