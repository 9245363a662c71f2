"""From node rows to what the loss compares: readout and projection head, forward and backward."""

from __future__ import annotations

import numpy as np

from adgcl.compiled.products import NONE, YES, add_rows, add_transposed_product, product, transpose
from adgcl.compiled.rows import LANES, put_row, row, spread, whole
from adgcl.graphs.kernels.compiled import compiled


@compiled
def project(
    parameters: int, out: int, node_ptr: int, pooled: int, hidden: int, z: int, scratch: int, copies: int, count: int,
    graphs: int, width: int, layers: int, every: int, mean: int,
) -> None:  # fmt: skip
    """`z = W2 relu(W1 pooled + b1) + b2`, `pooled` being sums or means of the nodes of every graph of every copy.

    `out [layers, copies * count, width]` are the rows after each layer; the last is read out, or all side by side.
    Parameters are in the order W1, b1, W2, b2.
    """
    wide = width * layers if every else width
    for c in range(copies):
        for g in range(graphs):
            first, last = whole(node_ptr, g), whole(node_ptr, g + 1)
            share = np.float32(1 / max(last - first, 1) if mean else 1)
            for panel in range(0, wide, LANES):
                layer = panel // width if every else layers - 1
                rows = out + 4 * (layer * copies + c) * count * width
                some = spread(np.float32(0))
                for i in range(first, last):
                    some = some + row(rows, i * width + panel % width)
                put_row(pooled, (c * graphs + g) * wide + panel, some * spread(share))
    bias = parameters + 4 * wide * wide
    second = bias + 4 * wide
    transpose(parameters, scratch, wide, wide)
    product(pooled, scratch, hidden, copies * graphs, wide, wide, bias, YES, NONE)
    transpose(second, scratch, wide, wide)
    product(hidden, scratch, z, copies * graphs, wide, wide, second + 4 * wide * wide, NONE, NONE)


@compiled
def project_backward(
    parameters: int, grads: int, node_ptr: int, pooled: int, hidden: int, of_z: int, inner: int, of_pooled: int,
    copies: int, graphs: int, width: int, layers: int, every: int, mean: int,
) -> None:  # fmt: skip
    """What each node of a graph gets (`of_pooled`), and the gradients of the parameters, added to `grads` if not 0."""
    wide, rows = width * layers if every else width, copies * graphs
    bias = parameters + 4 * wide * wide
    second = bias + 4 * wide
    product(of_z, second, inner, rows, wide, wide, NONE, NONE, hidden)
    product(inner, parameters, of_pooled, rows, wide, wide, NONE, NONE, NONE)
    if grads:
        to_grads = grads - parameters
        add_transposed_product(of_z, hidden, second + to_grads, rows, wide, wide)
        add_rows(of_z, second + to_grads + 4 * wide * wide, rows, wide, wide)
        add_transposed_product(inner, pooled, grads, rows, wide, wide)
        add_rows(inner, bias + to_grads, rows, wide, wide)
    if mean:
        for k in range(rows):
            g = k % graphs
            share = spread(np.float32(1 / max(whole(node_ptr, g + 1) - whole(node_ptr, g), 1)))
            for panel in range(0, wide, LANES):
                put_row(of_pooled, k * wide + panel, row(of_pooled, k * wide + panel) * share)
