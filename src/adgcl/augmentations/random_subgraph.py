"""Fixed augmentation: the part of a graph that a random walk discovers."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.augmentations.random_base import FIXED, RandomAugmentation, share, smallest, whole_numbers
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View


@FIXED.register("random_subgraph")
class RandomSubgraph(RandomAugmentation):
    """Start at a random node; keep adding a random neighbour of the nodes so far, up to `floor(ratio * N) + 1` nodes.

    All graphs grow at once, without a loop over nodes. Each node has an exponential clock that starts when its first
    neighbour is added; the node is added when the clock rings. Exponential clocks are memoryless, so the next to ring
    is any of the neighbours with equal probability. The order of discovery is therefore that of the arrival times
    `t_v = clock_v + min over neighbours u of t_u`, a shortest path.

    `star_subgraph` repeats the fault in GraphCL's, JOAO's and AD-GCL's code, which never visits the neighbours of later
    nodes.

    Deviation: the authors' code gives up after N draws, counting draws of nodes it already has; ours does not.
    """

    def view(self, batch: GraphBatch, chosen: Tensor, generator: torch.Generator) -> View:
        counts = share(batch.node_counts, self.config.subgraph_ratio, chosen) + 1
        counts = torch.minimum(counts, batch.node_counts)
        # The shortest path to one of the first k nodes only passes through others of them: it has fewer than k edges.
        rounds = 1 if self.config.star_subgraph else int((counts * chosen).max()) - 1
        arrival = _arrival_times(batch, rounds, generator)
        # The bits of positive floats, read as integers, sort in the same order.
        found = smallest(arrival.view(torch.int32), batch.batch, counts) & arrival.isfinite()
        return View(node_keep=(found | ~rows(chosen, batch.batch)).float())


def _arrival_times(batch: GraphBatch, rounds: int, generator: torch.Generator) -> Tensor:
    """When each node is discovered from a random first node of its graph; never, if all paths exceed `rounds` edges."""
    place = batch.drawn("graphs", lambda count: whole_numbers(count, generator))
    start = batch.node_ptr[:-1] + place % batch.node_counts
    clock = batch.drawn(
        "nodes", lambda count: torch.empty(count, device=batch.device).exponential_(generator=generator)
    )
    never = torch.full_like(clock, torch.inf)
    arrival = never.index_fill(0, start, 0.0)
    for _ in range(rounds):
        through = never.scatter_reduce(0, batch.target, rows(arrival, batch.col), "amin")
        sooner = torch.minimum(arrival, clock + through)
        if torch.equal(sooner, arrival):
            break
        arrival = sooner
    return arrival
