"""A checksum of graphs and labels, so that a Record can say exactly which data it used."""

from __future__ import annotations

import hashlib
from weakref import WeakKeyDictionary

import numpy as np

from adgcl.graphs.store.store import GraphStore

_ARRAYS = ("node_ptr", "edge_ptr", "in_degree", "edge_source", "x", "x_num", "edge_attr", "edge_num", "y")


# A store never changes, and a table of results asks for the same one hundreds of times.
_known: WeakKeyDictionary[GraphStore, str] = WeakKeyDictionary()


def fingerprint(store: GraphStore) -> str:
    """SHA-256 over the arrays of a store; names and storage details do not count."""
    if store not in _known:
        _known[store] = _fingerprint(store)
    return _known[store]


def _fingerprint(store: GraphStore) -> str:
    digest = hashlib.sha256()
    for name in _ARRAYS:
        array = getattr(store, name)
        if array is not None:
            digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
