"""Traits of bonds: by what the drop probabilities of a data set are summarised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from adgcl.data.dataset import Dataset
from adgcl.graphs.kernels.hops import hop_distances
from adgcl.graphs.store.ranges import IntArray
from adgcl.insight.bonds import Bonds
from adgcl.insight.chemistry import BOND_KINDS, CARBON, HYDROGEN, Chemistry, symbols
from adgcl.insight.rings import in_ring

_FAR = 3  # hops to a heteroatom that are told apart
_MOST_DEGREES = 4
_CHUNK = 4096


@dataclass(frozen=True, eq=False)
class Trait:
    """A property of bonds: its name, what its values are called, and the value of each bond."""

    name: str
    title: str
    values: tuple[str, ...]
    code: IntArray

    @property
    def texts(self) -> list[str]:
        """The value of each bond as text."""
        return [self.values[code] for code in self.code]


def traits_of(dataset: Dataset, bonds: Bonds, chemistry: Chemistry | None) -> list[Trait]:
    """Every trait that the data has, for graphs with all features of their source."""
    store = dataset.store
    first, second = (store.node_ptr[bonds.graph] + end for end in (bonds.one, bonds.other))
    found = []
    if chemistry is not None:
        found.append(_numbered("bond", "Bond type", BOND_KINDS, chemistry.kind[bonds.forth]))
        found.append(_pairs("atoms", "Atoms", chemistry.element, first, second, symbols))
    else:
        if store.edge_attr is not None:
            code = np.asarray(store.edge_attr)[:, 0].astype(np.int64)
            found.append(_numbered("edge", "Edge label", _labels(store.spec.edge, code), code[bonds.forth]))
        if store.x is not None:
            code = np.asarray(store.x)[:, 0].astype(np.int64)
            names = _labels(store.spec.node, code)
            found.append(_pairs("labels", "Node labels", code, first, second, lambda c: [names[i] for i in c]))
    ring = in_ring(store, bonds).astype(np.int64)
    found.append(_numbered("ring", "Ring membership" if chemistry else "On a cycle", ("no", "yes"), ring))
    found.append(_degree(store.in_degree, first, second))
    if chemistry is not None:
        found.append(_heteroatom(dataset, bonds, chemistry, first, second))
    return found


def _numbered(name: str, title: str, values: tuple[str, ...], code: npt.NDArray[Any]) -> Trait:
    return Trait(name, title, values, code.astype(np.int64))


def _pairs(name: str, title: str, kind: IntArray, first: IntArray, second: IntArray, called: Any) -> Trait:
    """The kinds of both ends, whichever comes first."""
    low, high = np.minimum(kind[first], kind[second]), np.maximum(kind[first], kind[second])
    width = int(kind.max(initial=0)) + 1
    found, code = np.unique(low * width + high, return_inverse=True)
    names = tuple(f"{a}–{b}" for a, b in zip(called(found // width), called(found % width)))
    return Trait(name, title, names, code)


def _degree(in_degree: npt.NDArray[Any], first: IntArray, second: IntArray) -> Trait:
    """The smaller degree of both ends; 1 is a bond at the rim."""
    lesser = np.minimum(in_degree[first], in_degree[second]).astype(np.int64)
    names = (*(str(i) for i in range(_MOST_DEGREES)), f"{_MOST_DEGREES} or more")
    return Trait("degree", "Smaller degree of its ends", names, np.minimum(lesser, _MOST_DEGREES))


def _heteroatom(dataset: Dataset, bonds: Bonds, chemistry: Chemistry, first: IntArray, second: IntArray) -> Trait:
    """How far the nearer end is from an atom that is neither carbon nor hydrogen."""
    store = dataset.store
    hetero = (chemistry.element != CARBON) & (chemistry.element != HYDROGEN)
    parts = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(store), _CHUNK):
        stop = min(start + _CHUNK, len(store))
        roots = np.flatnonzero(hetero[store.node_ptr[start] : store.node_ptr[stop]])
        parts.append(hop_distances(store.batch(np.arange(start, stop)), torch.from_numpy(roots), _FAR - 1).numpy())
    distance = np.concatenate(parts)
    nearer = np.minimum(distance[first], distance[second])
    names = ("at one", *(f"{i} bond{'s' if i > 1 else ''} away" for i in range(1, _FAR)), "further or none")
    return Trait("heteroatom", "Nearest heteroatom", names, nearer)


def _labels(features: Any, code: IntArray) -> tuple[str, ...]:
    """What the source calls each category of the first column."""
    if features.values and features.values[0]:
        return tuple(map(str, features.values[0]))
    return tuple(str(i) for i in range(int(code.max(initial=0)) + 1))
