"""Which features the graphs keep: those of the source, their degrees, or none."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import ConfigError, UnknownNameError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.graphs.store.ranges import smallest_unsigned
from adgcl.graphs.store.store import GraphStore

FeatureMode = Literal["constant", "labels", "degrees", "labels+degrees", "auto"]
MODES: tuple[str, ...] = get_args(FeatureMode)


def choose_features(store: GraphStore, mode: str, cap: int = 100) -> GraphStore:
    """The same graphs with the node and edge features that `mode` selects.

    - `constant`: none, all nodes and edges look alike (the published TU runs);
    - `labels`: as the source has them;
    - `degrees`: the number of edges that point at a node, up to `cap`, as one category; no edge features;
    - `labels+degrees`: both;
    - `auto`: as the source has them, and degrees if nodes have no features.
    """
    if mode not in MODES:
        raise UnknownNameError("choice of features", mode, MODES)
    if cap < 1:
        raise ConfigError(f"The degree cap is {cap}.", "It must be at least 1.")
    if mode == "constant":
        bare = replace(store, x=None, x_num=None, edge_attr=None, edge_num=None)
        return replace(bare, spec=FeatureSpec(name="constant"))
    if mode == "degrees":
        return _with_degrees(choose_features(store, "constant"), cap)
    if mode == "labels+degrees" or (mode == "auto" and store.spec.node.empty):
        return _with_degrees(store, cap)
    return store


def _with_degrees(store: GraphStore, cap: int) -> GraphStore:
    """Append the capped in-degree as a categorical column; the size is fixed so that other graphs fit too."""
    degree = smallest_unsigned(np.minimum(store.in_degree.astype(np.int64), cap))[:, None]
    x: npt.NDArray[np.integer] = degree if store.x is None else np.concatenate((store.x, degree), axis=1)
    known = store.spec.node
    values = (*known.values, ()) if known.values else ()
    node = Features((*known.sizes, cap + 1), known.num_dim, values)
    kept = [] if store.spec.node.empty and store.spec.edge.empty else [store.spec.name]
    return replace(store, x=x, spec=FeatureSpec(node, store.spec.edge, "+".join([*kept, "degrees"])))
