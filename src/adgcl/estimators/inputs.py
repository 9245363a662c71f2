"""What all estimators share: nested settings as parameters, the kinds of input, and inputs that cannot be read."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from adgcl.core.config import merged
from adgcl.core.errors import ConfigError, DataError
from adgcl.data.dataset import Dataset
from adgcl.experiments.source import Source
from adgcl.graphs.chem.molecules import NoMoleculesError
from adgcl.graphs.chem.unreadable import shown


class GraphEstimator(BaseEstimator):  # type: ignore[misc]
    """Parameters `section__name` for individual settings; inputs as lists, frames, stores, names or paths."""

    # The sections of `settings` that can be named as parameters.
    sections: ClassVar[tuple[str, ...]] = ("method", "encoder", "training", "data")

    settings: dict[str, Any] | None
    on_error: str
    data_dir: str | Path | None
    epochs: int | None
    seed: int
    device: str

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep`, individual settings too, as `section__name`."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        # Settings that are not nested are rejected when they are used, not here.
        sections = self.settings if deep and isinstance(self.settings, Mapping) else {}
        for section, values in sections.items():
            if isinstance(values, Mapping):
                parameters |= {f"{section}__{name}": value for name, value in values.items()}
        return parameters

    def set_params(self, **parameters: Any) -> Any:
        """Set parameters, or individual settings as `section__name`, such as `encoder__hidden_dim=64`."""
        for key in [key for key in parameters if "__" in key]:
            *path, name = key.removeprefix("settings__").split("__")
            if len(path) != 1 or path[0] not in self.sections:
                known = ", ".join(f"{section}__NAME" for section in self.sections)
                raise ValueError(f"{key!r} is not a setting of {type(self).__name__}: use {known}.")
            self.settings = merged(self.settings or {}, {path[0]: {name: parameters.pop(key)}})
        super().set_params(**parameters)
        return self

    def _flags(self, **training: Any) -> dict[str, Any]:
        """The estimator's own parameters, overridden by what the user wrote in `settings`."""
        own = {"seed": self.seed, "device": self.device, **training}
        own |= {} if self.epochs is None else {"epochs": self.epochs}
        settings = self.settings or {}
        if not isinstance(settings, Mapping):
            raise ConfigError(
                f"settings = {settings!r}.", 'Give nested settings, such as {"encoder": {"dropout": 0.5}}.'
            )
        return {**settings, "training": {**own, **settings.get("training", {})}}

    def _source(self, X: Any) -> Source:
        return Source(single_column(X), None if self.data_dir is None else Path(self.data_dir))

    def _check_on_error(self) -> None:
        if self.on_error not in ("nan", "raise"):
            raise ConfigError(f"on_error = {self.on_error!r}.", "Use 'nan' or 'raise'.")

    def _report_bad_rows(self, dataset: Dataset) -> None:
        bad = dataset.bad_rows
        if bad:
            reasons = [f"{row.line}: {shown(row.text)}: {row.reason}" for row in bad[:3]]
            self._report(len(bad), len(bad) + len(dataset), reasons)

    def _report_nothing_readable(self, error: NoMoleculesError) -> int:
        """How many rows of NaN to return, where not one input can be read and that is no error."""
        if self.on_error == "raise" or not error.failures:
            raise error
        count = len(error.failures)
        reasons = [f"{one.position + 1}: {shown(one.smiles)}: {one.reason}" for one in error.failures[:3]]
        self._report(count, count, reasons)
        return count

    def _report(self, bad: int, total: int, reasons: list[str]) -> None:
        more = " ..." if bad > len(reasons) else ""
        message = f"{bad} of {total} inputs cannot be read ({'; '.join(reasons)}{more})."
        if self.on_error == "raise":
            raise DataError(message, "Remove them, or use on_error='nan'.")
        warnings.warn(f"{message} Their rows are NaN.", UserWarning, stacklevel=4)


def single_column(X: Any) -> Any:
    """A column of a DataFrame or array as a list; of several columns the one that is called SMILES."""
    if not (isinstance(X, np.ndarray) or hasattr(X, "iloc")):
        return X
    names = [str(name) for name in getattr(X, "columns", ())]
    table = np.asarray(X, dtype=object)
    if table.ndim < 2 or table.shape[1] == 1:
        return list(table.reshape(-1))
    called = [i for i, name in enumerate(names) if name.strip().lower() == "smiles"]
    if len(called) != 1:
        found = ", ".join(names) if names else f"{table.shape[1]} columns without names"
        raise DataError(f"X has several columns ({found}).", "Give the one that holds SMILES, such as X[['smiles']].")
    return list(table[:, called[0]])
