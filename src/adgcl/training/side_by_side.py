"""Batches side by side: what a trained network computes for many graphs, a core for each of several batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import torch

from adgcl.core.progress import Count
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.store import GraphStore
from adgcl.training.device import one_thread

Result = TypeVar("Result")
_Span = tuple[int, int]
# Batches at a time: each takes some hundred megabytes.
_MOST = 16


def side_by_side(
    compute: Callable[[GraphBatch], Result],
    store: GraphStore,
    batch_size: int,
    device: torch.device,
    progress: Count | None = None,
    max_nodes: int | None = None,
) -> Iterator[Result]:
    """`compute(batch)`, without gradients, for one batch of the store after another.

    Without a GPU, a core for each of several batches is faster than all cores for one, most of whose steps use a
    single core. A batch ends before it has more than `max_nodes` nodes, unless they are those of a single graph.
    """

    def of_span(span: _Span) -> Result:
        with torch.no_grad():
            return compute(store.batch(np.arange(*span)).to(device))

    spans = list(_spans(store, batch_size, max_nodes))
    threads = min(torch.get_num_threads(), len(spans), _MOST) if device.type == "cpu" else 1
    for (_, stop), result in zip(spans, _mapped(of_span, spans, threads), strict=True):
        yield result
        if progress is not None:
            progress(stop, len(store))


def _mapped(of_span: Callable[[_Span], Result], spans: list[_Span], threads: int) -> Iterator[Result]:
    if threads <= 1:
        yield from map(of_span, spans)
        return
    with one_thread():
        pool = ThreadPoolExecutor(threads)
        try:
            yield from pool.map(of_span, spans)
        finally:
            pool.shutdown(cancel_futures=True)  # After Ctrl-C or an error the rest is of no use.


def _spans(store: GraphStore, size: int, max_nodes: int | None) -> Iterator[_Span]:
    start = 0
    while start < len(store):
        stop = min(start + size, len(store))
        if max_nodes is not None:
            fitting = int(np.searchsorted(store.node_ptr, store.node_ptr[start] + max_nodes, "right")) - 1
            stop = min(stop, max(fitting, start + 1))
        yield start, stop
        start = stop
