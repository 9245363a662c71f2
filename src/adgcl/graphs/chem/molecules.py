"""SMILES in, packed graphs out; what cannot be read is reported with its place and RDKit's reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.schema import Task
from adgcl.graphs.chem.atoms import FeatureSet, feature_spec
from adgcl.graphs.chem.smiles_chunk import Failure, convert
from adgcl.graphs.store.concat import Joining
from adgcl.graphs.store.ranges import IntArray
from adgcl.graphs.store.store import GraphStore
from adgcl.jobs.chunks import map_chunks

Progress = Callable[[int, int], None]


class NoMoleculesError(DataError):
    """Not one of the SMILES could be read; `failures` says why."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        shown = "; ".join(f"{failure.smiles!r}: {failure.reason}" for failure in failures[:3])
        if failures:
            super().__init__(f"None of {len(failures)} SMILES can be read ({shown}).", "Check that these are SMILES.")
        else:
            super().__init__("There are no SMILES.", "Give at least one molecule.")
        self.failures = tuple(failures)


@dataclass(frozen=True)
class Molecules:
    """The graphs of the readable SMILES, which input each came from, and the unreadable ones."""

    store: GraphStore
    kept: IntArray
    failures: tuple[Failure, ...]


def molecules_to_store(
    smiles: Sequence[str],
    features: FeatureSet = "ogb",
    *,
    y: npt.ArrayLike | None = None,
    ids: Sequence[str] | None = None,
    task: Task | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Molecules:
    """Read SMILES with RDKit and pack them as graphs, each bond as two directed edges.

    `y` and `ids` have one row per SMILES; rows of unreadable SMILES are left out. `workers` is the number
    of processes (default: one, or all cores for 20,000 molecules and more). `progress` is called with
    (done, total). As RDKit has it, text after a blank is a title, not part of the molecule.
    """
    feature_spec(features)
    labels = _rows_of(y, len(smiles), "labels")
    if ids is not None and len(ids) != len(smiles):
        raise DataError(f"There are {len(smiles)} SMILES but {len(ids)} ids.")
    kept: list[IntArray] = [np.empty(0, dtype=np.int64)]
    failures: list[Failure] = []
    joining, done = Joining(), 0
    for size, chunk in map_chunks(partial(convert, features=features), smiles, workers):
        kept.append(chunk.kept + done)
        failures.extend(replace(f, position=f.position + done) for f in chunk.failures)
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
    return Molecules(store, positions, tuple(failures))


def _rows_of(y: npt.ArrayLike | None, count: int, what: str) -> npt.NDArray[np.float64] | None:
    if y is None:
        return None
    rows = np.asarray(y, dtype=np.float64)
    if rows.ndim == 0 or len(rows) != count:
        raise DataError(f"There are {count} SMILES but {len(rows) if rows.ndim else 1} {what}.")
    return rows.reshape(count, -1)


def _default_task(labels: npt.NDArray[np.float64] | None) -> Task:
    return Task("none", num_tasks=0) if labels is None else Task("regression", num_tasks=labels.shape[1])
