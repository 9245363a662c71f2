"""What a table must say about few labels: what test data decided, and how far folds lie apart."""

from __future__ import annotations

import numpy as np

from adgcl.core.records import Record
from adgcl.reports.comparison import Comparison
from adgcl.reports.numbers import printed_label

# How a note of a Record begins that says what test data decided.
_LEAKY = "Leaky:"
_FEW_LABELS = "semi_supervised"


def is_leaky(record: Record) -> bool:
    """Whether test data decided something about this Record."""
    return any(note.startswith(_LEAKY) for note in record.notes)


def leak_notes(comparison: Comparison) -> list[str]:
    """What test data decided, in the modes where it decided anything."""
    found: dict[str, list[str]] = {}
    for (mode, row, _), cell in comparison.cells.items():
        leaks = [note for note in cell.record.notes if note.startswith(_LEAKY)] if cell.record else []
        for note in leaks if row in comparison.rows else ():
            modes = found.setdefault(note, [])
            modes += [] if mode in modes else [mode]
    return [f"{note.rstrip('.')} (mode {' and '.join(modes)})." for note, modes in found.items()]


def fold_notes(comparison: Comparison) -> list[str]:
    """How far the folds of one seed lie apart, which is far more than seeds do where all of them share their labels."""
    if comparison.table.protocol != _FEW_LABELS:
        return []
    found = []
    for mode in comparison.modes:
        parts = []
        for dataset in comparison.datasets:
            records = {row: comparison.record(mode, row, dataset) for row in comparison.rows}
            spreads = {row: fold_spread(record) for row, record in records.items() if record is not None}
            shown = [f"{printed_label(row)} {spread:.1f}" for row, spread in spreads.items() if spread is not None]
            parts += [f"{dataset} {', '.join(shown)}"] if shown else []
        if parts:
            found.append(f"Standard deviation over the folds of a seed ({mode}): {'; '.join(parts)}.")
    return found


def fold_spread(record: Record) -> float | None:
    """The standard deviation over the folds of a seed, averaged over seeds; None where there is one fold."""
    folds = [[value for value in run["folds"] if value is not None] for run in record.runs]
    spreads = [float(np.std(values, ddof=1)) for values in folds if len(values) > 1]
    return float(np.mean(spreads)) if spreads else None
