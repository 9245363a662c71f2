"""Progress of many pieces of work on stderr: one bar for all of them, one for each that runs; or lines for a log."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, TypeVar

from adgcl.cli.screen import Screen, console

B = TypeVar("B", bound="ManyBars")


class ManyBars:
    """The bars, while it is entered on a terminal; `_all` is that of all the work."""

    def __init__(self, screen: Screen, title: str) -> None:
        self.screen, self._title = screen, title
        self._bars: Any = None
        self._all: Any = None
        self._last_line = time.monotonic()

    def __enter__(self: B) -> B:
        if self.screen.live:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=20),
                MofNCompleteColumn(),
                TextColumn("{task.fields[note]}", markup=False),
                TimeElapsedColumn(),
            )
            self._bars = Progress(*columns, console=console(stderr=True), transient=True)
            self._all = self._bars.add_task(self._title, total=None, note="")
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def tell(self, text: str) -> None:
        """A line above the bars, which another way of printing would run into."""
        self._last_line = time.monotonic()
        if self._bars is not None:
            # On a terminal lines break between words; a log keeps them whole.
            self._bars.console.print(text)
        elif not self.screen.quiet:
            console(stderr=True).print(text, soft_wrap=True)
