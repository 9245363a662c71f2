"""Progress: how long-running work reports how far it has got."""

from __future__ import annotations

from collections.abc import Callable

# How many are done, and of how many.
Count = Callable[[int, int], None]
# The same for work that has a name; its size may not be known.
Progress = Callable[[str, int, int | None], None]
