"""Keeping: how likely an augmenter is to keep each edge, without drawing at random."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from adgcl.augmentations.edge_drop import EdgeDrop
from adgcl.augmentations.mixture import Mixture
from adgcl.core.errors import ConfigError
from adgcl.core.progress import Count
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.base import METHODS, Method

_BATCH = 256


def keep_probabilities(method: Method, store: GraphStore, progress: Count | None = None) -> npt.NDArray[np.float64]:
    """For every edge of the store, the probability that the augmenter keeps it.

    An edge is kept where `logit + noise > 0`. The noise is logistic, so this has probability `sigmoid(logit)` at any
    temperature; it is computed in 64 bits, so that probabilities near 1 can still be ranked. The augmenter is in
    evaluation mode: a graph's numbers do not depend on the rest of the batch.
    """
    augmenter = find_augmenter(method)
    augmenter.eval()
    device = next(augmenter.parameters()).device
    parts = [np.empty(0)]
    for start in range(0, len(store), _BATCH):
        stop = min(start + _BATCH, len(store))
        batch = store.batch(np.arange(start, stop)).to(device)
        with torch.no_grad():
            parts.append(_logits(augmenter, batch).double().sigmoid().cpu().numpy())
        if progress is not None:
            progress(stop, len(store))
    return np.concatenate(parts)


def find_augmenter(method: Method) -> EdgeDrop | Mixture:
    """The part of a method that drops edges, or an error that says which runs have one."""
    augmenter = getattr(method, "augmenter", None)
    drops = isinstance(augmenter, EdgeDrop) or (isinstance(augmenter, Mixture) and "edge_drop" in augmenter.guests)
    if not drops:
        able = [name for name in METHODS if hasattr(METHODS[name].Config(), "augmentations")]
        raise ConfigError(
            f"This run ({method.title}) has not learned which edges to drop, so there is nothing to explain.",
            f"Use a run of {' or '.join(able)} whose augmentations include edge_drop, or a model of `adgcl finetune`.",
        )
    assert isinstance(augmenter, EdgeDrop | Mixture)
    return augmenter


def _logits(augmenter: EdgeDrop | Mixture, batch: GraphBatch) -> torch.Tensor:
    if isinstance(augmenter, EdgeDrop):
        return augmenter.edge_logits(batch)
    guest = augmenter.guests["edge_drop"]
    assert isinstance(guest, EdgeDrop)
    return guest.edge_logits(batch, augmenter.encoder.node_emb(batch))
