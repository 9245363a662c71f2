"""Protein interactions of Hu et al. 2020: neighbourhoods of proteins, read from arrays that you put in place."""

from __future__ import annotations

import random
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError, DataMissingError
from adgcl.core.schema import Features, FeatureSpec, Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.entry import Entry
from adgcl.data.splits import PUBLISHED, Parts
from adgcl.graphs.store.ranges import offsets
from adgcl.graphs.store.store import pack

Arrays = dict[str, npt.NDArray[Any]]

NUM_TASKS, NUM_MARKS = 40, 9
HUMAN = 9606
# Arabidopsis, a worm, E. coli, a fruit fly, the mouse, yeast, the zebrafish: by their NCBI taxonomy numbers.
OTHERS = (3702, 6239, 511145, 7227, 10090, 4932, 7955)
# Nodes carry nothing but a mark on the centre, edges nine marks; see `encoders/ppi_gin.py`.
PPI_SPEC = FeatureSpec(Features((2,)), Features((2,) * NUM_MARKS), "ppi")

_TASK, _NO_TASK = Task("binary", NUM_TASKS, metric="rocauc"), Task("none", num_tasks=0)
_LABELLED, _UNLABELLED = "ppi/ppi_labelled.npz", "ppi/ppi_unlabelled.npz"
# The seed of the random parts in the code of Hu et al., and in that of AD-GCL.
_SPLIT_SEED, _ADGCL_SEED = 42, 0
_ORIGIN = Origin(
    family="ppi",
    source="http://snap.stanford.edu/gnn-pretrain/",
    licence="not stated",
    citation="Hu et al., Strategies for Pre-training Graph Neural Networks, ICLR 2020",
    note=(
        "Labelled graphs are divided by species: human ones test, 85 % of the others train and 15 % validate. Half of "
        "the human ones are called test_easy and half test_hard, as the authors' code names two random halves. In "
        "as_published mode the parts are those of AD-GCL's runs, which test on test_hard alone."
    ),
)


def layout(labelled: bool) -> str:
    """How the arrays lie in the file, for whoever makes it."""
    arrays = [
        "num_nodes   int32  [G]",
        "num_edges   int32  [G]      both directions of an edge count",
        "edge_index  int32  [2, E]   sources over targets, graph after graph, nodes numbered from 0 in each",
        f"edge_attr   uint8  [E, {NUM_MARKS}]   0 or 1; column 7 is for self-loops and 8 for masks, both 0 in the data",
        "centre      int32  [G]      the number of the centre node",
    ]
    labels = [
        f"species     int32  [G]      NCBI taxonomy numbers; {HUMAN} is the human",
        f"y           uint8  [G, {NUM_TASKS}]  0 or 1",
    ]
    lines = "".join(f"\n  {line}" for line in (*arrays, *(labels if labelled else ())))
    return (
        "Nothing here can download or convert it: make the file with numpy.savez from the data of Hu et al. For G "
        f"graphs with E directed edges in all it holds{lines}\n"
        "The reader is tested with a generated miniature of this layout, not with the real files."
    )


def entries() -> tuple[Entry, ...]:
    """The labelled graphs of eight species, and those of fifty species to pre-train on."""
    return (
        Entry(
            "PPI",
            "Functions of proteins in 40 tasks (about 88,000 neighbourhoods)",
            _TASK,
            _ORIGIN,
            load_ppi,
            ((_LABELLED,),),
            by_hand=layout(labelled=True),
        ),
        Entry(
            "PPI-306K",
            "306,925 neighbourhoods of proteins, without labels",
            _NO_TASK,
            _ORIGIN,
            partial(load_ppi, labelled=False),
            ((_UNLABELLED,),),
            by_hand=layout(labelled=False),
        ),
    )


def load_ppi(data: Path, *, labelled: bool = True) -> Dataset:
    """The neighbourhoods with their species split, or those without labels."""
    path = data / (_LABELLED if labelled else _UNLABELLED)
    arrays = _read_arrays(path, labelled)
    _check(arrays, path)
    starts = offsets(arrays["num_nodes"])
    centre = np.zeros((starts[-1], 1), dtype=np.uint8)
    centre[starts[:-1] + arrays["centre"]] = 1
    store = pack(
        arrays["num_nodes"],
        arrays["num_edges"],
        arrays["edge_index"],
        x=centre,
        edge_attr=arrays["edge_attr"],
        y=arrays.get("y"),
        spec=PPI_SPEC,
        task=_TASK if labelled else _NO_TASK,
    )
    split = _with_published(arrays["species"]) if labelled else None
    return Dataset("PPI" if labelled else "PPI-306K", store, _ORIGIN, split=split)


def _with_published(species: npt.ArrayLike) -> Parts:
    """The split of Hu et al., and beside it the parts of AD-GCL's published runs."""
    adgcl = species_split(species, _ADGCL_SEED)
    published = {"train": adgcl["train"], "valid": adgcl["valid"], "test": adgcl["test_hard"]}
    return {**species_split(species), **{f"{PUBLISHED}{name}": ids for name, ids in published.items()}}


def species_split(species: npt.ArrayLike, seed: int = _SPLIT_SEED) -> Parts:
    """Human graphs test; of the others 85 % train and 15 % validate, drawn as Hu et al. draw them.

    `test_easy` and `test_hard` are random halves of `test`. As published, parts are rounded down: one graph may be in
    none of them.
    """
    kinds = np.asarray(species).reshape(-1)
    known = np.isin(kinds, (HUMAN, *OTHERS))
    if not known.all():
        raise DataError(
            f"Graph {int(np.argmin(known))} is of species {kinds[np.argmin(known)]}, which the split does not know.",
            f"Species are NCBI taxonomy numbers: {HUMAN}, {', '.join(map(str, OTHERS))}.",
        )
    train, valid = _drawn(np.flatnonzero(kinds != HUMAN), 0.85, 0.15, seed)
    easy, hard = _drawn(np.flatnonzero(kinds == HUMAN), 0.5, 0.5, seed)
    parts = {"train": train, "valid": valid, "test": np.flatnonzero(kinds == HUMAN), "test_easy": easy}
    return {**parts, "test_hard": hard}


def _drawn(ids: npt.NDArray[np.int64], first: float, second: float, seed: int) -> list[npt.NDArray[np.int64]]:
    """Two random parts. Python's own shuffle, not NumPy's: the published split is drawn with it."""
    order = list(range(len(ids)))
    random.Random(seed).shuffle(order)
    counts = int(first * len(ids)), int(second * len(ids))
    return [np.sort(ids[order[: counts[0]]]), np.sort(ids[order[counts[0] : sum(counts)]])]


def _read_arrays(path: Path, labelled: bool) -> Arrays:
    names = ["num_nodes", "num_edges", "edge_index", "edge_attr", "centre", *(["species", "y"] if labelled else [])]
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in names}
    except FileNotFoundError as error:
        raise DataMissingError(f"{path} is not there.", layout(labelled)) from error
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"Cannot read {path}: {error}.", layout(labelled)) from error
    return {name: array if name == "y" else _whole(name, array, path) for name, array in arrays.items()}


def _whole(name: str, array: npt.NDArray[Any], path: Path) -> npt.NDArray[np.integer]:
    """Whole numbers, also where they were saved as floats; small ones stay small."""
    if array.dtype.kind in "iub":
        return array
    whole = array.astype(np.int64) if array.dtype.kind == "f" and np.isfinite(array).all() else None
    if whole is None or not np.array_equal(whole, array):
        raise DataError(f"{name} in {path} holds {array.dtype}.", "It must hold whole numbers.")
    return whole


def _check(arrays: Arrays, path: Path) -> None:
    """Shapes that fit each other, marks of 0 and 1, and a centre in every graph; `pack` checks the edges."""
    graphs, edges = len(arrays["num_nodes"]), int(arrays["num_edges"].sum())
    shapes = {
        "num_nodes": (graphs,), "num_edges": (graphs,), "edge_index": (2, edges), "edge_attr": (edges, NUM_MARKS),
        "centre": (graphs,), "species": (graphs,), "y": (graphs, NUM_TASKS),
    }  # fmt: skip
    for name, array in arrays.items():
        if array.shape != shapes[name]:
            raise DataError(f"{name} in {path} has the shape {array.shape}.", f"It must be {shapes[name]}.")
    if arrays["edge_attr"].size and not np.isin((arrays["edge_attr"].min(), arrays["edge_attr"].max()), (0, 1)).all():
        raise DataError(f"edge_attr in {path} has marks other than 0 and 1.", "A mark is there (1) or not (0).")
    if "y" in arrays and not (np.isin(arrays["y"], (0, 1)) | np.isnan(arrays["y"].astype(np.float32))).all():
        raise DataError(f"y in {path} has labels other than 0 and 1.", "A missing label is NaN.")
    outside = (arrays["centre"] < 0) | (arrays["centre"] >= arrays["num_nodes"])
    if outside.any():
        graph = int(outside.argmax())
        raise DataError(
            f"Graph {graph} in {path} has {arrays['num_nodes'][graph]} nodes; its centre is {arrays['centre'][graph]}.",
            "Centres are numbered from 0 in each graph.",
        )
