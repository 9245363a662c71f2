"""Tables on a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from adgcl.core.safe_text import printable_value
from adgcl.reports.table import Table


@dataclass(frozen=True)
class Section:
    """A heading, a table below it, and remarks below that."""

    heading: str = ""
    table: Table | None = None
    remarks: tuple[str, ...] = ()


def to_page(
    title: str, sections: Sequence[Section], *, lead: str = "", figure: str = "", footer: str = "", key: bool = False
) -> str:
    """A page; `figure` is SVG, and `key` explains the colours of better and worse."""
    from jinja2 import Environment

    template = files("adgcl.reports").joinpath("templates/page.html").read_text(encoding="utf-8")
    engine = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=printable_value)
    page = engine.from_string(template)
    return page.render(title=title, sections=sections, lead=lead, figure=figure, footer=footer, key=key) + "\n"
