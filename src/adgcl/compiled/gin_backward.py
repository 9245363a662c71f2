"""GIN's layers backward, for all copies of a batch or the last alone, with or without gradients of the parameters."""

from __future__ import annotations

import numpy as np

from adgcl.compiled.gin import layer_at
from adgcl.compiled.products import NONE, TILE, add_rows, add_transposed_product, product, transpose
from adgcl.compiled.rows import (
    LANES,
    number,
    part,
    plus_times,
    put_number,
    put_row,
    row,
    spread,
    total,
    where_above,
    whole,
)
from adgcl.graphs.kernels.compiled import compiled


@part
def _collect(
    grad: int, given: int, of_graphs: int, graph_width: int, owner: int, out: int, before: int, count: int, width: int,
    stats: int, pulls: int,
) -> None:  # fmt: skip
    """Add what graphs pass to their nodes, go back through the relu, and sum what the statistics pull.

    `pulls` becomes the sums of the gradient and of its product with the centred rows. `out` is 0 without a relu.
    """
    for panel in range(0, width, LANES):
        mean = row(stats, panel)
        by_beta = by_gamma = spread(np.float32(0))
        for first in range(0, count, TILE):
            some_beta = some_gamma = spread(np.float32(0))
            for i in range(first, min(first + TILE, count)):
                place = i * width + panel
                value = row(grad, place) if given else spread(np.float32(0))
                if of_graphs:
                    value = value + row(of_graphs, whole(owner, i) * graph_width + panel)
                if out:
                    value = where_above(row(out, place), value)
                put_row(grad, place, value)
                some_beta = some_beta + value
                some_gamma = some_gamma + value * (row(before, place) - mean)
            by_beta, by_gamma = by_beta + some_beta, by_gamma + some_gamma
        put_row(pulls, panel, by_beta)
        put_row(pulls, width + panel, by_gamma)


@part
def _unnormalise(
    grad: int, before: int, count: int, width: int, stats: int, gamma: int, pulls: int, share: float
) -> None:
    """Back through the normalisation, in place; `share` of the pulls falls on a row, 0 where statistics are fixed."""
    for panel in range(0, width, LANES):
        mean, inverse = row(stats, panel), row(stats, width + panel)
        scale = row(gamma, panel) * inverse
        part = spread(np.float32(share))
        by_beta, by_gamma = row(pulls, panel) * part, row(pulls, width + panel) * part * inverse * inverse
        for i in range(count):
            place = i * width + panel
            value = row(grad, place)
            if share:
                value = value - by_beta - by_gamma * (row(before, place) - mean)
            put_row(grad, place, value * scale)


@part
def _to_sources(at_sums: int, crow: int, col: int, position: int, keep: int, count: int, width: int, grad: int) -> None:
    """`grad = (I + A^T) at_sums`: rows of the transpose, whose entry k is edge `position[k]`."""
    for i in range(count):
        for panel in range(0, width, LANES):
            value = row(at_sums, i * width + panel)
            for k in range(whole(crow, i), whole(crow, i + 1)):
                weight = number(keep, whole(position, k)) if keep else np.float32(1)
                value = plus_times(weight, row(at_sums, whole(col, k) * width + panel), value)
            put_row(grad, i * width + panel, value)


@part
def _add_dots(at_sums: int, x: int, crow: int, col: int, count: int, width: int, of_keep: int) -> None:
    """`of_keep_e += <at_sums_target(e), x_source(e)>`."""
    for i in range(count):
        for e in range(whole(crow, i), whole(crow, i + 1)):
            dots = spread(np.float32(0))
            for panel in range(0, width, LANES):
                dots = dots + row(at_sums, i * width + panel) * row(x, whole(col, e) * width + panel)
            put_number(of_keep, e, number(of_keep, e) + total(dots))


@compiled
def gin_backward(
    parameters: int, grads: int, x: int, crow: int, col: int, back_crow: int, back_col: int, position: int, owner: int,
    keep: int, of_keep: int, of_graphs: int, every: int, sums: int, hidden: int, before: int, out: int, stats: int,
    grad: int, inner: int, at_sums: int, scratch: int, first_copy: int, copies: int, count: int, graphs: int,
    inputs: int, width: int, layers: int, own: int,
) -> None:  # fmt: skip
    """The gradients of the parameters (added to `grads`, if it is not 0) and of the last copy's `keep` (to `of_keep`).

    What comes in is `of_graphs [copies * graphs, D]`, a graph's gradient for each of its nodes, for the last layer or
    (`every`) for all of them side by side; or, where `of_graphs` is 0, the gradient of the last rows in `grad`. `grad`,
    `inner` and `at_sums` are `[copies * count, width]`. Copies before `first_copy` are left out.
    """
    area = 4 * copies * count * width
    graph_width = width * layers if every else width
    pulls = scratch
    flipped = pulls + 8 * width
    for i in range(layers - 1, -1, -1):
        wide = width if i else inputs
        first = layer_at(parameters, i, inputs, width)
        bias = first + 4 * wide * width
        second = bias + 4 * width
        gamma = second + 4 * width * width
        to_grads = grads - parameters
        layer_sums = sums + (4 * copies * count * inputs + (i - 1) * area if i else 0)
        for c in range(first_copy, copies):
            mine, rest = 4 * c * count * width, i * area + 4 * c * count * width
            statistics = stats + 4 * (i * copies + c) * 2 * width
            incoming = 0
            if of_graphs and (every or i == layers - 1):
                incoming = of_graphs + 4 * (c * graphs * graph_width + (i * width if every else 0))
            _collect(
                grad + mine, 1 if i < layers - 1 or not of_graphs else 0, incoming, graph_width, owner,
                out + rest if i < layers - 1 else 0, before + rest, count, width, statistics, pulls,
            )  # fmt: skip
            if grads:
                of_gamma = gamma + to_grads
                of_beta = of_gamma + 4 * width
                for panel in range(0, width, LANES):
                    along = row(pulls, width + panel) * row(statistics, width + panel)
                    put_row(of_gamma, panel, row(of_gamma, panel) + along)
                    put_row(of_beta, panel, row(of_beta, panel) + row(pulls, panel))
            share = 1 / count if own else 0.0
            weights = keep if c == copies - 1 else 0
            wanted = of_keep if c == copies - 1 else 0
            if i == 0 and grads:
                for k in range(inputs * width):
                    put_number(flipped, k, np.float32(0))
            for start in range(0, count, TILE):
                rows = min(TILE, count - start)
                tile, here = rest + 4 * start * width, mine + 4 * start * width
                tile_sums = layer_sums + 4 * (c * count + start) * wide
                _unnormalise(grad + here, before + tile, rows, width, statistics, gamma, pulls, share)
                product(grad + here, second, inner + here, rows, width, width, NONE, NONE, hidden + tile)
                if grads:
                    add_transposed_product(grad + here, hidden + tile, second + to_grads, rows, width, width)
                    add_rows(inner + here, bias + to_grads, rows, width, width)
                    if i:
                        add_transposed_product(inner + here, tile_sums, first + to_grads, rows, width, width)
                    else:
                        add_transposed_product(tile_sums, inner + here, flipped, rows, inputs, width)
                if i:
                    product(inner + here, first, at_sums + here, rows, width, width, NONE, NONE, NONE)
            if i:
                if wanted:
                    _add_dots(at_sums + mine, out + rest - area, crow, col, count, width, wanted)
                _to_sources(at_sums + mine, back_crow, back_col, position, weights, count, width, grad + mine)
            elif grads:
                for k in range(inputs):
                    for j in range(width):
                        place = first + to_grads
                        put_number(
                            place, j * inputs + k, number(place, j * inputs + k) + number(flipped, k * width + j)
                        )
            if wanted and i == 0:
                # <W1^T g, x> = <g, W1 x>: the second has rows of `width`, whatever the inputs are.
                transpose(first, flipped, width, inputs)
                product(x, flipped, at_sums + mine, count, inputs, width, NONE, NONE, NONE)
                _add_dots(inner + mine, at_sums + mine, crow, col, count, width, wanted)
