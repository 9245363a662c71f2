"""Unreadable rows: a short table, and where to find the full list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adgcl.cli.screen import Screen, console, table
from adgcl.core.words import counted

if TYPE_CHECKING:
    from adgcl.data.dataset import BadRow, Dataset
    from adgcl.graphs.chem.vocabulary import Strangers

_SHOWN = 5
_TEXT = 40


def show_bad_rows(screen: Screen, bad_rows: Sequence[BadRow], total: int, listed_in: Path | None = None) -> None:
    """Warn on stderr about input rows that were left out, if there are any."""
    if not bad_rows:
        return
    screen.warn(f"{len(bad_rows)} of {total} rows cannot be read:")
    cells = [(row.line, _short(row.text), row.reason) for row in bad_rows[:_SHOWN]]
    console(stderr=True).print(table(("line", "text", "reason"), cells, right=("line",)))
    more = len(bad_rows) - _SHOWN
    if more > 0:
        screen.warn(f"... and {more} more.")
    if listed_in is not None:
        screen.warn(f"All of them are listed in {listed_in}.")


def show_mixtures(screen: Screen, dataset: Dataset, cut: bool = False) -> None:
    """Say on stderr how many rows hold several fragments, and how to change that."""
    if dataset.mixtures:
        what = f"Salts or mixtures in {dataset.mixtures:,} of {counted(len(dataset), 'row')}"
        done = "the largest fragment of each was kept." if cut else "read whole; --keep-largest-fragment reduces them."
        screen.aside(f"{what}: {done}")


def show_strangers(screen: Screen, dataset: Dataset) -> Strangers:
    """Warn about atoms, bonds and chirality that the network has no name for, and count them."""
    from adgcl.graphs.chem.vocabulary import count_strangers

    strangers = count_strangers(dataset.store, dataset.smiles)
    if str(strangers):
        screen.warn(f"{strangers}.")
    return strangers


def _short(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
