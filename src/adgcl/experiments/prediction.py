"""Prediction: what a fine-tuned model says about molecules, row by row, and how much that is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adgcl.core.errors import ConfigError
from adgcl.data.dataset import Dataset
from adgcl.experiments.model.ensemble import Answers, ask
from adgcl.experiments.model.folder import Model, open_model
from adgcl.experiments.model.held_out import COVERAGE, calibrated
from adgcl.experiments.source import Source
from adgcl.graphs.chem.vocabulary import Strangers, count_strangers
from adgcl.protocols.solvers.arrays import Floats
from adgcl.training.device import scoped_threads
from adgcl.training.export import Matrix, align
from adgcl.training.fitting import fit_features

Column = np.ndarray[Any, Any]
_RESERVED = ("id", "smiles", "in_domain", "distance", "problem")


@dataclass(frozen=True)
class Predicted:
    """A row for every input row, in its order; `columns` hold numbers (NaN: none), texts or truth values (None: none).

    `strangers` counts what the vocabulary of atoms and bonds has no name for. `unbanded` are the labels whose bands are
    empty, because too few values were held out to promise the `coverage`.
    """

    ids: list[str]
    columns: dict[str, Column]
    dataset: Dataset
    model: Model
    strangers: Strangers
    coverage: float = COVERAGE

    @property
    def unbanded(self) -> list[str]:
        pairs = zip(self.model.labels, self.model.intervals)
        return [name for name, bands in pairs if not bands.promises(self.coverage)]

    @property
    def outside(self) -> int:
        """How many rows are unlike what the model has learned from."""
        return int((self.columns["distance"] > 1).sum())


def predict(model: str | Path, data: Any, *, coverage: float | None = None, **reading: Any) -> dict[str, Column]:
    """What `adgcl predict MODEL DATA` writes, as a dictionary of columns; `pandas.DataFrame` makes a table of it.

    `data` is a file, a list of SMILES or RDKit molecules, or anything else that `load_dataset` reads; `reading` says
    how, as in `smiles_column="structure"`.
    """
    with scoped_threads():
        made = predict_data(model, Source(data, **reading), coverage=coverage)
    return {"id": np.array(made.ids, dtype=object), **made.columns}


def predict_data(
    model: str | Path,
    source: Source,
    *,
    coverage: float | None = None,
    device: str = "auto",
    progress: Any = None,
    on_predicted: Callable[[int, int], None] | None = None,
) -> Predicted:
    """Predict every row of `source`, seen through the model's own data settings.

    A `coverage` that is asked for must be possible for every label; the usual one is left out where it is not.
    """
    if coverage is not None and not 0 < coverage < 1:
        raise ConfigError(f"The coverage is {coverage:g}.", "It must be between 0 and 1, such as 0.9.")
    opened = open_model(model, device)
    if coverage is not None:
        _refuse_promises(opened, coverage)
    source = source.following(opened.config.data, opened.about.get("mixtures", 0))
    dataset = source.unlabelled.load_for(opened.config.data, progress)
    return predict_dataset(opened, dataset, COVERAGE if coverage is None else coverage, on_predicted)


def predict_dataset(
    model: Model, dataset: Dataset, coverage: float = COVERAGE, on_predicted: Callable[[int, int], None] | None = None
) -> Predicted:
    """The same with model and data at hand."""
    store = fit_features(dataset.store, model.spec)
    answers = ask(model.members, store, on_predicted)
    distance = model.domain.distances(answers.embedding)
    numbers = {**_answers(model, answers, distance, coverage), "distance": distance}
    ids, matrix = align(dataset, np.stack(list(numbers.values()), axis=1))
    columns: dict[str, Column] = dict(zip(numbers, matrix.T))
    if model.task.kind == "multiclass":
        columns = {"predicted": _named(model, matrix[:, : model.task.num_classes]), **columns}
    far = columns.pop("distance")
    columns["in_domain"] = near = np.full(len(far), None, dtype=object)
    near[~np.isnan(far)] = far[~np.isnan(far)] <= 1
    columns["distance"] = far
    columns["problem"] = problems(dataset, len(ids))
    if dataset.smiles is not None:
        columns = {"smiles": _molecules(dataset, len(ids)), **columns}
    return Predicted(ids, columns, dataset, model, count_strangers(dataset.store, dataset.smiles), coverage)


def _refuse_promises(model: Model, coverage: float) -> None:
    """Too much to promise is said before any work is done; a label that was never held out has no bands at all."""
    if not model.intervals:
        raise ConfigError(
            "A coverage was given, but this model predicts classes.",
            "Leave --coverage out: it is about the bands around predicted numbers.",
        )
    known = [(name, bands) for name, bands in zip(model.labels, model.intervals) if bands.scores]
    short = [f"{name} ({len(bands.scores)})" for name, bands in known if not bands.promises(coverage)]
    if short:
        raise ConfigError(
            f"Too few labels were held out to promise a coverage of {coverage:g}: {', '.join(short)}.",
            f"Ask for at most --coverage {min(bands.most for _, bands in known):g}, or fine-tune with more labels.",
        )


def problems(dataset: Dataset, count: int) -> Column:
    """Why a row has no prediction, at its place; an empty text where it has one."""
    texts = np.full(count, "", dtype=object)
    missing = np.setdiff1d(np.arange(count), _rows(dataset))
    texts[missing] = [bad.reason for bad in dataset.bad_rows[: len(missing)]]
    return texts


def _molecules(dataset: Dataset, count: int) -> Column:
    """The SMILES of every row; of an unreadable one its text."""
    assert dataset.smiles is not None
    texts = np.full(count, "", dtype=object)
    texts[_rows(dataset)] = list(dataset.smiles)
    missing = np.setdiff1d(np.arange(count), _rows(dataset))
    texts[missing] = [bad.text for bad in dataset.bad_rows[: len(missing)]]
    return texts


def _rows(dataset: Dataset) -> np.ndarray[Any, Any]:
    """The input row of each graph."""
    return np.arange(len(dataset)) if dataset.rows is None else np.asarray(dataset.rows)


def _answers(model: Model, answers: Answers, distance: Floats, coverage: float) -> dict[str, Floats]:
    """The columns of numbers that the task has."""
    if model.task.kind == "regression":
        return _values(model, answers, distance, coverage)
    probability = calibrated(answers.mean, model.calibrations, model.task)
    if model.task.kind == "multiclass":
        names = model.about["classes"]
        top = answers.mean.argmax(axis=1)[:, None]
        spread = np.take_along_axis(answers.spread, top, axis=1)[:, 0]
        return {**{f"{name}_probability": column for name, column in zip(names, probability.T)}, "std": spread}
    made: dict[str, Floats] = {}
    for name, column, spread in zip(model.labels, probability.T, answers.spread.T):
        made |= {f"{name}_probability": column, f"{name}_std": spread}
    return made


def _values(model: Model, answers: Answers, distance: Floats, coverage: float) -> dict[str, Floats]:
    made: dict[str, Floats] = {}
    taken = {*_RESERVED, *(f"{name}_{ending}" for name in model.labels for ending in ("std", "low", "high"))}
    for name, bands, mean, spread in zip(model.labels, model.intervals, answers.mean.T, answers.spread.T):
        half = bands.half_width(coverage, spread, distance)
        column = f"{name}_value" if name in taken else name
        made |= {column: mean, f"{name}_std": spread, f"{name}_low": mean - half, f"{name}_high": mean + half}
    return made


def _named(model: Model, probability: Matrix) -> Column:
    """The name of the most probable class; nothing where there is no prediction."""
    names = np.array(model.about["classes"], dtype=object)
    readable = ~np.isnan(probability).any(axis=1)
    named = np.full(len(probability), None, dtype=object)
    named[readable] = names[probability[readable].argmax(axis=1)]
    return named
