"""One unsupervised evaluation against scikit-learn's grid search, on real embeddings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from adgcl.data.load import load_dataset
from adgcl.training.embedding import embed_store
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from benchmarks.probe_speed import our_probe, sklearn_probe
from benchmarks.timing import Measurement, compared, in_turns

SETS = ("MUTAG", "PROTEINS", "NCI1")


def measure(name: str, rounds: int = 3) -> Iterator[Measurement]:
    """10 folds, 7 values of C, 5-fold search: 350 linear SVMs, and one refit for every fold."""
    store = load_dataset(name, features="constant").store
    config = resolve({"method": "random_init", "training": {"device": "cpu", "threads": 1}})
    embedding = embed_store(build_method(config, store.spec, store.task), store).astype("float64")
    y = store.y[:, 0]  # type: ignore[index]
    works = {"ours": lambda: our_probe(embedding, y, 0), "plain": lambda: sklearn_probe(embedding, y, 0)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's LinearSVC complains when it does not converge
        best = in_turns(works, rounds)
    yield compared(f"evaluation {name}, 350 linear SVMs", best["plain"], best["ours"], 8.0, "s")
