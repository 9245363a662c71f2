"""Projections of embeddings onto a plane: principal components always, and t-SNE or UMAP by their libraries."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import ConfigError
from adgcl.core.extras import import_extra, is_installed
from adgcl.training.export import Matrix

Plane = npt.NDArray[np.float32]
Projection = Literal["auto", "pca", "tsne", "umap"]
TITLES = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP"}
# What neighbourhoods are computed from: more components are noise, and cost time.
_COMPONENTS = 50
# Up to this many graphs t-SNE is quick.
_SMALL = 5_000
_PERPLEXITY, _NEIGHBOURS = 30.0, 15
_FEWEST = 5


def projections(rows: Matrix, wanted: Projection = "auto", seed: int = 0) -> dict[str, Plane]:
    """The planes of a map by name: PCA, and the one that is wanted; `rows` are standardised."""
    if wanted not in ("auto", *TITLES):
        raise ConfigError(f"There is no projection {wanted!r}.", f"Use auto, {', '.join(TITLES)}.")
    components, shares = principal_components(rows, _COMPONENTS)
    title = f"PCA ({100 * shares[:2].sum():.0f}% of the variance)"
    planes = {title: _two(components)}
    kind = choose(len(rows)) if wanted == "auto" else wanted
    if kind == "pca" or len(rows) < _FEWEST:
        return planes
    made = _tsne(components, seed) if kind == "tsne" else _umap(components, seed)
    return {TITLES[kind]: made, **planes}


def choose(count: int) -> str:
    """UMAP for many graphs where it is installed, else t-SNE."""
    return "umap" if count > _SMALL and is_installed("umap") else "tsne"


def principal_components(rows: Matrix, most: int) -> tuple[Matrix, npt.NDArray[np.float64]]:
    """Coordinates along the directions of largest variance, and the share of the variance each has.

    The signs are fixed, so that the same data gives the same picture.
    """
    centred = rows.astype(np.float64) - rows.mean(axis=0)
    variance, directions = np.linalg.eigh(centred.T @ centred)
    order = np.argsort(variance)[::-1][: min(most, len(rows), rows.shape[1])]
    directions = directions[:, order]
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(len(order))])
    total = max(float(variance.sum()), 1e-12)
    return (centred @ (directions * signs)).astype(np.float32), variance[order] / total


def _two(components: Matrix) -> Plane:
    return np.pad(components[:, :2], ((0, 0), (0, max(0, 2 - components.shape[1]))))


def _tsne(components: Matrix, seed: int) -> Plane:
    from sklearn.manifold import TSNE

    perplexity = min(_PERPLEXITY, (len(components) - 1) / 3)
    made = TSNE(perplexity=perplexity, init="pca", random_state=seed).fit_transform(_jittered(components))
    return np.asarray(made, dtype=np.float32)


def _umap(components: Matrix, seed: int) -> Plane:
    umap = import_extra("umap", "map", "The projection umap")
    neighbours = min(_NEIGHBOURS, len(components) - 1)
    made = umap.UMAP(n_neighbors=neighbours, random_state=seed, n_jobs=1).fit_transform(_jittered(components))
    return np.asarray(made, dtype=np.float32)


def _jittered(components: Matrix) -> Matrix:
    """Identical rows a hair apart: some libraries divide by the distance of neighbours."""
    scale = 1e-4 * float(components.std() or 1.0)
    noise = np.random.default_rng(0).normal(scale=scale, size=components.shape)
    return (components + noise).astype(np.float32)
