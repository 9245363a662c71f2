"""Finished runs: the trained method, and new graphs brought into the shape it knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.graphs.store.ranges import smallest_unsigned
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.base import Method
from adgcl.training.checkpoints import Checkpoint, load_checkpoint
from adgcl.training.device import keep_freed_memory, pick_device, set_threads
from adgcl.training.embedding import embed_dataset
from adgcl.training.run_config import RunConfig
from adgcl.training.run_folder import find_checkpoint
from adgcl.training.trainer import Trainer

# Embedding keeps no activations for a backward pass, so wide batches fit, and they are faster.
_EMBED_BATCH = 256


@dataclass(frozen=True)
class LoadedRun:
    """A trained method and what its checkpoint says."""

    path: Path
    method: Method
    checkpoint: Checkpoint

    @property
    def config(self) -> RunConfig:
        return self.checkpoint.config

    @classmethod
    def of(cls, trainer: Trainer) -> LoadedRun:
        """What a Trainer has just trained, as if it had been saved and loaded."""
        method, tensors = trainer.method, {f"random/{name}": state for name, state in trainer.random_states().items()}
        return cls(
            Path(),
            method,
            Checkpoint(trainer.config, method.spec, method.task, trainer.progress, tensors, trainer.data),
        )

    def embed(self, dataset: Dataset, progress: Callable[[int, int], None] | None = None) -> npt.NDArray[np.float32]:
        """A row per graph, which may be new to the method but must carry the same features."""
        fitting = dataset.with_store(fit_features(dataset.store, self.checkpoint.spec))
        return embed_dataset(self.method, fitting, _EMBED_BATCH, progress)


def load_run(run: str | Path, device: str = "auto") -> LoadedRun:
    """Open a run folder (or a checkpoint file) for use."""
    checkpoint = load_checkpoint(find_checkpoint(Path(run)))
    keep_freed_memory()
    set_threads(checkpoint.config.training.threads, checkpoint.config.encoder.hidden_dim)
    return LoadedRun(Path(run), checkpoint.make_method(pick_device(device)), checkpoint)


def describe_data(dataset: Dataset) -> dict[str, Any]:
    """What a checkpoint remembers of its data; the fingerprint is of the graphs, for labels are often not looked at."""
    return {
        "name": dataset.name,
        "family": dataset.origin.family,
        "source": dataset.origin.source,
        "graphs": len(dataset),
        "unreadable": len(dataset.bad_rows),
        "fingerprint": fingerprint(replace(dataset.store, y=None)),
    }


def fit_features(store: GraphStore, spec: FeatureSpec) -> GraphStore:
    """`store` described by the checkpoint's `spec`, or a DataError that says where they differ."""
    if store.spec == spec:
        return store
    _check_columns("node", spec.node, store.spec.node)
    _check_columns("edge", spec.edge, store.spec.edge)
    x = _known_codes("node", spec.node, store.spec.node, store.x)
    edge_attr = _known_codes("edge", spec.edge, store.spec.edge, store.edge_attr)
    return replace(store, x=x, edge_attr=edge_attr, spec=spec)


_ADVICE = "Use data of the same kind, or pre-train on this data with `adgcl pretrain`."


def _check_columns(what: str, known: Features, found: Features) -> None:
    if len(known.sizes) != len(found.sizes) or known.num_dim != found.num_dim:
        raise DataError(
            f"These graphs do not fit the run: it was trained with {_columns(known)} per {what}, "
            f"they have {_columns(found)}.",
            _ADVICE,
        )


def _known_codes(what: str, known: Features, found: Features, codes: Any) -> Any:
    """The same categories under the numbers the run knows them by; one it has never seen is an error."""
    if codes is None:
        return None
    columns = []
    for i, column in enumerate(np.asarray(codes).T):
        mine, theirs = (dict(enumerate(f.values)).get(i, ()) for f in (known, found))
        number = np.arange(found.sizes[i])
        if mine and theirs:
            place = {value: code for code, value in enumerate(mine)}
            number = np.array([place.get(value, len(mine)) for value in theirs])
        renumbered = number[column]
        if renumbered.max(initial=0) >= known.sizes[i]:
            stranger = int(column[renumbered.argmax()])
            label = theirs[stranger] if mine and theirs else stranger
            raise DataError(
                f"These graphs do not fit the run: {what} column {i} has category {label}, which it never saw "
                f"({known.sizes[i]} are known).",
                _ADVICE,
            )
        columns.append(renumbered)
    return smallest_unsigned(np.stack(columns, axis=1))


def _columns(features: Features) -> str:
    if features.empty:
        return "no features"
    parts = [f"{len(features.sizes)} categorical"] if features.sizes else []
    parts += [f"{features.num_dim} real"] if features.num_dim else []
    count = len(features.sizes) + features.num_dim
    return f"{' and '.join(parts)} column{'s' if count != 1 else ''}"
