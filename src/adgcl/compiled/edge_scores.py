"""The edge scores of an augmenter, forward and backward; see `graphs/kernels/edge_scores.py` for what they are."""

from __future__ import annotations

import numpy as np

from adgcl.compiled.products import NONE, TILE, add_rows, add_transposed_product, product, transpose
from adgcl.compiled.rows import LANES, number, put_number, put_row, row, spread, total, where_above, whole
from adgcl.graphs.kernels.compiled import compiled


@compiled
def score_edges(
    parameters: int, x: int, crow: int, col: int, shares: int, scores: int, scratch: int, count: int, width: int,
    inner: int,
) -> None:  # fmt: skip
    """`score . relu(W [x_source(e), x_target(e)] + bias) + score_bias` for every edge e.

    Parameters are in the order W `[2 * inner, width]`, bias, score, score_bias. `shares [count, 2 * inner]` become
    the two parts of W x, as a source and as a target.
    """
    bias = parameters + 8 * inner * width
    score = bias + 4 * inner
    score_bias = number(score, inner)
    flipped, start = scratch, scratch + 8 * inner * width
    transpose(parameters, flipped, 2 * inner, width)
    for panel in range(0, inner, LANES):
        put_row(start, panel, spread(np.float32(0)))
        put_row(start, inner + panel, row(bias, panel))
    product(x, flipped, shares, count, width, 2 * inner, start, NONE, NONE)
    for i in range(count):
        for e in range(whole(crow, i), whole(crow, i + 1)):
            products = spread(np.float32(0))
            source, target = whole(col, e) * 2 * inner, i * 2 * inner + inner
            for panel in range(0, inner, LANES):
                hidden = row(shares, source + panel) + row(shares, target + panel)
                products = products + where_above(hidden, hidden) * row(score, panel)
            put_number(scores, e, total(products) + score_bias)


@compiled
def score_edges_backward(
    parameters: int, grads: int, x: int, crow: int, col: int, shares: int, of_scores: int, passed: int, of_x: int,
    count: int, width: int, inner: int,
) -> None:  # fmt: skip
    """The gradients of the parameters, added to `grads`, and of `x`; `passed` has the size of `shares`."""
    double = 2 * inner
    to_grads = grads - parameters
    bias = parameters + 4 * double * width
    score = bias + 4 * inner
    of_bias, of_score = bias + to_grads, score + to_grads
    slopes = 0.0
    for i in range(count):
        for panel in range(0, double, LANES):
            put_row(passed, i * double + panel, spread(np.float32(0)))
        for e in range(whole(crow, i), whole(crow, i + 1)):
            slopes += number(of_scores, e)
    put_number(of_score, inner, number(of_score, inner) + np.float32(slopes))
    for panel in range(0, inner, LANES):
        for i in range(count):
            as_target = through_score = spread(np.float32(0))
            target = row(shares, i * double + inner + panel)
            for e in range(whole(crow, i), whole(crow, i + 1)):
                source = whole(col, e) * double + panel
                hidden = row(shares, source) + target
                slope = where_above(hidden, spread(number(of_scores, e)))
                through_score = through_score + slope * hidden
                as_target = as_target + slope
                put_row(passed, source, row(passed, source) + slope)
            put_row(passed, i * double + inner + panel, as_target)
            put_row(of_score, panel, row(of_score, panel) + through_score)
    for start in range(0, count, TILE):
        rows = min(TILE, count - start)
        tile = passed + 4 * start * double
        for panel in range(0, inner, LANES):
            weight = row(score, panel)
            for i in range(rows):
                place = i * double + panel
                put_row(tile, place, row(tile, place) * weight)
                put_row(tile, place + inner, row(tile, place + inner) * weight)
        add_rows(tile + 4 * inner, of_bias, rows, inner, double)
        add_transposed_product(tile, x + 4 * start * width, grads, rows, double, width)
        product(tile, parameters, of_x + 4 * start * width, rows, double, width, NONE, NONE, NONE)
