"""GraphEmbedder: graphs in, vectors out, as a scikit-learn transformer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from adgcl.core.errors import CheckpointError, ConfigError, DataError
from adgcl.core.files import ensure_folder, write_json
from adgcl.core.trees import TreeError, fitted, read_json
from adgcl.data.dataset import Dataset
from adgcl.data.labelling import labelled
from adgcl.estimators.copies import from_bytes, to_bytes
from adgcl.estimators.inputs import GraphEstimator
from adgcl.experiments.planning import Request, plan
from adgcl.graphs.chem.molecules import NoMoleculesError
from adgcl.graphs.chem.morgan import morgan_counts
from adgcl.methods.base import METHODS
from adgcl.training.checkpoints import random_states, save_checkpoint
from adgcl.training.device import scoped_threads
from adgcl.training.export import Matrix, align
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import LoadedRun, describe_data, load_run
from adgcl.training.trackers import ProgressBar
from adgcl.training.trainer import Trainer

Features = Literal["embedding", "embedding+ecfp", "ecfp"]
_PARAMETERS = "estimator.json"
_BITS = 2048


class GraphEmbedder(TransformerMixin, GraphEstimator):  # type: ignore[misc]
    """Learn graph embeddings without labels.

    `X` may be a list or column of SMILES, of RDKit molecules, of PyTorch Geometric Data or of NetworkX graphs, a
    GraphStore, a Dataset, the name of a known data set or the path of a file. `settings` are nested as in a
    configuration file (`{"method": {"reg_lambda": 1.0}, "encoder": {"hidden_dim": 64}}`) and override the preset for
    this kind of data; in a parameter search they are called `method__reg_lambda`, `encoder__hidden_dim` and so on. With
    `on_error="nan"` an input that cannot be read gives a row of NaN and a warning, with "raise" an error.

    With `pretrained` (a run folder, a checkpoint or a packaged encoder) nothing is trained: `fit` opens it, and
    training settings are ignored. `features` adds the counts of a Morgan fingerprint (radius 2, 2,048 columns) to the
    vectors of molecules, or uses them alone.

    Several embedders may be fitted in parallel threads: each has its own random numbers, and torch's are left
    untouched. A fitted embedder can be pickled.

    >>> embedder = GraphEmbedder(epochs=1, settings={"encoder": {"hidden_dim": 8}})
    >>> embedder.fit_transform(["CCO", "c1ccccc1", "CC(=O)O"]).shape
    (3, 8)
    """

    # The trained encoder; None for fingerprints alone.
    run_: LoadedRun | None

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
        features: Features = "embedding",
        pretrained: str | None = None,
    ) -> None:
        self.method = method
        self.epochs = epochs
        self.seed = seed
        self.device = device
        self.settings = settings
        self.on_error = on_error
        self.data_dir = data_dir
        self.verbose = verbose
        self.features = features
        self.pretrained = pretrained

    @classmethod
    def from_pretrained(cls, encoder: str | Path, **parameters: Any) -> GraphEmbedder:
        """A trained encoder, ready to transform: a run folder, a checkpoint file, or one that comes with the package.

        >>> GraphEmbedder.from_pretrained("zinc-gin", features="embedding+ecfp")  # doctest: +SKIP
        """
        made = cls(pretrained=str(encoder), **parameters)
        made._open()
        return made

    def fit(self, X: Any, y: Any = None) -> GraphEmbedder:
        """Learn from graphs; only methods that learn from labels (`supervised`) use `y`."""
        self._fit(X, y)
        return self

    def transform(self, X: Any) -> Matrix:
        """A row per graph, in order."""
        check_is_fitted(self, "run_")
        self._check_features()
        with scoped_threads():
            source = self._source(X)
            try:
                dataset = source.load() if self.run_ is None else source.load_for(self.run_.config.data)
            except NoMoleculesError as error:
                return np.full((self._report_nothing_readable(error), self.n_features_out_), np.nan, dtype=np.float32)
            self._report_bad_rows(dataset)
            return self._vectors(dataset)

    def fit_transform(self, X: Any, y: Any = None) -> Matrix:
        """`fit(X)`, then `transform(X)`, reading X once."""
        with scoped_threads():
            dataset = self._fit(X, y)
            return self.transform(X) if dataset is None else self._vectors(dataset)

    @property
    def n_features_out_(self) -> int:
        """How many columns `transform` gives."""
        return sum(self._widths)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """`e0`, `e1`, ... as in embedding tables, then `ecfp0`, `ecfp1`, ..."""
        check_is_fitted(self, "run_")
        width, counts = self._widths
        return np.array([f"e{i}" for i in range(width)] + [f"ecfp{i}" for i in range(counts)], dtype=object)

    def save(self, folder: str | Path) -> Path:
        """Keep the fitted embedder as a run folder, which `adgcl embed` reads too."""
        check_is_fitted(self, "run_")
        if self.run_ is None:
            raise ConfigError("There is no encoder to save: features='ecfp' learns nothing.", "Make it again instead.")
        parameters = json.loads(json.dumps(self.get_params(deep=False), default=_plain))
        files = RunFolder(ensure_folder(Path(folder)))
        run, saved = self.run_, self.run_.checkpoint
        write_json(files.config, run.config.to_tree())
        save_checkpoint(files.checkpoint, run.method, run.config, saved.position, random_states(saved), saved.data)
        write_json(files.path / _PARAMETERS, parameters)
        return files.path

    @classmethod
    def load(cls, folder: str | Path, device: str | None = None) -> GraphEmbedder:
        """Open what `save` wrote, or any run folder that `adgcl pretrain` made, on this device or the best there is."""
        run = load_run(folder, device or "auto")
        path = Path(folder) / _PARAMETERS
        try:
            parameters = fitted(dict[str, Any], read_json(path)) if path.exists() else {}
            made = cls(**parameters) if parameters else cls._like(run)
        except (OSError, TreeError, TypeError) as error:
            raise CheckpointError(
                f"{path} is damaged: {error}.", "Remove it; the run itself is in the checkpoint."
            ) from error
        made.run_, made.device = run, device or "auto"
        return made

    @classmethod
    def _like(cls, run: LoadedRun) -> GraphEmbedder:
        """An embedder whose parameters say what a run was trained with."""
        tree = run.config.to_tree()
        training = tree["training"]
        return cls(tree["method"]["name"], training.pop("epochs"), training.pop("seed"), training.pop("device"), tree)

    def _fit(self, X: Any, y: Any) -> Dataset | None:
        """The data as the encoder sees it, where it had to be read."""
        if self.pretrained is not None or self.features == "ecfp":
            self._open()
            return None
        self._check_on_error()
        self._check_features_name()
        source = self._source(X)
        dataset = source.load()
        run = plan(dataset, Request(self.method, flags=self._flags())).run
        dataset = source.seen_through(dataset, run.data)
        self._report_bad_rows(dataset)
        if METHODS[run.method.name].needs_labels:
            dataset = _with_labels(dataset, y, run.method.name)
        tracker = ProgressBar(self.method, enabled=self.verbose)
        with scoped_threads():
            trainer = Trainer(run, dataset.store, trackers=[tracker], data=describe_data(dataset))
            trainer.fit()
        self.run_ = LoadedRun.of(trainer)
        return dataset

    def _open(self) -> None:
        """Set up what needs no training: a pre-trained encoder, or none for fingerprints alone."""
        self._check_on_error()
        self._check_features_name()
        with scoped_threads():
            encoder = None if self.features == "ecfp" else self.pretrained
            self.run_ = None if encoder is None else load_run(encoder, self.device)

    def _check_features_name(self) -> None:
        if self.features not in get_args(Features):
            raise ConfigError(f"features = {self.features!r}.", f"Use one of {', '.join(get_args(Features))}.")

    def _check_features(self) -> None:
        """Features may be changed after fitting, as long as there is an encoder for them."""
        self._check_features_name()
        if self.run_ is None and self.features != "ecfp":
            raise ConfigError(f"features = {self.features!r}, but only fingerprints were fitted.", "Call fit again.")

    @property
    def _widths(self) -> tuple[int, int]:
        """How many columns come from the encoder, and how many are counts."""
        encoder = 0 if self.run_ is None or self.features == "ecfp" else self.run_.method.width
        return encoder, _BITS if "ecfp" in self.features else 0

    def _vectors(self, dataset: Dataset) -> Matrix:
        """A row for every input row; those that could not be read are NaN."""
        parts = [] if self.run_ is None or self.features == "ecfp" else [self.run_.embed(dataset)]
        if "ecfp" in self.features:
            if dataset.smiles is None:
                raise DataError(
                    "Graphs without SMILES have no fingerprints.", "Give molecules, or features='embedding'."
                )
            parts.append(morgan_counts(dataset.smiles, bits=_BITS))
        return align(dataset, parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))[1]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if state.get("run_") is not None:
            state = {**state, "run_": to_bytes(state["run_"])}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("run_"), bytes):
            state = {**state, "run_": from_bytes(state["run_"], state["device"])}
        super().__setstate__(state)


def _with_labels(dataset: Dataset, y: Any, method: str) -> Dataset:
    """The labels to learn from: `y`, or those that the data came with."""
    if y is not None:
        return labelled(dataset, y)
    if dataset.store.y is None:
        raise DataError(f"The method {method!r} learns from labels.", "Call fit(X, y).")
    return dataset


def _plain(value: Any) -> Any:
    """A parameter that JSON does not know: a NumPy number, or a path."""
    return value.item() if isinstance(value, np.generic) else str(value)
