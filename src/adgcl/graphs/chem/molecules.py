"""SMILES to packed graphs; unreadable ones are reported with their position and RDKit's reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.progress import Count
from adgcl.core.schema import Task
from adgcl.graphs.chem.atoms import FeatureSet, feature_spec
from adgcl.graphs.chem.kept_chunks import convert_and_keep
from adgcl.graphs.chem.smiles_chunk import convert
from adgcl.graphs.chem.unreadable import Failure, shown
from adgcl.graphs.store.concat import Joining
from adgcl.graphs.store.ranges import IntArray
from adgcl.graphs.store.store import GraphStore
from adgcl.jobs import chunks
from adgcl.jobs.chunks import map_chunks


class NoMoleculesError(DataError):
    """Not one of the SMILES could be read; `failures` says why."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        reasons = "; ".join(f"{shown(failure.smiles)}: {failure.reason}" for failure in failures[:3])
        if failures:
            super().__init__(f"None of {len(failures)} SMILES can be read ({reasons}).", "Check that these are SMILES.")
        else:
            super().__init__("There are no SMILES.", "Give at least one molecule.")
        self.failures = tuple(failures)


@dataclass(frozen=True)
class Molecules:
    """The graphs of the readable SMILES, which input each came from, and the unreadable ones.

    `mixtures` is the number of salts and mixtures, `fragments` the SMILES of those that were cut to their largest
    fragment, by position in the input.
    """

    store: GraphStore
    kept: IntArray
    failures: tuple[Failure, ...]
    mixtures: int = 0
    fragments: Mapping[int, str] = field(default_factory=dict)


def molecules_to_store(
    smiles: Sequence[Any],
    features: FeatureSet = "ogb",
    *,
    y: npt.ArrayLike | None = None,
    ids: Sequence[str] | None = None,
    task: Task | None = None,
    keep_largest_fragment: bool = False,
    workers: int | None = None,
    progress: Count | None = None,
    unfinished: Path | None = None,
) -> Molecules:
    """Read SMILES (or RDKit Mols) with RDKit and pack them as graphs, each bond as two directed edges.

    A molecule becomes the same graph however it is written: its features come from its canonical SMILES.
    `keep_largest_fragment` reduces a salt or mixture to the fragment with most heavy atoms.

    `y` and `ids` have one row per SMILES; rows of unreadable SMILES are left out. `workers` is the number
    of processes (default: one, or all cores for 20,000 molecules and more). `progress` is called with
    (done, total). As in RDKit, text after a space is a title, not part of the molecule. Chunks that are finished are
    kept in the folder `unfinished`, and found there by a call after an interruption.
    """
    feature_spec(features)
    labels = _rows_of(y, len(smiles), "labels")
    if ids is not None and len(ids) != len(smiles):
        raise DataError(f"There are {len(smiles)} SMILES but {len(ids)} ids.")
    kept: list[IntArray] = [np.empty(0, dtype=np.int64)]
    failures: list[Failure] = []
    fragments: dict[int, str] = {}
    joining, done, mixtures = Joining(), 0, 0
    read = partial(convert, features=features, keep_largest_fragment=keep_largest_fragment)
    # A single chunk is done before an interruption could matter.
    if unfinished is not None and len(smiles) > chunks.CHUNK:
        read = partial(
            convert_and_keep, features=features, keep_largest_fragment=keep_largest_fragment, folder=unfinished
        )
    for size, chunk in map_chunks(read, smiles, workers):
        kept.append(chunk.kept + done)
        failures.extend(replace(f, position=f.position + done) for f in chunk.failures)
        fragments |= {position + done: text for position, text in chunk.fragments.items()}
        mixtures += chunk.mixtures
        if chunk.store is not None:
            joining.add(chunk.store)
        done += size
        if progress is not None:
            progress(done, len(smiles))
    if joining.empty:
        raise NoMoleculesError(failures)
    positions = np.concatenate(kept)
    store = replace(
        joining.whole(),
        y=None if labels is None else labels[positions],
        ids=None if ids is None else [str(ids[i]) for i in positions],
        task=task or _default_task(labels),
    )
    return Molecules(store, positions, tuple(failures), mixtures, fragments)


def _rows_of(y: npt.ArrayLike | None, count: int, what: str) -> npt.NDArray[np.float64] | None:
    if y is None:
        return None
    rows = np.asarray(y, dtype=np.float64)
    if rows.ndim == 0 or len(rows) != count:
        raise DataError(f"There are {count} SMILES but {len(rows) if rows.ndim else 1} {what}.")
    return rows.reshape(count, -1)


def _default_task(labels: npt.NDArray[np.float64] | None) -> Task:
    return Task("none", num_tasks=0) if labels is None else Task("regression", num_tasks=labels.shape[1])
