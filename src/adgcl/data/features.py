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

FeatureMode = Literal["constant", "labels", "degrees", "labels+degrees", "auto", "deg+odeg100", "deg+odeg10"]
MODES: tuple[str, ...] = get_args(FeatureMode)
# The expansions of Chen et al. 2019 by name, with the degree above which all degrees are one category.
_EXPANSIONS = {"deg+odeg100": 100, "deg+odeg10": 10}
# Categories that do not occur get a column too, as published, unless most columns would be such.
_MOST_GAPS = 2


def choose_features(store: GraphStore, mode: str, cap: int = 100) -> GraphStore:
    """The same graphs with the node and edge features that `mode` selects.

    - `constant`: none, all nodes and edges look alike (the published TU runs);
    - `labels`: as the source has them;
    - `degrees`: the number of edges that point at a node, up to `cap`, as one category; no edge features;
    - `labels+degrees`: both;
    - `auto`: as the source has them, and degrees if nodes have no features;
    - `deg+odeg100`: as the source has them (or the constant 1), the degree as a number, and the degree up to 100 as a
      category; no edge features (the published semi-supervised runs); `deg+odeg10` the same with degrees up to 10.
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
    if mode in _EXPANSIONS:
        return _expanded(store, mode)
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


def _expanded(store: GraphStore, mode: str) -> GraphStore:
    """Own features, the degree as a real number, and the capped degree as a category."""
    own = _without_gaps(replace(store, edge_attr=None, edge_num=None))
    node = own.spec.node
    degree = store.in_degree.astype(np.float32)[:, None]
    first = np.ones_like(degree) if node.empty else own.x_num
    reals = degree if first is None else np.concatenate((first, degree), axis=1)
    spec = FeatureSpec(Features(node.sizes, reals.shape[1], node.values), name=own.spec.name)
    expanded = _with_degrees(replace(own, x_num=reals, spec=spec), _EXPANSIONS[mode])
    return replace(expanded, spec=replace(expanded.spec, name=mode))


def _without_gaps(store: GraphStore) -> GraphStore:
    """Labels numbered as in the source, from the lowest to the highest, so that those in between count as well."""
    node = store.spec.node
    if store.x is None or not node.values:
        return store
    columns, sizes, values = [], [], []
    for codes, size, known in zip(store.x.T, node.sizes, node.values, strict=True):
        span = known[-1] - known[0] + 1 if known else 0
        if size < span <= _MOST_GAPS * size:
            codes, size = (np.array(known) - known[0])[codes], span
            known = tuple(range(known[0], known[-1] + 1))
        columns.append(codes)
        sizes.append(size)
        values.append(known)
    x = smallest_unsigned(np.stack(columns, axis=1))
    return replace(store, x=x, spec=replace(store.spec, node=Features(tuple(sizes), node.num_dim, tuple(values))))
