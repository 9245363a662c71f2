"""Vectors: the embeddings of a data set by a run, a model or a packaged encoder, ready to be compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.progress import Progress
from adgcl.data.dataset import Dataset
from adgcl.experiments.model.folder import ABOUT, member_file
from adgcl.experiments.source import Source, atom_features_of
from adgcl.graphs.chem.atoms import FeatureSet
from adgcl.graphs.chem.molecules import molecules_to_store
from adgcl.graphs.store.ranges import IntArray
from adgcl.training.export import Matrix
from adgcl.training.run_config import DataConfig
from adgcl.training.runs import LoadedRun, load_run, open_run


@dataclass(frozen=True, eq=False)
class Vectors:
    """A row for each graph of `dataset`, and the run that made the rows."""

    dataset: Dataset
    matrix: Matrix
    run: LoadedRun
    left_out: int = 0


def embed_source(
    place: str | Path,
    source: Source,
    *,
    most: int | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> Vectors:
    """Embed the graphs of `source`; of more than `most` a sample, drawn with a fixed seed, in their order."""
    run = open_encoder(place, device)
    source = source.following(run.config.data, run.mixtures)
    whole = source.load(progress=progress)
    part = whole if most is None or len(whole) <= most else sampled(whole, most)
    dataset = as_read(part, run.config.data.atom_features)
    rows = embed_with(run, dataset, source, progress)
    return Vectors(dataset, rows, run, len(whole) - len(dataset))


def embed_with(run: LoadedRun, dataset: Dataset, source: Source, progress: Progress | None = None) -> Matrix:
    """A row for each graph of a data set (or a part of it) that was loaded from `source`, and was `as_read`."""
    seen = seen_through(source, dataset, run.config.data)
    run.method.check_data(seen)
    return run.embed(seen, None if progress is None else lambda done, total: progress("embed", done, total))


def seen_through(source: Source, dataset: Dataset, config: DataConfig) -> Dataset:
    """The graphs with the features that a run chooses."""
    return source.seen_through(as_read(dataset, config.atom_features), config)


def as_read(dataset: Dataset, atom_features: FeatureSet) -> Dataset:
    """Molecules with the atom features that a run needs; others are as they were.

    Reading the whole source again for the sake of a sample would take too long, and some sets have features of their
    own only.
    """
    same = dataset.smiles is None or atom_features_of(dataset) in (None, atom_features)
    return dataset if same else read_again(dataset, atom_features)


def read_again(dataset: Dataset, atom_features: FeatureSet) -> Dataset:
    """Molecules read from their SMILES; those that RDKit rejects are left out."""
    assert dataset.smiles is not None
    read = molecules_to_store(dataset.smiles, atom_features)
    kept = selected(dataset, read.kept)
    return kept.with_store(replace(read.store, ids=kept.store.ids).with_labels(kept.store.y, dataset.task))


def open_encoder(place: str | Path, device: str = "auto") -> LoadedRun:
    """A run folder, a checkpoint, a model (its first network) or a packaged encoder, open for embedding."""
    path = Path(place)
    return open_run(path / member_file(0), path, device) if (path / ABOUT).exists() else load_run(path, device)


def sampled(dataset: Dataset, count: int) -> Dataset:
    """`count` graphs of a data set, drawn with a fixed seed, in their order."""
    chosen = np.sort(np.random.default_rng(0).permutation(len(dataset))[:count])
    return selected(dataset, chosen)


def selected(dataset: Dataset, chosen: IntArray) -> Dataset:
    """Only these graphs, with all that is known about them."""
    place = np.full(len(dataset), -1)
    place[chosen] = np.arange(len(chosen))
    parts = None
    if dataset.split is not None:
        parts = {name: (found := place[ids])[found >= 0] for name, ids in dataset.split.items()}
    rows = np.arange(len(dataset)) if dataset.rows is None else np.asarray(dataset.rows)
    smiles = None if dataset.smiles is None else [dataset.smiles[i] for i in chosen]
    store = dataset.store.select(chosen)
    if store.ids is None:  # a graph without a name keeps its number in the whole
        store = replace(store, ids=[str(number) for number in chosen.tolist()])
    return replace(dataset, store=store, split=parts, rows=rows[chosen], smiles=smiles)


def standardised(matrix: Matrix) -> Matrix:
    """Columns with mean 0 and deviation 1; constant ones become 0."""
    spread = matrix.std(axis=0)
    made: Matrix = ((matrix - matrix.mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0)).astype(np.float32)
    return made


def unit_rows(matrix: npt.NDArray[Any]) -> Matrix:
    """Rows of length 1, so that a product of two is their cosine; rows of zeros stay."""
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    made: Matrix = (matrix / np.where(length > 0, length, 1.0)).astype(np.float32)
    return made
