"""Molecules labelled with their own descriptors: something to learn from where nothing was measured."""

from __future__ import annotations

from dataclasses import replace

from adgcl.core.errors import DataError
from adgcl.core.progress import Count
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset
from adgcl.graphs.chem.descriptors import descriptor_names, descriptors


def described(dataset: Dataset, workers: int | None = None, progress: Count | None = None) -> Dataset:
    """`dataset` with RDKit's descriptors as its labels, in place of any others."""
    if dataset.smiles is None:
        raise DataError(f"{dataset.name} has no SMILES to compute descriptors from.", "Descriptors need molecules.")
    names = descriptor_names()
    values = descriptors(dataset.smiles, workers, progress)
    task = Task("regression", num_tasks=len(names), names=names)
    return replace(dataset.with_store(dataset.store.with_labels(values, task)), split=None)


def is_described(task: Task) -> bool:
    """Whether labels are descriptors rather than measurements."""
    return task.kind == "regression" and task.names == descriptor_names()
