"""Joining stores: graphs number their nodes locally, so packed arrays simply stand one after another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.graphs.ranges import offsets
from adgcl.graphs.store import GraphStore

_ROWS = ("in_degree", "edge_source", "edge_reverse", "x", "x_num", "edge_attr", "edge_num", "y")


def concatenate(stores: Iterable[GraphStore]) -> GraphStore:
    """One store of all graphs, in order; the stores must agree in features and task, and have no ids.

    The pieces are dropped column by column, so memory peaks at the result and one column more.
    """
    names = (*_ROWS, "node_counts", "edge_counts")
    columns: dict[str, list[npt.NDArray[Any] | None]] = {name: [] for name in names}
    spec = task = None
    for store in stores:
        spec, task = store.spec, store.task
        for name, pieces in columns.items():
            pieces.append(getattr(store, name))
    if spec is None or task is None:
        raise ValueError("no stores to concatenate")
    joined = {name: _joined(columns.pop(name)) for name in _ROWS}
    return GraphStore(
        node_ptr=offsets(_joined(columns.pop("node_counts"))),
        edge_ptr=offsets(_joined(columns.pop("edge_counts"))),
        **joined,
        ids=None,
        spec=spec,
        task=task,
    )


def _joined(pieces: list[npt.NDArray[Any] | None]) -> Any:
    """The pieces as one array; a column that some piece lacks is lacking in the whole."""
    return None if any(piece is None for piece in pieces) else np.concatenate(pieces)  # type: ignore[arg-type]
