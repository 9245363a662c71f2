"""Generated graphs with planted redundant edges, which are known to be irrelevant to the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import ConfigError, UnknownNameError
from adgcl.core.schema import FeatureSpec, Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.entry import Entry
from adgcl.graphs.store.ranges import IntArray, offsets
from adgcl.graphs.store.store import pack

# Five nodes each, so that the number of nodes does not reveal the class.
MOTIF_NODES = 5
MOTIFS: dict[str, tuple[tuple[int, int], ...]] = {
    "cycle": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)),
    "house": ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)),
    "clique": tuple((i, j) for i in range(MOTIF_NODES) for j in range(i)),
    "star": ((0, 1), (0, 2), (0, 3), (0, 4)),
}


class Part(IntEnum):
    """What an edge belongs to: the motif, which is the class; the tree it hangs on; or neither."""

    MOTIF = 0
    TREE = 1
    PLANTED = 2


# The names of the generated sets.
TREES = "planted"
CHAINS = "planted-chains"
CHAIN_KINDS = 6

_ORIGIN = Origin("generated", source="adgcl.data.families.generated", licence="free of rights")


@dataclass(frozen=True)
class _Pairs:
    """Undirected edges of all graphs: the graph of each and its two end nodes, local to the graph."""

    graph: IntArray
    one: IntArray
    other: IntArray


def planted_graphs(
    num_graphs: int = 600,
    seed: int = 0,
    *,
    motifs: Sequence[str] = ("cycle", "house", "clique"),
    tree_nodes: tuple[int, int] = (10, 20),
    redundant: float = 0.5,
    kinds: int = 0,
) -> tuple[Dataset, npt.NDArray[np.int64]]:
    """Graphs whose class is the motif that hangs on a random tree, with random redundant edges added.

    There are up to `redundant` times as many planted edges as other ones; they join any two nodes that are
    not joined yet and not both in the motif. Returns the Dataset and, for each edge in the store's order, its Part.

    With `kinds`, the tree is a chain along which so many kinds of nodes take turns, and the motif's nodes have a kind
    of their own. Graphs then differ only in the length of the chain, the motif and the planted edges, whereas a random
    tree tells a graph from the others as well as what is planted on it.
    """
    _check(num_graphs, motifs, tree_nodes, redundant, kinds)
    rng = np.random.default_rng(seed)
    label = rng.permutation(np.arange(num_graphs) % len(motifs))
    tree = rng.integers(tree_nodes[0], tree_nodes[1] + 1, num_graphs)
    nodes = tree + MOTIF_NODES
    motif, branches = _motif_pairs(label, motifs), _chain_pairs(tree) if kinds else _tree_pairs(tree, rng)
    own = _joined(motif, branches)
    planted = _redundant_pairs(own, nodes, redundant, rng)
    number = _shuffled_numbers(nodes, rng)
    pairs = _renumbered(_joined(own, planted), nodes, number)
    part = np.repeat(list(Part), [len(motif.graph), len(branches.graph), len(planted.graph)])

    order = np.argsort(np.tile(pairs.graph, 2), kind="stable")
    store = pack(
        nodes,
        np.bincount(pairs.graph, minlength=num_graphs) * 2,
        (np.concatenate((pairs.one, pairs.other))[order], np.concatenate((pairs.other, pairs.one))[order]),
        x=_kinds(nodes, number, kinds) if kinds else None,
        edge_attr=np.tile(part, 2)[order],
        y=label,
        task=Task("multiclass", num_classes=len(motifs), names=tuple(motifs)),
    )
    parts = np.asarray(store.edge_attr)[:, 0].astype(np.int64)
    spec = FeatureSpec(node=store.spec.node, name="own") if kinds else FeatureSpec(name="constant")
    store = replace(store, edge_attr=None, spec=spec)
    note = f"{num_graphs} graphs, seed {seed}, motifs {', '.join(motifs)}, redundant {redundant:g}"
    name, note = (CHAINS, f"{note}, {kinds} kinds of nodes") if kinds else (TREES, note)
    return Dataset(name, store, replace(_ORIGIN, note=note)), parts


def entries() -> tuple[Entry, ...]:
    """The generated sets, which need no files."""
    task = Task("multiclass", num_classes=3)
    trees = "trees with a motif that decides the class, and planted redundant edges"
    chains = "chains of a few kinds of nodes with a motif that decides the class, and planted redundant edges"
    return (
        Entry(TREES, trees, task, _ORIGIN, lambda folder: planted_graphs()[0]),
        Entry(CHAINS, chains, task, _ORIGIN, lambda folder: planted_graphs(kinds=CHAIN_KINDS)[0]),
    )


def _check(num_graphs: int, motifs: Sequence[str], tree_nodes: tuple[int, int], redundant: float, kinds: int) -> None:
    for motif in motifs:
        if motif not in MOTIFS:
            raise UnknownNameError("motif", motif, MOTIFS)
    if num_graphs < 1 or not motifs or len(set(motifs)) != len(motifs):
        raise ConfigError("Generated graphs need at least one graph and one or more different motifs.")
    if not 1 <= tree_nodes[0] <= tree_nodes[1]:
        raise ConfigError(f"The tree sizes {tree_nodes} are not a range.", "Give for example (10, 20).")
    if not 0 <= redundant <= 1:
        raise ConfigError(f"The share of redundant edges is {redundant}.", "It must be between 0 and 1.")
    if kinds < 0:
        raise ConfigError(f"There cannot be {kinds} kinds of nodes.", "Give 0 for nodes that are all alike.")


def _motif_pairs(label: IntArray, motifs: Sequence[str]) -> _Pairs:
    """The edges of each graph's motif, on its first nodes."""
    sizes = np.array([len(MOTIFS[motif]) for motif in motifs])
    edges = np.array([edge for motif in motifs for edge in MOTIFS[motif]])
    graph = np.repeat(np.arange(len(label)), sizes[label])
    place = np.arange(len(graph)) - np.repeat(offsets(sizes[label])[:-1], sizes[label])
    chosen = edges[offsets(sizes)[:-1][label[graph]] + place]
    return _Pairs(graph, chosen[:, 0], chosen[:, 1])


def _tree_pairs(sizes: IntArray, rng: np.random.Generator) -> _Pairs:
    """A random tree of `sizes` nodes on each motif: every node is attached to a random earlier one."""
    graph = np.repeat(np.arange(len(sizes)), sizes)
    node = MOTIF_NODES + np.arange(len(graph)) - np.repeat(offsets(sizes)[:-1], sizes)
    return _Pairs(graph, node, _random_below(node, rng))


def _chain_pairs(sizes: IntArray) -> _Pairs:
    """A chain of `sizes` nodes on the last node of each motif."""
    graph = np.repeat(np.arange(len(sizes)), sizes)
    node = MOTIF_NODES + np.arange(len(graph)) - np.repeat(offsets(sizes)[:-1], sizes)
    return _Pairs(graph, node, node - 1)


def _redundant_pairs(own: _Pairs, nodes: IntArray, redundant: float, rng: np.random.Generator) -> _Pairs:
    """New edges, at most `redundant` times the own ones of each graph.

    Many more are drawn than needed; each graph keeps the first of its draws that are new.
    """
    wanted = np.rint(redundant * np.bincount(own.graph, minlength=len(nodes))).astype(np.int64)
    graph = np.repeat(np.arange(len(nodes)), wanted * 8)
    high = MOTIF_NODES + _random_below(nodes[graph] - MOTIF_NODES, rng)  # a node outside the motif
    low = _random_below(nodes[graph], rng)
    drawn = _Pairs(graph, high, low)
    key = _key(drawn, nodes)
    new = ~np.isin(key, _key(own, nodes)) & (high != low)
    first = np.zeros(len(key), dtype=bool)
    first[np.unique(key, return_index=True)[1]] = True
    usable = np.flatnonzero(new & first)
    counts = np.bincount(graph[usable], minlength=len(nodes))
    rank = np.arange(len(usable)) - np.repeat(offsets(counts)[:-1], counts)
    kept = usable[rank < wanted[graph[usable]]]
    return _Pairs(graph[kept], high[kept], low[kept])


def _shuffled_numbers(nodes: IntArray, rng: np.random.Generator) -> IntArray:
    """New numbers for the nodes of each graph, so that numbers reveal nothing."""
    graph = np.repeat(np.arange(len(nodes)), nodes)
    number = np.empty(len(graph), dtype=np.int64)
    number[np.lexsort((rng.random(len(graph)), graph))] = np.arange(len(graph)) - offsets(nodes)[:-1][graph]
    return number


def _renumbered(pairs: _Pairs, nodes: IntArray, number: IntArray) -> _Pairs:
    start = offsets(nodes)[:-1][pairs.graph]
    return _Pairs(pairs.graph, number[start + pairs.one], number[start + pairs.other])


def _kinds(nodes: IntArray, number: IntArray, kinds: int) -> IntArray:
    """The kind of each renumbered node: 0 in the motif, 1 to `kinds` in turn along the chain."""
    start = np.repeat(offsets(nodes)[:-1], nodes)
    along = np.arange(len(start)) - start - MOTIF_NODES
    found = np.empty_like(number)
    found[start + number] = np.where(along < 0, 0, along % kinds + 1)
    return found[:, None]


def _random_below(limit: IntArray, rng: np.random.Generator) -> IntArray:
    return (rng.random(len(limit)) * limit).astype(np.int64)


def _key(pairs: _Pairs, nodes: IntArray) -> IntArray:
    """One number for each undirected edge of each graph."""
    low, high = np.minimum(pairs.one, pairs.other), np.maximum(pairs.one, pairs.other)
    width = int(nodes.max())
    return (pairs.graph * width + low) * width + high


def _joined(first: _Pairs, second: _Pairs) -> _Pairs:
    return _Pairs(
        np.concatenate((first.graph, second.graph)),
        np.concatenate((first.one, second.one)),
        np.concatenate((first.other, second.other)),
    )
