"""GIN's layers for all copies of a batch, forward: neighbour sums, two products, normalisation, relu.

A layer goes through the rows of nodes tile by tile. Everything the backward pass needs is written where `Notes` says.
"""

from __future__ import annotations

import numpy as np

from adgcl.compiled.products import NONE, TILE, YES, product, transpose
from adgcl.compiled.rows import LANES, number, part, plus_times, put_number, put_row, row, spread, where_above, whole
from adgcl.graphs.kernels.compiled import compiled


@part
def layer_size(inputs: int, width: int) -> int:
    """How many parameters a layer has: first weight and bias, second weight, gamma, beta, in this order."""
    return inputs * width + width * width + 3 * width


@part
def layer_at(parameters: int, i: int, inputs: int, width: int) -> int:
    """Where the parameters of layer `i` begin; only the first has other inputs than `width`."""
    before = layer_size(inputs, width) + (i - 1) * layer_size(width, width) if i else 0
    return parameters + 4 * before


@part
def _neighbour_sums(x: int, crow: int, col: int, keep: int, first: int, last: int, width: int, out: int) -> None:
    """`x_i + sum over edges e into i of keep_e x_source(e)`, i from `first` to `last`; `out` begins at `first`."""
    for i in range(first, last):
        for panel in range(0, width - LANES + 1, LANES):
            total = row(x, i * width + panel)
            for e in range(whole(crow, i), whole(crow, i + 1)):
                weight = number(keep, e) if keep else np.float32(1)
                total = plus_times(weight, row(x, whole(col, e) * width + panel), total)
            put_row(out, (i - first) * width + panel, total)
        for j in range(width // LANES * LANES, width):
            single = number(x, i * width + j)
            for e in range(whole(crow, i), whole(crow, i + 1)):
                weight = number(keep, e) if keep else np.float32(1)
                single += weight * number(x, whole(col, e) * width + j)
            put_number(out, (i - first) * width + j, single)


@part
def _add_statistics(x: int, rows: int, before: int, width: int, stats: int) -> None:
    """Let `stats`, the means of the columns and their sums of squared deviations, count `rows` more than `before`.

    Tile by tile, while they are in the nearest cache. Deviations are taken from the tile's own mean and sums are short,
    so 32 bits lose no digits.
    """
    added = np.float32(rows / (before + rows))
    for panel in range(0, width, LANES):
        mean = spread(np.float32(0))
        for i in range(rows):
            mean = mean + row(x, i * width + panel)
        mean = mean * spread(np.float32(1 / rows))
        square = spread(np.float32(0))
        for i in range(rows):
            centred = row(x, i * width + panel) - mean
            square = square + centred * centred
        if before:
            so_far = row(stats, panel)
            apart = mean - so_far
            mean = so_far + apart * spread(added)
            square = square + row(stats, width + panel) + apart * apart * spread(np.float32(before) * added)
        put_row(stats, panel, mean)
        put_row(stats, width + panel, square)


@part
def _finish_statistics(count: int, width: int, stats: int, running: int, eps: float, momentum: float) -> None:
    """Turn sums of squares into inverse deviations; the running mean and variance move towards these statistics."""
    for j in range(width):
        mean_j, square_j = number(stats, j), number(stats, width + j)
        put_number(stats, width + j, np.float32(1 / np.sqrt(square_j / count + eps)))
        before = number(running, j)
        put_number(running, j, np.float32(before + momentum * (mean_j - before)))
        before = number(running, width + j)
        put_number(running, width + j, np.float32(before + momentum * (square_j / (count - 1) - before)))


@part
def _normalise(x: int, out: int, count: int, width: int, stats: int, gamma: int, beta: int, relu: int) -> None:
    for panel in range(0, width, LANES):
        scale = row(gamma, panel) * row(stats, width + panel)
        mean, shift = row(stats, panel), row(beta, panel)
        for i in range(count):
            value = (row(x, i * width + panel) - mean) * scale + shift
            put_row(out, i * width + panel, where_above(value, value) if relu else value)


@compiled
def gin_forward(
    parameters: int, running: int, x: int, crow: int, col: int, keep: int, sums: int, hidden: int, before: int,
    out: int, stats: int, scratch: int, copies: int, count: int, inputs: int, width: int, layers: int, own: int,
    eps: float, momentum: float,
) -> None:  # fmt: skip
    """`h <- relu(norm(W2 relu(W1 (h + A h) + b1)))`, layer after layer, no relu after the last.

    `x [count, inputs]` goes in for every copy; `keep` weighs the edges of the last. With `own` every copy is normalised
    by its own statistics and moves the running ones, else by the running ones. For every layer `sums`, `hidden`,
    `before` and `out` are `[copies * count, width]`, but the sums of the first layer have `inputs` columns, and `stats`
    are mean and inverse deviation `[copies, 2, width]`. `scratch` holds two transposed weights.
    """
    area = 4 * copies * count * width
    for i in range(layers):
        wide = width if i else inputs
        first = layer_at(parameters, i, inputs, width)
        bias = first + 4 * wide * width
        second = bias + 4 * width
        gamma = second + 4 * width * width
        beta = gamma + 4 * width
        flipped, second_flipped = scratch, scratch + 4 * wide * width
        transpose(first, flipped, width, wide)
        transpose(second, second_flipped, width, width)
        layer_sums = sums + (4 * copies * count * inputs + (i - 1) * area if i else 0)
        for c in range(copies):
            source = out + (i - 1) * area + 4 * c * count * width if i else x
            rows_sums, rest = layer_sums + 4 * c * count * wide, i * area + 4 * c * count * width
            statistics = stats + 4 * (i * copies + c) * 2 * width
            moving = running + 8 * i * width
            weights = keep if c == copies - 1 else 0
            relu = 1 if i < layers - 1 else 0
            if not own:
                for j in range(width):
                    put_number(statistics, j, number(moving, j))
                    put_number(statistics, width + j, np.float32(1 / np.sqrt(number(moving, width + j) + eps)))
            for start in range(0, count, TILE):
                end = min(start + TILE, count)
                tile_sums, tile = rows_sums + 4 * start * wide, rest + 4 * start * width
                _neighbour_sums(source, crow, col, weights, start, end, wide, tile_sums)
                product(tile_sums, flipped, hidden + tile, end - start, wide, width, bias, YES, NONE)
                product(hidden + tile, second_flipped, before + tile, end - start, width, width, NONE, NONE, NONE)
                if own:
                    _add_statistics(before + tile, end - start, start, width, statistics)
                else:
                    _normalise(before + tile, out + tile, end - start, width, statistics, gamma, beta, relu)
            if own:
                _finish_statistics(count, width, statistics, moving, eps, momentum)
                _normalise(before + rest, out + rest, count, width, statistics, gamma, beta, relu)
