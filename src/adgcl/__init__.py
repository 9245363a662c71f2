"""adgcl: learn graph embeddings without labels, by adversarial graph augmentation, and evaluate them.

>>> from adgcl import GraphEmbedder
>>> vectors = GraphEmbedder(epochs=5).fit_transform(["CCO", "c1ccccc1", "CC(=O)O"])  # doctest: +SKIP
"""

from __future__ import annotations

# `typing` takes a while to import, and until the command has begun Ctrl-C ends in a traceback.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from adgcl.core.errors import AdgclError
    from adgcl.core.records import Record
    from adgcl.core.schema import FeatureSpec, Task
    from adgcl.data.dataset import Dataset
    from adgcl.data.load import load_dataset
    from adgcl.estimators.embedder import GraphEmbedder
    from adgcl.estimators.predictors import GraphClassifier, GraphRegressor
    from adgcl.experiments.prediction import predict
    from adgcl.graphs.store.batch import GraphBatch
    from adgcl.graphs.store.store import GraphStore
    from adgcl.training.runs import load_run

# Where each name lives; names are imported on first use, because torch alone takes seconds.
_HOMES = {
    "AdgclError": "adgcl.core.errors",
    "Dataset": "adgcl.data.dataset",
    "FeatureSpec": "adgcl.core.schema",
    "GraphBatch": "adgcl.graphs.store.batch",
    "GraphClassifier": "adgcl.estimators.predictors",
    "GraphEmbedder": "adgcl.estimators.embedder",
    "GraphRegressor": "adgcl.estimators.predictors",
    "GraphStore": "adgcl.graphs.store.store",
    "Record": "adgcl.core.records",
    "Task": "adgcl.core.schema",
    "load_dataset": "adgcl.data.load",
    "load_run": "adgcl.training.runs",
    "predict": "adgcl.experiments.prediction",
}

__all__ = [
    "AdgclError",
    "Dataset",
    "FeatureSpec",
    "GraphBatch",
    "GraphClassifier",
    "GraphEmbedder",
    "GraphRegressor",
    "GraphStore",
    "Record",
    "Task",
    "__version__",
    "load_dataset",
    "load_run",
    "predict",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("adgcl")
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'adgcl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
