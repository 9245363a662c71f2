"""A generated miniature of the protein interactions of Hu et al., in the layout that the reader expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.data.families.ppi import HUMAN, OTHERS

Arrays = dict[str, npt.NDArray[Any]]


def ppi_arrays(num_graphs: int = 40, seed: int = 0, labelled: bool = True) -> Arrays:
    """Neighbourhoods of a centre that all other proteins interact with; the labels are marks of its first edge."""
    rng = np.random.default_rng(seed)
    nodes = rng.integers(3, 9, num_graphs)
    centre = rng.integers(0, nodes)
    edges, marks, first = [], [], []
    for count, middle in zip(nodes, centre):
        others = np.delete(np.arange(count), middle)
        pairs = np.stack([np.r_[np.full(count - 1, middle), others[:-1]], np.r_[others, others[1:]]])
        own = np.zeros((pairs.shape[1], 9), np.uint8)
        own[:, :7] = rng.integers(0, 2, (pairs.shape[1], 7))
        edges.append(np.concatenate((pairs, pairs[::-1]), axis=1))
        marks.append(np.concatenate((own, own)))
        first.append(own[0])
    arrays = {
        "num_nodes": nodes.astype(np.int32),
        "num_edges": np.array([pair.shape[1] for pair in edges], np.int32),
        "edge_index": np.concatenate(edges, axis=1).astype(np.int32),
        "edge_attr": np.concatenate(marks),
        "centre": centre.astype(np.int32),
    }
    if labelled:
        arrays["species"] = rng.permutation(np.resize((HUMAN, HUMAN, *OTHERS), num_graphs)).astype(np.int32)
        arrays["y"] = np.stack([np.resize(own[:7], 40) for own in first])
    return arrays


def write_ppi(folder: Path, arrays: Arrays, labelled: bool = True) -> Path:
    """Save arrays where the reader looks for them below a data folder."""
    path = folder / "ppi" / f"ppi_{'' if labelled else 'un'}labelled.npz"
    path.parent.mkdir(exist_ok=True)
    np.savez(path, **arrays)
    return path
