"""Summaries of campaigns, kept in the docs between two marks."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from adgcl.core.files import write_text
from adgcl.core.provenance import versions

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"


def write_between(name: str, lines: Sequence[str]) -> None:
    """Replace what is between the marks of a name, and say when and with which version it was made."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    made = f"Run on {datetime.date.today().isoformat()} with adgcl {versions()['adgcl']}."
    write_text(PAGE, "\n".join([before + begin, *lines, "", made, end]) + after)
