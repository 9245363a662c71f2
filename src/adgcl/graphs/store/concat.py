"""Joining stores: graphs number their nodes locally, so packed arrays are simply concatenated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adgcl.graphs.store.columns import GrowingColumn
from adgcl.graphs.store.ranges import offsets
from adgcl.graphs.store.store import GraphStore

_ROWS = ("in_degree", "edge_source", "edge_reverse", "x", "x_num", "edge_attr", "edge_num", "y")


class Joining:
    """Stores joined as they come; they must agree in features and task, and have no ids.

    None of them is kept, and long columns are joined on disk: memory does not grow with the number of graphs, except by
    a few bytes each that say where it starts.
    """

    def __init__(self) -> None:
        self._columns = {name: GrowingColumn() for name in (*_ROWS, "node_counts", "edge_counts")}
        self._last: GraphStore | None = None

    @property
    def empty(self) -> bool:
        return self._last is None

    def add(self, store: GraphStore) -> None:
        self._last = store
        for name, column in self._columns.items():
            column.append(getattr(store, name))

    def whole(self) -> GraphStore:
        """One store of all graphs, in order."""
        if self._last is None:
            raise ValueError("no stores to join")
        joined: dict[str, Any] = {name: column.whole() for name, column in self._columns.items()}
        return GraphStore(
            node_ptr=offsets(joined.pop("node_counts")),
            edge_ptr=offsets(joined.pop("edge_counts")),
            **joined,
            ids=None,
            spec=self._last.spec,
            task=self._last.task,
        )


def concatenate(stores: Iterable[GraphStore]) -> GraphStore:
    """One store of all graphs of some stores, in order."""
    joining = Joining()
    for store in stores:
        joining.add(store)
    return joining.whole()
