"""The rows of a reproduced table: those the paper prints, and baselines that keep everyone honest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adgcl.core.errors import UnknownNameError
from adgcl.experiments.presets import presets, runs_here
from adgcl.methods.base import METHODS
from adgcl.published import PublishedTable
from adgcl.published.reader import method_names

# Rows without a published figure, by protocol: baselines that learn nothing and our own best settings; the strongest
# simple rival of pre-training; counts with a linear probe, and AD-GCL and GraphCL with their pre-training tuned.
_EXTRA_ROWS = {
    "unsupervised": ("statistics", "ecfp", "adgcl-best"),
    "finetune": ("graphmae",),
    "semi_supervised": ("statistics", "adgcl-opt", "graphcl-opt"),
}


@dataclass(frozen=True)
class Row:
    """A row of a table; `asked` for by the user, or included because the table has it."""

    name: str
    asked: bool = False


def rows_of(table: PublishedTable, asked: Sequence[str] = ()) -> tuple[Row, ...]:
    """The rows named by the user (our names or the paper's), or all of the table's and the extra ones."""
    if asked:
        return tuple(Row(name, True) for name in dict.fromkeys(map(_our_name, asked)))
    return tuple(map(Row, (*table.methods, *extra_rows(table))))


def extra_rows(table: PublishedTable) -> tuple[str, ...]:
    """Rows that the paper does not print."""
    return tuple(name for name in _EXTRA_ROWS.get(table.protocol, ()) if runs_here(name))


def datasets_of(table: PublishedTable, asked: Sequence[str] = ()) -> tuple[str, ...]:
    """The data sets named by the user, in the paper's spelling where it has them, or all of the table's."""
    from adgcl.data.catalog import find_entry, is_known

    if not asked:
        return table.datasets
    spelled = {name.lower(): name for name in table.datasets}
    spelled |= {find_entry(name).name.lower(): name for name in table.datasets if is_known(name)}
    known = (find_entry(name).name if is_known(name) else name for name in asked)
    return tuple(dict.fromkeys(spelled.get(name.lower(), name) for name in known))


def _our_name(name: str) -> str:
    labels = {label.lower(): ours for ours, label in method_names().items()}
    ours = labels.get(name.lower(), name)
    if not (runs_here(ours) or ours in method_names() or any(ours in rows for rows in _EXTRA_ROWS.values())):
        rows = {preset.rpartition("-")[0] for preset in presets()}
        raise UnknownNameError("method or row", name, {*METHODS, *rows, *method_names()})
    return ours
