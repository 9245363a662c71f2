"""Graph statistics: sizes, degrees, label counts and Weisfeiler-Lehman subtrees, counted and not learned."""

from __future__ import annotations

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from adgcl.core.ranges import searched
from adgcl.graphs.kernels.structure import DEGREE_BINS, Counts, count_by_graph, degree_bins, wl_colours
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, MethodConfig
from adgcl.methods.unlearned import Unlearned

# A column with more categories than this is counted in as many bins, several categories sharing one.
_MAX_CATEGORIES = 512


class StatisticsConfig(MethodConfig):
    """Settings of the statistics; chosen on validation scores of MUTAG, PROTEINS, IMDB-BINARY and NCI1."""

    name: str = "statistics"
    iterations: int = Field(
        3,
        ge=0,
        le=16,
        description="rounds of Weisfeiler-Lehman; 0 leaves them out",
        json_schema_extra=searched(0, 5),
    )
    buckets: int = Field(
        32,
        ge=1,
        le=65536,
        description="bins into which the subtrees of one round are hashed",
        json_schema_extra=searched(choices=(16, 32, 64, 128, 256)),
    )
    log: bool = Field(True, description="take log(1 + count), so that large graphs do not dominate")


@METHODS.register("statistics")
class Statistics(Unlearned):
    """`[nodes, edges | degree histogram | label counts | WL subtree histogram | mean and std of real features]`.

    Subtrees are hashed, not numbered: a graph's row depends on that graph alone, so that new graphs need nothing
    from the old ones. The data settings decide which features count; with constant features only structure is left.
    """

    Config = StatisticsConfig
    title = "graph statistics"
    config: StatisticsConfig

    @property
    def width(self) -> int:
        reals = 2 * self.spec.node.num_dim
        return 2 + len(DEGREE_BINS) + sum(self._bins) + len(self._rounds) * self.config.buckets + reals

    @property
    def _bins(self) -> list[int]:
        """Bins of each column of categories."""
        return [min(size, _MAX_CATEGORIES) for size in self.spec.node.sizes]

    @property
    def _rounds(self) -> range:
        """The rounds to count; the first colours are the labels, which are new only if there are several."""
        return range(0 if len(self.spec.node.sizes) > 1 else 1, self.config.iterations + 1)

    @torch.no_grad()
    def embed(self, batch: GraphBatch) -> Tensor:
        here = batch.to(torch.device("cpu"))
        counts = np.concatenate([_sizes(here), *self._histograms(here)], axis=1)
        rows = np.log1p(counts) if self.config.log else counts
        if here.x_num is not None:
            rows = np.concatenate([rows, _moments(here)], axis=1)
        return torch.from_numpy(rows.astype(np.float32)).to(batch.device)

    def _histograms(self, batch: GraphBatch) -> list[Counts]:
        parts = [count_by_graph(batch, degree_bins(batch), len(DEGREE_BINS))]
        if batch.x is not None:
            columns = zip(batch.x.numpy().T, self._bins, strict=True)
            parts += [count_by_graph(batch, codes % bins, bins) for codes, bins in columns]
        colours = wl_colours(batch, self.config.iterations)
        buckets = self.config.buckets
        return parts + [count_by_graph(batch, colours[i] % np.uint64(buckets), buckets) for i in self._rounds]


def _sizes(batch: GraphBatch) -> Counts:
    return np.stack([batch.node_counts.numpy(), batch.edge_counts.numpy()], axis=1).astype(np.float64)


def _moments(batch: GraphBatch) -> Counts:
    """Mean and standard deviation of every real column over the nodes of each graph."""
    assert batch.x_num is not None
    owner, nodes = batch.batch.numpy(), batch.node_counts.numpy()[:, None]

    def mean(values: Counts) -> Counts:
        columns = [np.bincount(owner, column, batch.num_graphs) for column in values.T]
        return np.stack(columns, axis=1) / nodes

    values = batch.x_num.numpy().astype(np.float64)
    centre = mean(values)
    return np.concatenate([centre, np.sqrt(mean(np.square(values - centre[owner])))], axis=1)
