"""Small graphs of every awkward kind, and slow obvious versions of what the package does fast."""

from __future__ import annotations

import numpy as np
import torch

from adgcl.core.schema import Features, FeatureSpec, Task
from adgcl.graphs.store.store import GraphStore, pack


def random_store(
    num_graphs: int = 12,
    seed: int = 0,
    *,
    directed: bool = False,
    node_sizes: tuple[int, ...] = (),
    edge_sizes: tuple[int, ...] = (),
    num_dim: int = 0,
    edgeless: bool = True,
    classes: int = 2,
) -> GraphStore:
    """Random graphs with self-loops, duplicate edges, isolated nodes and (unless switched off) an edgeless graph."""
    rng = np.random.default_rng(seed)
    nodes = rng.integers(1, 9, num_graphs)
    nodes[0] = 6
    sources, targets, edge_counts = [], [], []
    for i, n in enumerate(nodes):
        m = 0 if edgeless and i == 1 else int(rng.integers(1, 8))
        s, t = rng.integers(0, n, m), rng.integers(0, n, m)
        if not directed:
            s, t = np.r_[s, t], np.r_[t, s]
        sources.append(s)
        targets.append(t)
        edge_counts.append(len(s))
    n_all, e_all = int(nodes.sum()), int(sum(edge_counts))
    return pack(
        nodes,
        edge_counts,
        np.stack([np.concatenate(sources), np.concatenate(targets)]),
        x=np.stack([rng.integers(0, s, n_all) for s in node_sizes], 1) if node_sizes else None,
        x_num=rng.normal(size=(n_all, num_dim)) if num_dim else None,
        edge_attr=np.stack([rng.integers(0, s, e_all) for s in edge_sizes], 1) if edge_sizes else None,
        y=rng.integers(0, classes, num_graphs),
        spec=FeatureSpec(Features(node_sizes, num_dim), Features(edge_sizes)),
        task=Task("multiclass", num_classes=classes),
    )


def slow_neighbour_sum(x: torch.Tensor, edge_index: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """One edge at a time."""
    rows = [torch.zeros_like(x[0]) for _ in range(len(x))]
    for (source, target), w in zip(edge_index.t().tolist(), weight):
        rows[target] = rows[target] + w * x[source]
    return torch.stack(rows)


def distinct_store(node_sizes: tuple[int, ...] = (), edge_sizes: tuple[int, ...] = ()) -> GraphStore:
    """Eight wheels of different sizes: easy to tell apart, whatever is dropped."""
    nodes = np.arange(5, 21, 2)
    edges = []
    for n in nodes:
        rim = np.arange(1, n)
        spokes = np.stack([np.zeros_like(rim), rim])
        edges.append(np.concatenate([spokes, np.stack([rim, np.roll(rim, 1)])], axis=1))
    edge_index = np.concatenate([np.concatenate([e, e[::-1]], axis=1) for e in edges], axis=1)
    counts = [2 * e.shape[1] for e in edges]
    rng = np.random.default_rng(0)
    return pack(
        nodes,
        counts,
        edge_index,
        x=np.stack([rng.integers(0, s, nodes.sum()) for s in node_sizes], 1) if node_sizes else None,
        edge_attr=np.stack([rng.integers(0, s, sum(counts)) for s in edge_sizes], 1) if edge_sizes else None,
        y=np.arange(8) % 2,
        spec=FeatureSpec(Features(node_sizes), Features(edge_sizes)),
        task=Task("multiclass", num_classes=2),
    )
