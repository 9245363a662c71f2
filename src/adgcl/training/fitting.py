"""New graphs brought into the shape that a trained network knows, or a clear error about where they differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from adgcl.core.errors import DataError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.graphs.store.ranges import smallest_unsigned
from adgcl.graphs.store.store import GraphStore


def fit_features(store: GraphStore, spec: FeatureSpec) -> GraphStore:
    """`store` described by the checkpoint's `spec`, or a DataError that says where they differ."""
    if store.spec == spec:
        return store
    _check_columns("node", spec.node, store.spec.node)
    _check_columns("edge", spec.edge, store.spec.edge)
    x = _known_codes("node", spec.node, store.spec.node, store.x)
    edge_attr = _known_codes("edge", spec.edge, store.spec.edge, store.edge_attr)
    return replace(store, x=x, edge_attr=edge_attr, spec=spec)


_ADVICE = "Use data of the same kind, or pre-train on this data with `adgcl pretrain`."


def _check_columns(what: str, known: Features, found: Features) -> None:
    if len(known.sizes) != len(found.sizes) or known.num_dim != found.num_dim:
        raise DataError(
            f"These graphs do not fit the run: it was trained with {_columns(known)} per {what}, "
            f"they have {_columns(found)}.",
            _ADVICE,
        )


def _known_codes(what: str, known: Features, found: Features, codes: Any) -> Any:
    """The same categories under the numbers the run knows them by; one it has never seen is an error."""
    if codes is None:
        return None
    columns = []
    for i, column in enumerate(np.asarray(codes).T):
        mine, theirs = (dict(enumerate(f.values)).get(i, ()) for f in (known, found))
        number = np.arange(found.sizes[i])
        if mine and theirs:
            place = {value: code for code, value in enumerate(mine)}
            number = np.array([place.get(value, len(mine)) for value in theirs])
        renumbered = number[column]
        if renumbered.max(initial=0) >= known.sizes[i]:
            stranger = int(column[renumbered.argmax()])
            label = theirs[stranger] if mine and theirs else stranger
            raise DataError(
                f"These graphs do not fit the run: {what} column {i} has category {label}, which the run never saw "
                f"({known.sizes[i]} are known).",
                _ADVICE,
            )
        columns.append(renumbered)
    return smallest_unsigned(np.stack(columns, axis=1))


def _columns(features: Features) -> str:
    if features.empty:
        return "no features"
    parts = [f"{len(features.sizes)} categorical"] if features.sizes else []
    parts += [f"{features.num_dim} real"] if features.num_dim else []
    count = len(features.sizes) + features.num_dim
    return f"{' and '.join(parts)} column{'s' if count != 1 else ''}"
