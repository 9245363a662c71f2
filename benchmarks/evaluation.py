"""One unsupervised evaluation against scikit-learn's grid search, on real embeddings and fingerprints."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from adgcl.data.load import load_dataset
from adgcl.training.device import one_blas_thread
from adgcl.training.embedding import embed_store
from adgcl.training.run_config import resolve
from adgcl.training.trainer import build_method
from benchmarks.fingerprint_speed import fingerprints, our_search, sklearn_search
from benchmarks.probe_speed import our_probe, sklearn_probe
from benchmarks.timing import Measurement, compared, in_turns

SETS = ("MUTAG", "PROTEINS", "NCI1")
FINGERPRINTS = (300, 1000)


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


def measure_fingerprints(count: int, rounds: int = 3) -> Iterator[Measurement]:
    """The same search with logistic regression, on more columns than molecules."""
    x, y = fingerprints(count)
    works = {"ours": lambda: our_search(x, y, 0), "plain": lambda: sklearn_search(x, y, 0)}
    # One thread for both, as in the probes: waiting threads would count as work.
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")  # lbfgs complains when it does not converge
        best = in_turns(works, rounds)
    name = f"evaluation ECFP {count} x {x.shape[1]}, 350 logistic regressions"
    yield compared(name, best["plain"], best["ours"], 1.0, "s")
