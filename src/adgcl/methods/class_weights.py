"""Class weights: how much a label counts in a loss, so that a rare class is not drowned out by a common one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def balanced_weights(y: npt.NDArray[np.float64], num_classes: int) -> npt.NDArray[np.float32]:
    """`n / (classes present * n_c)` for every task and class, `[tasks, classes]`, from labels with NaN for missing.

    The labels of a task weigh 1 on average. A class without labels weighs 0: nothing can be learned about it.
    """
    counts = np.stack([(y == number).sum(axis=0) for number in range(num_classes)], axis=1)
    present = np.maximum((counts > 0).sum(axis=1, keepdims=True), 1)
    total = counts.sum(axis=1, keepdims=True)
    return np.where(counts > 0, total / (present * np.maximum(counts, 1)), 0.0).astype(np.float32)
