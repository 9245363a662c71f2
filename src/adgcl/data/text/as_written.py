"""A label as its file writes it: `active` rather than 1."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from adgcl.core.errors import AdgclError
from adgcl.data.dataset import Dataset
from adgcl.data.text.columns import find_column, is_header
from adgcl.data.text.labels import LabelColumn, read_labels
from adgcl.data.text.open_table import open_table


def label_as_written(dataset: Dataset, name: str, graph: int) -> str | None:
    """The text of a graph's label, in a table with one label column, from its file; None if it is not found there."""
    if dataset.rows is None or not dataset.columns:
        return None
    try:
        table = open_table(Path(dataset.origin.source), is_header)
        place = find_column(table.path, table.columns, name, "--label-column")
        row = next(islice(table.rows, int(dataset.rows[graph]), None))
        text = row.fields[place].strip()
        again, _ = read_labels([LabelColumn(name, [text], str)], dataset.task)
    except (AdgclError, StopIteration, IndexError):
        return None
    assert dataset.store.y is not None
    return text if again[0, 0] == dataset.store.y[graph, 0] else None
