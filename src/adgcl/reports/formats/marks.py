"""Parts of a page that are made again: what is between `<!-- NAME:begin -->` and `<!-- NAME:end -->`."""

from __future__ import annotations


def is_marked(page: str, name: str) -> bool:
    """Whether a page has a part of this name."""
    begin, end = _marks(name)
    return end in page.partition(begin)[2]


def put_between(page: str, name: str, text: str) -> str:
    """The page with another text between the marks of a name; the rest stays."""
    begin, end = _marks(name)
    if not is_marked(page, name):
        raise ValueError(f"the page has no {begin} ... {end}")
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}"


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
