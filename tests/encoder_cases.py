"""Graphs that each encoder can read: any kind of features, or those that it was made for."""

from __future__ import annotations

from typing import Any

import numpy as np

from adgcl.graphs.store.store import GraphStore, pack
from tests.graph_cases import random_store

Case = dict[str, Any]

_ANY: dict[str, Case] = {
    "plain": {},
    "codes": {"node_sizes": (4, 3), "edge_sizes": (3, 2)},
    "reals": {"node_sizes": (5,), "num_dim": 2},
}
_ONLY: dict[str, dict[str, Case]] = {
    "hu_gin": {"hu": {"node_sizes": (7, 4), "edge_sizes": (6, 3)}},
    "ppi_gin": {"ppi": {"node_sizes": (2,), "edge_sizes": (2,) * 9}},
}
_RICH: dict[str, Case] = {
    "gin": {"node_sizes": (4,), "num_dim": 2},
    "gine": {"node_sizes": (4, 3), "edge_sizes": (3, 2)},
    "resgcn": {"node_sizes": (4,), "num_dim": 2},
}


def cases_of(encoder: str) -> dict[str, Case]:
    """Arguments of `random_store` for every kind of features that an encoder reads."""
    return _ONLY.get(encoder, _ANY)


def rich_case(encoder: str) -> Case:
    """The features that make most use of an encoder."""
    return _RICH.get(encoder, next(iter(cases_of(encoder).values())))


def bare_case(encoder: str) -> Case:
    """Nodes that carry something and edges that carry nothing, unless the encoder insists on it."""
    return rich_case(encoder) if encoder in _ONLY else {"node_sizes": (4,)}


def one_node(encoder: str) -> GraphStore:
    """One graph with one node and no edge."""
    spec = random_store(**next(iter(cases_of(encoder).values()))).spec
    node, edge = (np.zeros((count, len(part.sizes)), int) for count, part in ((1, spec.node), (0, spec.edge)))
    return pack(
        [1], [0], np.zeros((2, 0), int), x=node if spec.node.sizes else None,
        edge_attr=edge if spec.edge.sizes else None, spec=spec,
    )  # fmt: skip
