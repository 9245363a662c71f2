"""Rings: which bonds lie on a cycle, for all graphs at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.graphs.kernels.compiled import compiled
from adgcl.graphs.store.store import GraphStore
from adgcl.insight.bonds import Bonds


def in_ring(store: GraphStore, bonds: Bonds) -> npt.NDArray[np.bool_]:
    """Whether each bond lies on a cycle: whether its ends are still connected without it.

    Edges of directed graphs count in both directions.
    """
    ends = np.concatenate([bonds.one, bonds.other]) + np.tile(store.node_ptr[bonds.graph], 2)
    others = np.concatenate([bonds.other, bonds.one]) + np.tile(store.node_ptr[bonds.graph], 2)
    order = np.argsort(ends, kind="stable")
    start = np.zeros(store.num_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends, minlength=store.num_nodes), out=start[1:])
    number = np.tile(np.arange(len(bonds)), 2)[order]
    bridge = np.zeros(len(bonds), dtype=np.bool_)
    _find_bridges(start, others[order], number, bridge)
    return ~bridge


@compiled
def _find_bridges(start: Any, neighbour: Any, bond: Any, bridge: Any) -> None:
    """Tarjan's depth-first search with a stack of its own: a bond is a bridge if nothing below it leads back above."""
    count = len(start) - 1
    seen, low = np.zeros(count, np.int64), np.zeros(count, np.int64)
    entered, place = np.full(count, -1), start[:-1].copy()
    stack = np.empty(count, np.int64)
    clock = 0
    for root in range(count):
        if seen[root]:
            continue
        clock += 1
        seen[root] = low[root] = clock
        stack[0], depth = root, 1
        while depth:
            node = stack[depth - 1]
            if place[node] < start[node + 1]:
                edge = place[node]
                place[node] += 1
                other = neighbour[edge]
                if bond[edge] == entered[node]:
                    continue
                if seen[other]:
                    low[node] = min(low[node], seen[other])
                else:
                    clock += 1
                    seen[other] = low[other] = clock
                    entered[other] = bond[edge]
                    stack[depth] = other
                    depth += 1
            else:
                depth -= 1
                if depth:
                    above = stack[depth - 1]
                    low[above] = min(low[above], low[node])
                    if low[node] > seen[above]:
                        bridge[entered[node]] = True
