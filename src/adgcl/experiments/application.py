"""Application: a finished run on data it may never have seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.data.dataset import Dataset
from adgcl.experiments.source import Source
from adgcl.training.export import align
from adgcl.training.runs import LoadedRun, fit_features, load_run


@dataclass(frozen=True)
class Embedded:
    """One row per input row, in order; rows that could not be read are NaN."""

    ids: list[str]
    matrix: npt.NDArray[np.float32]
    dataset: Dataset
    run: LoadedRun


def embed_data(
    run: Path,
    source: Source,
    *,
    device: str = "auto",
    progress: Any = None,
    on_embedded: Callable[[int, int], None] | None = None,
) -> Embedded:
    """Embed every row of `source` with a finished run, seen through the run's own data settings."""
    loaded, dataset = open_both(run, source.unlabelled, device, progress)
    ids, matrix = embed_dataset(loaded, dataset, on_embedded)
    return Embedded(ids, matrix, dataset, loaded)


def embed_dataset(
    run: LoadedRun, dataset: Dataset, on_embedded: Callable[[int, int], None] | None = None
) -> tuple[list[str], npt.NDArray[np.float32]]:
    """The ids and vectors of every input row of a Dataset."""
    return align(dataset, run.embed(dataset, on_embedded))


def open_both(run: Path, source: Source, device: str = "auto", progress: Any = None) -> tuple[LoadedRun, Dataset]:
    """A finished run, and data that is checked to fit it."""
    loaded = load_run(run, device)
    source = source.following(loaded.config.data, loaded.mixtures)
    dataset = source.load_for(loaded.config.data, progress)
    loaded.method.check_data(dataset)
    return loaded, dataset.with_store(fit_features(dataset.store, loaded.checkpoint.spec))
