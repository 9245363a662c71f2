"""A console that shows text as it is: brackets are no markup, and control characters are spelled out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import IO, TYPE_CHECKING, Any

from adgcl.core.safe_text import printable

if TYPE_CHECKING:
    from rich.console import Console


def plain_console(file: IO[str], width: int | None = None, **options: Any) -> Console:
    """A rich console for text that users and files supply."""
    made: Console = _kind()(file=file, width=width, highlight=False, emoji=False, markup=False, **options)
    return made


@cache
def _kind() -> Any:
    from rich.console import Console
    from rich.segment import Segment

    class PlainConsole(Console):
        """What rich itself adds, colours and movements of the cursor, is kept apart from text until here."""

        def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=printable(segment.text))

    return PlainConsole
