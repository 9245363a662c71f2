"""Standardised features that are never materialised: every problem has its own mean and scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adgcl.protocols.solvers.arrays import Floats, Ints, Mask


@dataclass(frozen=True)
class Scaling:
    """Per problem p the map x -> (x - mean_p) / scale_p, applied to coefficients instead of to samples.

    With rows [x, 1] shared by all problems, w^T (x - mean) / scale + b = v^T [x, 1] for
    v = (w / scale, b - mean^T (w / scale)). Coefficients go this way, gradients and Gram matrices the other.
    `mean` and `scale` are `[p, d]`; coefficients are `[p, d + 1]` with the intercept last.
    """

    mean: Floats
    scale: Floats

    def __getitem__(self, which: slice | Ints | Mask) -> Scaling:
        return Scaling(self.mean[which], self.scale[which])

    @property
    def is_identity(self) -> bool:
        """Whether every problem uses the features as they are."""
        return not self.mean.any() and bool((self.scale == 1.0).all())

    def alike(self) -> list[Ints]:
        """The problems in groups that have the same mean and scale."""
        groups: dict[tuple[bytes, bytes], list[int]] = {}
        for p, (mean, scale) in enumerate(zip(self.mean, self.scale, strict=True)):
            groups.setdefault((mean.tobytes(), scale.tobytes()), []).append(p)
        return [np.array(group) for group in groups.values()]

    def shared(self, coef: Floats) -> Floats:
        """Coefficients for the shared rows [x, 1]."""
        out = np.empty_like(coef)
        np.divide(coef[..., :-1], self.scale, out=out[..., :-1])
        out[..., -1] = coef[..., -1] - (out[..., :-1] * self.mean).sum(-1)
        return out

    def pull_back(self, gradient: Floats) -> Floats:
        """The gradient for (w, b) from the gradient for the shared rows."""
        out = gradient.copy()
        out[:, :-1] -= gradient[:, -1:] * self.mean
        out[:, :-1] /= self.scale
        return out

    def pull_back_gram(self, gram: Floats) -> Floats:
        """The Gram matrices `[p, d + 1, d + 1]` of standardised rows from those of the shared rows."""
        mean = np.pad(self.mean, ((0, 0), (0, 1)))
        scale = np.pad(self.scale, ((0, 0), (0, 1)), constant_values=1.0)
        # (x_j - m_j)(x_k - m_k) = x_j x_k - m_j (x_k - m_k) - x_j m_k; the last row holds the sums of x.
        sums = gram[:, -1, :]
        centred_sums = sums - sums[:, -1:] * mean
        out = gram - mean[:, :, None] * centred_sums[:, None, :]
        out -= sums[:, :, None] * mean[:, None, :]
        out /= scale[:, :, None]
        out /= scale[:, None, :]
        return out


def no_scaling(problems: int, columns: int) -> Scaling:
    """The features as they are."""
    return Scaling(np.zeros((problems, columns)), np.ones((problems, columns)))


def fit_scaling(x: Floats, rows: Mask) -> Scaling:
    """Mean and standard deviation of `x [n, d]` over each of the `rows [p, n]`.

    A column that is constant over its rows gets the spread over all rows, or 1. Its coefficient will be zero, so
    any scale describes the same model, and this one keeps numbers of one size together.
    """
    mean, variance = _moments(x, rows)
    _, overall = _moments(x, np.ones((1, len(x)), dtype=bool))
    variance = np.where(variance > 0, variance, np.where(overall > 0, overall, 1.0))
    return Scaling(mean, np.sqrt(variance))


def _moments(x: Floats, rows: Mask) -> tuple[Floats, Floats]:
    """Mean and variance of `x [n, d]` over each of the `rows [p, n]`; 0 is the variance of a constant column."""
    count = np.maximum(rows.sum(1), 1)[:, None]
    weight = rows / count
    mean = weight @ x
    variance = weight @ np.square(x) - np.square(mean)
    # E[x^2] - E[x]^2 loses digits when the spread is small compared with the mean: then subtract the mean first.
    lost = (variance <= 1e-6 * np.square(mean)) & (mean != 0)
    for j in np.flatnonzero(lost.any(0)):
        centred = x[:, j] - mean[:, j, None]
        variance[:, j] = np.einsum("pn,pn,pn->p", weight, centred, centred)
    rounding = (np.finfo(np.float64).eps * count * np.abs(mean)) ** 2
    return mean, np.where(variance <= rounding, 0.0, variance)
