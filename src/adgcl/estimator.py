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

from adgcl.core.errors import CheckpointError, ConfigError, DataError
from adgcl.core.files import ensure_folder, write_json
from adgcl.data.dataset import Dataset
from adgcl.experiments.application import embed_dataset
from adgcl.experiments.planning import Wishes, plan
from adgcl.experiments.source import Source
from adgcl.graphs.chem.unreadable import shown
from adgcl.training.checkpoints import random_states, save_checkpoint
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import LoadedRun, describe_data, load_run
from adgcl.training.trackers import ProgressBar
from adgcl.training.trainer import Trainer

_PARAMETERS = "estimator.json"
Matrix = npt.NDArray[np.float32]


class GraphEmbedder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learn graph embeddings without labels.

    `X` may be a list of SMILES or RDKit Mols, of PyTorch Geometric Data or of NetworkX graphs, a GraphStore, a Dataset,
    the name of a known data set or the path of a file. `settings` are nested as in a configuration file
    (`{"method": {"reg_lambda": 1.0}, "encoder": {"hidden_dim": 64}}`) and lie over the preset for this kind of data.
    With `on_error="nan"` a SMILES that cannot be read gives a row of NaN and a warning, with "raise" an error.

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

    def fit(self, X: Any, y: Any = None) -> GraphEmbedder:
        """Learn from graphs; `y` is not looked at."""
        self._fit(X)
        return self

    def transform(self, X: Any) -> Matrix:
        """A row per graph, in order."""
        check_is_fitted(self, "run_")
        dataset = self._source(X).load_for(self.run_.config.data)
        self._mind_bad_rows(dataset)
        return embed_dataset(self.run_, dataset)[1]

    def fit_transform(self, X: Any, y: Any = None) -> Matrix:
        """`fit(X)`, then `transform(X)`, reading X once."""
        dataset = self._fit(X)
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
        save_checkpoint(files.checkpoint, run.method, run.config, saved.progress, random_states(saved), saved.data)
        parameters = {**self.get_params(), "data_dir": None if self.data_dir is None else str(self.data_dir)}
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

    def _fit(self, X: Any) -> Dataset:
        if self.on_error not in ("nan", "raise"):
            raise ConfigError(f"on_error = {self.on_error!r}.", "Use 'nan' or 'raise'.")
        source = self._source(X)
        dataset = source.load()
        training = {
            "seed": self.seed,
            "device": self.device,
            **({} if self.epochs is None else {"epochs": self.epochs}),
        }
        wishes = Wishes(self.method, flags=_under(self.settings or {}, {"training": training}))
        run = plan(dataset, wishes).run
        dataset = source.seen_through(dataset, run.data)
        self._mind_bad_rows(dataset)
        tracker = ProgressBar(self.method, enabled=self.verbose)
        trainer = Trainer(run, dataset.store, trackers=[tracker], data=describe_data(dataset))
        trainer.fit()
        self._keep(LoadedRun.of(trainer))
        return dataset

    def _keep(self, run: LoadedRun) -> GraphEmbedder:
        self.run_ = run
        self.n_features_out_ = run.method.width
        return self

    def _source(self, X: Any) -> Source:
        if isinstance(X, np.ndarray) or hasattr(X, "iloc"):
            # A column of SMILES, as pipelines hand them on.
            X = list(np.asarray(X, dtype=object).reshape(-1))
        return Source(X, None if self.data_dir is None else Path(self.data_dir))

    def _mind_bad_rows(self, dataset: Dataset) -> None:
        bad = dataset.bad_rows
        if not bad:
            return
        told = "; ".join(f"{row.line}: {shown(row.text)}: {row.reason}" for row in bad[:3])
        message = (
            f"{len(bad)} of {len(bad) + len(dataset)} inputs cannot be read ({told}{' ...' if len(bad) > 3 else ''})."
        )
        if self.on_error == "raise":
            raise DataError(message, "Remove them, or use on_error='nan'.")
        warnings.warn(f"{message} Their rows are NaN.", UserWarning, stacklevel=3)


def _under(settings: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """The estimator's own parameters, and over them what the user wrote in `settings`."""
    return {**own, **settings, "training": {**own["training"], **settings.get("training", {})}}
