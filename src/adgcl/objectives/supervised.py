"""Losses against labels: cross-entropy, logistic loss, squared and absolute error, over the labels that are present."""

from __future__ import annotations

from typing import Literal

from torch import Tensor
from torch.nn import functional as F

from adgcl.core.schema import TaskKind
from adgcl.parallel.collectives import average

Error = Literal["squared", "absolute"]

# The class number that stands for "no label" inside the cross-entropy.
_MISSING = -100


def supervised_loss(
    outputs: Tensor, y: Tensor, kind: TaskKind, error: Error = "squared", weights: Tensor | None = None
) -> Tensor:
    """The mean over present labels of a task's loss; 0 where none is present.

    `y [n, t]` holds NaN for a missing label. `outputs` are logits `[n, classes]` of a multiclass task, logits `[n, t]`
    of binary tasks, or values `[n, t]` of regression, in the unit of `y`. `weights [t, classes]` say how much a label
    of each class counts; without them every label counts 1.
    """
    outputs = outputs.float()
    if kind == "multiclass":
        return cross_entropy(outputs, y, None if weights is None else weights[0])
    if kind == "binary":
        return logistic_loss(outputs, y, weights)
    return regression_loss(outputs, y, error)


def cross_entropy(logits: Tensor, y: Tensor, weights: Tensor | None = None) -> Tensor:
    """`-mean_i w[y_i] log softmax(logits_i)[y_i]` over the rows with a label."""
    missing = y[:, 0].isnan()
    target = y[:, 0].masked_fill(missing, _MISSING).long()
    total = F.cross_entropy(logits, target, weights, ignore_index=_MISSING, reduction="sum")
    return total / _present(missing)


def logistic_loss(logits: Tensor, y: Tensor, weights: Tensor | None = None) -> Tensor:
    """`mean of w log(1 + exp(-s z))` over present labels, with `s = +1` for label 1 and `-1` for label 0.

    Without weights every present label counts the same, so a task counts in proportion to its labels.
    """
    missing, target = _filled(y)
    losses = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    if weights is not None:
        losses = losses * (weights[:, 0] + target * (weights[:, 1] - weights[:, 0]))
    return _mean_present(losses, missing)


def regression_loss(values: Tensor, y: Tensor, error: Error = "squared") -> Tensor:
    """The mean squared or absolute difference over present labels."""
    missing, target = _filled(y)
    difference = values - target
    return _mean_present(difference.square() if error == "squared" else difference.abs(), missing)


def _filled(y: Tensor) -> tuple[Tensor, Tensor]:
    """Where labels are missing, and the labels with an arbitrary number in those places."""
    missing = y.isnan()
    return missing, y.masked_fill(missing, 0.0).float()


def _mean_present(losses: Tensor, missing: Tensor) -> Tensor:
    return losses.masked_fill(missing, 0.0).sum() / _present(missing)


def _present(missing: Tensor) -> Tensor:
    """How many labels there are, at least 1."""
    count = average((~missing).sum())
    return count.masked_fill(count == 0, 1)
