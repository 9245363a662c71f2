"""GraphClassifier and GraphRegressor: graphs and labels in, predictions out, as scikit-learn estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from adgcl.core.config import build
from adgcl.core.errors import DataError
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset
from adgcl.estimators.copies import from_bytes, to_bytes
from adgcl.estimators.inputs import GraphEstimator
from adgcl.estimators.training import train_members
from adgcl.experiments.model.ensemble import ask
from adgcl.experiments.planning import Request, plan
from adgcl.graphs.chem.molecules import NoMoleculesError
from adgcl.graphs.chem.unreadable import is_missing
from adgcl.methods.supervised import Supervised
from adgcl.protocols.finetune import FinetuneConfig
from adgcl.training.device import scoped_threads
from adgcl.training.export import align
from adgcl.training.fitting import fit_features
from adgcl.training.runs import LoadedRun

Labels = npt.NDArray[np.float64]


class _Predictor(GraphEstimator):
    """Fine-tuned networks behind the interface of scikit-learn."""

    sections: ClassVar[tuple[str, ...]] = (*GraphEstimator.sections, "protocol")

    def __init__(
        self,
        start_from: str | None = None,
        epochs: int | None = None,
        members: int = 1,
        validation: float = 0.1,
        patience: int = 0,
        seed: int = 0,
        device: str = "auto",
        settings: dict[str, Any] | None = None,
        on_error: Literal["nan", "raise"] = "raise",
        data_dir: str | Path | None = None,
        verbose: bool = False,
    ) -> None:
        self.start_from = start_from
        self.epochs = epochs
        self.members = members
        self.validation = validation
        self.patience = patience
        self.seed = seed
        self.device = device
        self.settings = settings
        self.on_error = on_error
        self.data_dir = data_dir
        self.verbose = verbose

    def _fit(self, X: Any, y: Labels, task: Task) -> None:
        """Train every member on the rows that can be read and have a label."""
        self._check_on_error()
        source = self._source(X)
        dataset = source.load()
        asked = self._flags(start_from=str(self.start_from or ""))
        asked["protocol"] = {"patience": self.patience, **asked.get("protocol", {}), "name": FinetuneConfig().name}
        build(FinetuneConfig, asked["protocol"], "protocol")  # a plan would pass over names that it does not know
        planned = plan(dataset, Request("supervised", flags=asked))
        dataset = source.seen_through(dataset, planned.run.data)
        self._report_bad_rows(dataset)
        dataset = dataset.with_store(dataset.store.with_labels(_of_readable(dataset, y), task))
        with scoped_threads():
            self.runs_ = train_members(dataset, planned, self.members, self.validation, self.verbose)

    def _ask(self, X: Any) -> tuple[Labels, Labels]:
        """Mean and spread of the members for every input, in order; NaN where one cannot be read."""
        check_is_fitted(self, "runs_")
        networks = [_supervised(run) for run in self.runs_]
        with scoped_threads():
            try:
                dataset = self._source(X).unlabelled.load_for(self.runs_[0].config.data)
            except NoMoleculesError as error:
                task = networks[0].task
                nothing = np.full((self._report_nothing_readable(error), task.num_classes or task.num_tasks), np.nan)
                return nothing, nothing
            self._report_bad_rows(dataset)
            answers = ask(networks, fit_features(dataset.store, self.runs_[0].checkpoint.spec))
        mean, spread = (align(dataset, part.astype(np.float32))[1] for part in (answers.mean, answers.spread))
        return mean.astype(np.float64), spread.astype(np.float64)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "runs_": [to_bytes(run) for run in state["runs_"]]} if "runs_" in state else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "runs_" in state:
            state = {**state, "runs_": [from_bytes(content, state["device"]) for content in state["runs_"]]}
        super().__setstate__(state)


class GraphRegressor(RegressorMixin, _Predictor):  # type: ignore[misc]
    """Predict values of graphs; the network starts from a trained encoder (`start_from`) or from scratch.

    `X` may be anything GraphEmbedder reads. `y` has a number for each input, or a row of numbers, NaN for missing.
    `validation` is the share of rows that are held out to choose the best epoch; with 0 all rows train and the last
    epoch counts. Several `members` are trained from different seeds: their mean is the prediction. Settings are
    those of `adgcl finetune`; `epochs=None` takes the preset's.

    >>> model = GraphRegressor(epochs=2, validation=0, settings={"encoder": {"hidden_dim": 8}})
    >>> model.fit(["CCO", "CCC", "CCN", "CCCC"], [0.1, 0.2, 0.3, 0.4]).predict(["CCO"]).shape
    (1,)
    """

    def fit(self, X: Any, y: Any) -> GraphRegressor:
        """Learn from graphs and their values."""
        values = _as_numbers(y, "For classes there is GraphClassifier.")
        if values.ndim == 0 or not len(values):
            raise DataError("y holds no labels.", "Give a number for each graph.")
        columns = values.reshape(len(values), -1)
        _refuse_constants(columns)
        self._fit(X, columns, Task("regression", columns.shape[1]))
        self.single_ = values.ndim == 1
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """A value per graph, in order; with `return_std` also the members' standard deviation."""
        mean, spread = (part[:, 0] if self.single_ else part for part in self._ask(X))
        return (mean, spread) if return_std else mean


class GraphClassifier(ClassifierMixin, _Predictor):  # type: ignore[misc]
    """Predict classes of graphs; the network starts from a trained encoder (`start_from`) or from scratch.

    `y` has a class for each input (numbers or texts, None or NaN for missing), or a row of zeros, ones and NaN for
    several yes-or-no questions; then `predict_proba` has a column for each question. Otherwise as GraphRegressor.

    >>> model = GraphClassifier(epochs=2, validation=0, settings={"encoder": {"hidden_dim": 8}})
    >>> model.fit(["CCO", "CCC", "CCN", "CCCC"], ["polar", "greasy", "polar", "greasy"]).predict(["CCO"]).shape
    (1,)
    """

    def fit(self, X: Any, y: Any) -> GraphClassifier:
        """Learn from graphs and their classes."""
        table = np.asarray(y, dtype=None if hasattr(y, "shape") else object)
        if table.ndim == 2 and table.shape[1] > 1:
            numbers = _as_numbers(table, "Several questions are answered by 0 and 1; NaN is a missing answer.")
            _refuse_constants(numbers)
            self.classes_, task = np.arange(table.shape[1]), Task("binary", table.shape[1])
        else:
            self.classes_, numbers = _numbered(table.reshape(-1))
            count = len(self.classes_)
            task = Task("binary") if count == 2 else Task("multiclass", num_classes=count)
        self.several_ = task.num_tasks > 1
        self._fit(X, numbers, task)
        return self

    def predict_proba(self, X: Any) -> Labels:
        """A column per class, or per question; rows that cannot be read are NaN."""
        rows, _ = self._ask(X)
        return np.concatenate((1 - rows, rows), axis=1) if rows.shape[1] == 1 else rows

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each graph; None where an input cannot be read."""
        rows = self.predict_proba(X)
        readable = np.isfinite(rows.sum(axis=1))
        if self.several_:
            return np.where(readable[:, None], rows > 0.5, np.nan)
        if readable.all():
            chosen: npt.NDArray[Any] = self.classes_[rows.argmax(axis=1)]
            return chosen
        named = np.full(len(rows), None, dtype=object)
        named[readable] = self.classes_[rows[readable].argmax(axis=1)]
        return named


def _as_numbers(y: Any, advice: str) -> Labels:
    try:
        return np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"y does not hold numbers: {error}.", advice) from error


def _refuse_constants(y: Labels) -> None:
    """Refuse values from which nothing can be learned, as `adgcl finetune` does."""
    if np.isnan(y).all():
        raise DataError("Every label in y is missing.", "Give y with at least two different numbers.")
    if all(len(np.unique(column[~np.isnan(column)])) < 2 for column in y.T):
        raise DataError(
            "No column of y has two different values: nothing can be learned.",
            "Give y with at least two different numbers.",
        )


def _numbered(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Labels]:
    """The classes in order, and each label as the number of its class, NaN where it is missing."""
    missing = np.array([is_missing(value) for value in y.tolist()], dtype=bool)
    known = y[~missing]
    if known.dtype == object:
        if len({isinstance(label, str) for label in known.tolist()}) > 1:
            raise DataError("y mixes texts and numbers.", "Write all classes as texts, or all as numbers.")
        known = np.array(known.tolist())
    if known.dtype.kind == "f" and (known != np.round(known)).any():
        raise DataError("y holds numbers with fractions, not classes.", "Use GraphRegressor, or round y.")
    classes, codes = np.unique(known, return_inverse=True)
    if len(classes) < 2:
        raise DataError(
            f"There is {'only one class' if len(classes) else 'no label'}: nothing can be learned.",
            "Give y with at least two classes.",
        )
    numbers = np.full((len(y), 1), np.nan)
    numbers[~missing, 0] = codes
    return classes, numbers


def _of_readable(dataset: Dataset, y: Labels) -> Labels:
    count = len(dataset) + len(dataset.bad_rows)
    if len(y) != count:
        raise DataError(f"There are {count} inputs but {len(y)} labels.", "Give a label for each.")
    return y if dataset.rows is None else y[np.asarray(dataset.rows)]


def _supervised(run: LoadedRun) -> Supervised:
    assert isinstance(run.method, Supervised)
    return run.method
