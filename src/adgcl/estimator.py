"""GraphEmbedder: graphs in, vectors out, as a scikit-learn transformer."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from adgcl.core.config import merged
from adgcl.core.errors import CheckpointError, ConfigError, DataError
from adgcl.core.files import ensure_folder, write_json
from adgcl.data.dataset import Dataset
from adgcl.data.labelling import labelled
from adgcl.experiments.application import embed_dataset
from adgcl.experiments.planning import Request, plan
from adgcl.experiments.source import Source
from adgcl.graphs.chem.unreadable import shown
from adgcl.methods.base import METHODS
from adgcl.training.checkpoints import random_states, save_checkpoint
from adgcl.training.device import scoped_threads
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import LoadedRun, describe_data, load_run
from adgcl.training.trackers import ProgressBar
from adgcl.training.trainer import Trainer

_PARAMETERS = "estimator.json"
_SECTIONS = ("method", "encoder", "training", "data")
Matrix = npt.NDArray[np.float32]


class GraphEmbedder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learn graph embeddings without labels.

    `X` may be a list or column of SMILES, of RDKit molecules, of PyTorch Geometric Data or of NetworkX graphs, a
    GraphStore, a Dataset, the name of a known data set or the path of a file. `settings` are nested as in a
    configuration file (`{"method": {"reg_lambda": 1.0}, "encoder": {"hidden_dim": 64}}`) and lie over the preset for
    this kind of data; in a search they go by `method__reg_lambda`, `encoder__hidden_dim` and so on. With
    `on_error="nan"` an input that cannot be read gives a row of NaN and a warning, with "raise" an error.

    Several may be fitted side by side in threads: each has random numbers of its own, and torch's are left as they
    were.

    >>> embedder = GraphEmbedder(epochs=1, settings={"encoder": {"hidden_dim": 8}})
    >>> embedder.fit_transform(["CCO", "c1ccccc1", "CC(=O)O"]).shape
    (3, 8)
    """

    def __init__(
        self,
        method: str = "adgcl",
        epochs: int | None = 20,
        seed: int = 0,
        device: str = "auto",
        settings: dict[str, Any] | None = None,
        on_error: Literal["nan", "raise"] = "nan",
        data_dir: str | Path | None = None,
        verbose: bool = False,
    ) -> None:
        self.method = method
        self.epochs = epochs
        self.seed = seed
        self.device = device
        self.settings = settings
        self.on_error = on_error
        self.data_dir = data_dir
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep`, single settings too, as `section__name`."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for section, values in (self.settings or {}).items():
                parameters |= {f"{section}__{name}": value for name, value in values.items()}
        return parameters

    def set_params(self, **parameters: Any) -> GraphEmbedder:
        """Set parameters, or single settings as `section__name`, such as `method__reg_lambda=1.0`."""
        for key in [key for key in parameters if "__" in key]:
            *path, name = key.removeprefix("settings__").split("__")
            if len(path) != 1 or path[0] not in _SECTIONS:
                raise ValueError(f"{key!r} is no setting of {type(self).__name__}: use {', '.join(_SECTIONS)}__NAME.")
            self.settings = merged(self.settings or {}, {path[0]: {name: parameters.pop(key)}})
        super().set_params(**parameters)
        return self

    def fit(self, X: Any, y: Any = None) -> GraphEmbedder:
        """Learn from graphs; `y` is looked at by methods that learn from labels (`supervised`) alone."""
        self._fit(X, y)
        return self

    def transform(self, X: Any) -> Matrix:
        """A row per graph, in order."""
        check_is_fitted(self, "run_")
        with scoped_threads():
            dataset = self._source(X).load_for(self.run_.config.data)
            self._report_bad_rows(dataset)
            return embed_dataset(self.run_, dataset)[1]

    def fit_transform(self, X: Any, y: Any = None) -> Matrix:
        """`fit(X)`, then `transform(X)`, reading X once."""
        with scoped_threads():
            dataset = self._fit(X, y)
            return embed_dataset(self.run_, dataset)[1]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """`e0`, `e1`, ... as in embedding tables."""
        check_is_fitted(self, "run_")
        return np.array([f"e{i}" for i in range(self.n_features_out_)], dtype=object)

    def save(self, folder: str | Path) -> Path:
        """Keep the fitted embedder as a run folder, which `adgcl embed` reads too."""
        check_is_fitted(self, "run_")
        files = RunFolder(ensure_folder(Path(folder)))
        run, saved = self.run_, self.run_.checkpoint
        write_json(files.config, run.config.to_tree())
        save_checkpoint(files.checkpoint, run.method, run.config, saved.position, random_states(saved), saved.data)
        parameters = {**self.get_params(deep=False), "data_dir": None if self.data_dir is None else str(self.data_dir)}
        write_json(files.path / _PARAMETERS, parameters)
        return files.path

    @classmethod
    def load(cls, folder: str | Path, device: str | None = None) -> GraphEmbedder:
        """Open what `save` kept, or any run folder that `adgcl pretrain` made."""
        run = load_run(folder, device or "auto")
        path = Path(folder) / _PARAMETERS
        try:
            parameters = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            made = cls(**parameters) if parameters else cls._like(run)
        except (ValueError, TypeError) as error:
            raise CheckpointError(
                f"{path} is damaged: {error}.", "Remove it; the run itself is in the checkpoint."
            ) from error
        return made._keep(run)

    @classmethod
    def _like(cls, run: LoadedRun) -> GraphEmbedder:
        """An embedder whose parameters say what a run was trained with."""
        tree = run.config.to_tree()
        training = tree["training"]
        return cls(tree["method"]["name"], training.pop("epochs"), training.pop("seed"), training.pop("device"), tree)

    def _fit(self, X: Any, y: Any) -> Dataset:
        if self.on_error not in ("nan", "raise"):
            raise ConfigError(f"on_error = {self.on_error!r}.", "Use 'nan' or 'raise'.")
        source = self._source(X)
        dataset = source.load()
        training = {
            "seed": self.seed,
            "device": self.device,
            **({} if self.epochs is None else {"epochs": self.epochs}),
        }
        request = Request(self.method, flags=_under(self.settings or {}, {"training": training}))
        run = plan(dataset, request).run
        dataset = source.seen_through(dataset, run.data)
        self._report_bad_rows(dataset)
        if METHODS[run.method.name].needs_labels:
            dataset = _with_labels(dataset, y, run.method.name)
        tracker = ProgressBar(self.method, enabled=self.verbose)
        with scoped_threads():
            trainer = Trainer(run, dataset.store, trackers=[tracker], data=describe_data(dataset))
            trainer.fit()
        self._keep(LoadedRun.of(trainer))
        return dataset

    def _keep(self, run: LoadedRun) -> GraphEmbedder:
        self.run_ = run
        self.n_features_out_ = run.method.width
        return self

    def _source(self, X: Any) -> Source:
        return Source(_single_column(X), None if self.data_dir is None else Path(self.data_dir))

    def _report_bad_rows(self, dataset: Dataset) -> None:
        bad = dataset.bad_rows
        if not bad:
            return
        reasons = "; ".join(f"{row.line}: {shown(row.text)}: {row.reason}" for row in bad[:3])
        more = " ..." if len(bad) > 3 else ""
        message = f"{len(bad)} of {len(bad) + len(dataset)} inputs cannot be read ({reasons}{more})."
        if self.on_error == "raise":
            raise DataError(message, "Remove them, or use on_error='nan'.")
        warnings.warn(f"{message} Their rows are NaN.", UserWarning, stacklevel=3)


def _single_column(X: Any) -> Any:
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


def _with_labels(dataset: Dataset, y: Any, method: str) -> Dataset:
    """The labels to learn from: `y`, or those that the data came with."""
    if y is not None:
        return labelled(dataset, y)
    if dataset.store.y is None:
        raise DataError(f"The method {method!r} learns from labels.", "Call fit(X, y).")
    return dataset


def _under(settings: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """The estimator's own parameters, and over them what the user wrote in `settings`."""
    return {**own, **settings, "training": {**own["training"], **settings.get("training", {})}}
