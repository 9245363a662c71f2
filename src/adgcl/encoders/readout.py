"""Readouts: node rows -> one row per graph."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from adgcl.graphs.batch import GraphBatch
from adgcl.graphs.ops import graph_max, graph_mean, graph_sum

READOUTS: dict[str, Callable[[Tensor, GraphBatch, int], Tensor]] = {
    "sum": graph_sum,
    "mean": graph_mean,
    "max": graph_max,
}
