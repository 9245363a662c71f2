"""How large a universe is, counted by Burnside's lemma before anything is made, and whether memory holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import factorial, gcd, prod

from adgcl.core.errors import ConfigError
from adgcl.core.provenance import available_memory_gb

MOST_NODES = 7
_COUNTED = 12
# Bytes at the peak, measured: for each subset of a graph's edges while subsets are grouped, for each labelled graph
# and its share of the permutations, and for each pair of a graph and a class in the matrices of a solver.
_PER_SUBSET, _PER_LABELLED, _PER_PAIR = 64, 40, 64
_BYTES_PER_GB = 1 << 30


def check_size(nodes: int, num_colours: int = 1) -> None:
    """Refuse a universe that does not fit into memory, before any of it is made."""
    if nodes < 2 or num_colours < 1:
        raise ConfigError("A universe needs at least 2 nodes and 1 colour.", "Try --nodes 5.")
    if nodes > MOST_NODES:
        many = f" ({count_graphs(nodes, num_colours):,} graphs)" if nodes <= _COUNTED and num_colours == 1 else ""
        raise ConfigError(f"A universe of {nodes} nodes is too large{many}.", f"Use at most {MOST_NODES} nodes.")
    needed, free = needed_gb(nodes, num_colours), available_memory_gb()
    if free is None or needed <= free:
        return
    graphs = f"{nodes} nodes make {count_graphs(nodes, num_colours):,} graphs"
    colours = f" in {num_colours} colours" if num_colours > 1 else ""
    raise ConfigError(
        f"This universe is too large: {graphs}{colours}, which need about {needed:,.1f} GB; {free:.1f} GB are free.",
        "Use fewer nodes or fewer colours.",
    )


def needed_gb(nodes: int, num_colours: int = 1) -> float:
    """Memory for a universe and its solvers at their peak, roughly and rather too much."""
    graphs = count_graphs(nodes, num_colours)
    labelled = (1 << nodes * (nodes - 1) // 2) * num_colours**nodes
    subsets = _burnside(nodes, num_colours, 2)
    return (_PER_SUBSET * subsets + _PER_LABELLED * labelled + _PER_PAIR * graphs * graphs) / _BYTES_PER_GB


def count_graphs(nodes: int, num_colours: int = 1) -> int:
    """How many graphs there are up to isomorphism."""
    return _burnside(nodes, num_colours, 1)


def _burnside(nodes: int, num_colours: int, ways: int) -> int:
    """The sum over all graphs up to isomorphism of `ways` to the number of their edges.

    With 1 way it counts graphs, with 2 all subsets of their edges. A cycle of `length` edges is kept by a permutation
    if all its edges are in the graph (`ways^length`) or none are.
    """
    total = Fraction(0)
    for cycles in _partitions(nodes):
        within = [length for cycle in cycles for length in _edge_cycles_within(cycle)]
        between = [a * b // gcd(a, b) for a, b in combinations(cycles, 2) for _ in range(gcd(a, b))]
        kept = prod(1 + ways**length for length in within + between) * num_colours ** len(cycles)
        repeats = prod(length**count * factorial(count) for length, count in Counter(cycles).items())
        total += Fraction(kept, repeats)
    return int(total)


def _edge_cycles_within(cycle: int) -> list[int]:
    """The cycles of the edges between the nodes of one cycle: the diameters of an even cycle return halfway."""
    full = [cycle] * ((cycle - 1) // 2)
    return full if cycle % 2 else [*full, cycle // 2]


def _partitions(total: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """The ways to write a number as a sum: the cycle lengths of permutations."""
    if total == 0:
        yield ()
        return
    for first in range(min(total, largest or total), 0, -1):
        for rest in _partitions(total - first, first):
            yield (first, *rest)
