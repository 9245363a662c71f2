"""The screen: results on stdout, everything else on stderr, JSON for scripts."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adgcl.core.terminal import plain_console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Without a terminal lines do not wrap, so tables get room instead of being cut.
_PIPE_WIDTH = 160


def console(stderr: bool = False) -> Console:
    """A console on stdout or stderr."""
    stream = sys.stderr if stderr else sys.stdout
    return plain_console(stream, None if stream.isatty() else _PIPE_WIDTH)


def print_error(message: str, hint: str | None = None, label: str = "Error:") -> None:
    """A short red line, with what to do below it."""
    err = console(stderr=True)
    if label:
        err.print(label, style="bold red", end=" ")
    err.print(message, soft_wrap=True)
    if hint:
        err.print(hint, soft_wrap=True, style="dim" if err.is_terminal else None)


@dataclass(frozen=True)
class Screen:
    """Where one command prints: with `as_json` only JSON reaches stdout, with `quiet` only results."""

    as_json: bool = False
    quiet: bool = False

    @property
    def live(self) -> bool:
        """Whether progress may be shown: to a person, on a terminal."""
        return not self.quiet and sys.stderr.isatty()

    def say(self, text: str = "") -> None:
        """Advice: helpful, but not a result."""
        if not (self.as_json or self.quiet):
            console().print(text, soft_wrap=True)

    def aside(self, text: str) -> None:
        """Status while work is running, on stderr."""
        if not self.quiet:
            console(stderr=True).print(text, soft_wrap=True)

    def warn(self, text: str) -> None:
        """Something the user should know even when a script reads stdout."""
        console(stderr=True).print(text, soft_wrap=True, style="yellow")

    def show(self, result: Any) -> None:
        """A result for people: text, a report's Table, or anything rich can print."""
        from adgcl.reports.formats.terminal import for_terminal
        from adgcl.reports.table import Table

        if self.as_json:
            return
        out = console()
        shown = for_terminal(result, out.width) if isinstance(result, Table) else result
        out.print(shown, soft_wrap=isinstance(shown, str))

    def emit(self, value: Any) -> None:
        """A result for scripts."""
        if self.as_json:
            print(json.dumps(finite(value), indent=2))


def finite(value: Any) -> Any:
    """`value` with NaN and infinities as None, since JSON cannot express them."""
    if isinstance(value, dict):
        return {str(k): finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, bool, int)):
        return value
    return value.item() if hasattr(value, "item") else str(value)


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], title: str | None = None, right: Sequence[str] = ()
) -> Table:
    """A plain table; columns named in `right` hold numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        title=title,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        show_header=any(columns),
    )
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    return made
