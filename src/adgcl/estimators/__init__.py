"""scikit-learn estimators: graphs in, vectors, classes or values out."""

from __future__ import annotations

from adgcl.estimators.embedder import GraphEmbedder
from adgcl.estimators.predictors import GraphClassifier, GraphRegressor

__all__ = ["GraphClassifier", "GraphEmbedder", "GraphRegressor"]
