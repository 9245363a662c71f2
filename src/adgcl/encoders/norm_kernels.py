"""Batch normalisation and relu in one pass over the rows, and their gradients in another.

Each of several copies of a batch, laid out one after another, is normalised by its own statistics and updates the
running ones in turn. On devices other than the CPU, torch's kernels do the same, one copy at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from adgcl.graphs.kernels.compiled import RUN, addresses, compiled, compiles, floats

_torch_backward = torch.ops.aten.native_batch_norm_backward.default
_masked = torch.ops.aten.threshold_backward.default


class Normed(NamedTuple):
    """What the backward pass needs: the input rows, and the mean and inverse deviation of every copy `[C, 2, D]`.

    `weights` are those of the rows, if they do not all count the same; they add up to `total` in each copy.
    """

    before: Tensor
    stats: Tensor
    weights: Tensor | None
    total: float


def normalise(
    before: Tensor, norm: nn.BatchNorm1d, gamma: Tensor, beta: Tensor, copies: int, relu: bool,
    weights: Tensor | None = None,
) -> tuple[Tensor, Normed]:  # fmt: skip
    """`relu(gamma (x - mean) / sqrt(var + eps) + beta)`, with or without relu; updates the running statistics.

    Row weights, allowed for a single copy, affect only the statistics and are not learned.
    """
    running_mean: Any = norm._buffers["running_mean"]
    running_var: Any = norm._buffers["running_var"]
    momentum, (count, width) = norm.momentum or 0.0, before.shape
    if not compiles(before):
        assert weights is None
        outs = [
            torch.native_batch_norm(part, gamma, beta, running_mean, running_var, True, momentum, norm.eps)
            for part in before.chunk(copies)
        ]
        out = torch.cat([out for out, _, _ in outs])
        stats = torch.stack([torch.stack(pair) for _, *pair in outs])
        return out.relu_() if relu else out, Normed(before, stats, None, count // copies)
    total = count // copies if weights is None else float(weights.sum())
    out, stats = torch.empty_like(before), torch.empty(copies, 2, width)
    _normalise(
        *addresses(before, weights, out, gamma, beta, running_mean, running_var, stats), copies, count // copies,
        width, total, norm.eps, momentum, relu,
    )  # fmt: skip
    return out, Normed(before, stats, weights, total)


def normalise_backward(
    grad: Tensor, out: Tensor | None, normed: Normed, gamma: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the input rows, gamma and beta; `out` is the output of the relu, None if there was none."""
    before, stats, weights, total = normed
    copies, (count, width) = len(stats), before.shape
    if not compiles(grad):
        grad = grad if out is None else _masked(grad, out, 0)
        parts = [
            _torch_backward(g, b, gamma, None, None, mean, inverse, True, eps, [True, True, True])
            for g, b, (mean, inverse) in zip(grad.chunk(copies), before.chunk(copies), stats)
        ]
        inners, of_gammas, of_betas = zip(*parts)
        return torch.cat(inners), torch.stack(of_gammas).sum(0), torch.stack(of_betas).sum(0)
    inner, of_gamma, of_beta = torch.empty_like(before), torch.zeros_like(gamma), torch.zeros_like(gamma)
    _normalise_backward(
        *addresses(grad, out, before, weights, inner, gamma, stats, of_gamma, of_beta), copies, count // copies,
        width, total,
    )  # fmt: skip
    return inner, of_gamma, of_beta


@compiled
def _normalise(
    x_at: int, weights_at: int, out_at: int, gamma_at: int, beta_at: int, running_mean_at: int, running_var_at: int,
    stats_at: int, copies: int, count: int, width: int, sum_of_weights: float, eps: float, momentum: float, relu: bool,
) -> None:  # fmt: skip
    x, out = floats(x_at, (copies, count, width)), floats(out_at, (copies, count, width))
    gamma, beta, stats = floats(gamma_at, (width,)), floats(beta_at, (width,)), floats(stats_at, (copies, 2, width))
    running_mean, running_var = floats(running_mean_at, (width,)), floats(running_var_at, (width,))
    weights = floats(weights_at, (count,))
    part, total = np.zeros(width, np.float32), np.zeros(width, np.float64)
    scale = np.empty(width, np.float32)
    least = np.float32(0) if relu else np.float32(-np.inf)
    for c in range(copies):
        mean = stats[c, 0]
        for start in range(0, count, RUN):
            for i in range(start, min(start + RUN, count)):
                weight = weights[i] if weights_at else np.float32(1)
                for j in range(width):
                    part[j] += weight * x[c, i, j]
            for j in range(width):
                total[j] += part[j]
                part[j] = 0
        for j in range(width):
            mean[j] = total[j] / sum_of_weights
            total[j] = 0
        for start in range(0, count, RUN):
            for i in range(start, min(start + RUN, count)):
                weight = weights[i] if weights_at else np.float32(1)
                for j in range(width):
                    centred = x[c, i, j] - mean[j]
                    part[j] += weight * centred * centred
            for j in range(width):
                total[j] += part[j]
                part[j] = 0
        for j in range(width):
            var = total[j] / sum_of_weights
            total[j] = 0
            stats[c, 1, j] = 1 / np.sqrt(var + eps)
            scale[j] = gamma[j] * stats[c, 1, j]
            running_mean[j] += momentum * (mean[j] - running_mean[j])
            running_var[j] += momentum * (var * sum_of_weights / (sum_of_weights - 1) - running_var[j])
        for i in range(count):
            for j in range(width):
                value = (x[c, i, j] - mean[j]) * scale[j] + beta[j]
                # In this order, because NaN compares as false: it has to come out as NaN.
                out[c, i, j] = least if value < least else value


@compiled
def _normalise_backward(
    grad_at: int, out_at: int, x_at: int, weights_at: int, inner_at: int, gamma_at: int, stats_at: int,
    of_gamma_at: int, of_beta_at: int, copies: int, count: int, width: int, sum_of_weights: float,
) -> None:  # fmt: skip
    shape = (copies, count, width)
    grad, x, inner = floats(grad_at, shape), floats(x_at, shape), floats(inner_at, shape)
    gamma, stats = floats(gamma_at, (width,)), floats(stats_at, (copies, 2, width))
    of_gamma, of_beta = floats(of_gamma_at, (width,)), floats(of_beta_at, (width,))
    weights, relu = floats(weights_at, (count,)), out_at != 0
    out = floats(out_at if relu else grad_at, shape)
    by_beta, by_gamma = np.zeros(width, np.float32), np.zeros(width, np.float32)
    beta_total, gamma_total = np.zeros(width, np.float64), np.zeros(width, np.float64)
    for c in range(copies):
        mean, inverse = stats[c, 0], stats[c, 1]
        for start in range(0, count, RUN):
            for i in range(start, min(start + RUN, count)):
                for j in range(width):
                    slope = grad[c, i, j]
                    inner[c, i, j] = np.float32(0) if relu and out[c, i, j] <= 0 else slope
                for j in range(width):
                    by_beta[j] += inner[c, i, j]
                    by_gamma[j] += inner[c, i, j] * (x[c, i, j] - mean[j])
            for j in range(width):
                beta_total[j] += by_beta[j]
                gamma_total[j] += by_gamma[j]
                by_beta[j] = by_gamma[j] = 0
        for j in range(width):
            along = gamma_total[j] * inverse[j]
            of_gamma[j] += along
            of_beta[j] += beta_total[j]
            # What the mean and the variance contribute to the gradient of a row of weight 1.
            by_beta[j] = beta_total[j] / sum_of_weights
            by_gamma[j] = along * inverse[j] / sum_of_weights
            beta_total[j] = gamma_total[j] = 0
        for i in range(count):
            weight = weights[i] if weights_at else np.float32(1)
            for j in range(width):
                pulled = weight * (by_beta[j] + by_gamma[j] * (x[c, i, j] - mean[j]))
                inner[c, i, j] = (inner[c, i, j] - pulled) * (gamma[j] * inverse[j])
        for j in range(width):
            by_beta[j] = by_gamma[j] = 0
