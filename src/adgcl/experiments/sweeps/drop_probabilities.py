"""How a trained augmenter spreads its drops: the probabilities of all edges, by bond type or by degree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from adgcl.augmentations.edge_drop import EdgeDrop
from adgcl.augmentations.mixture import Mixture
from adgcl.core.files import write_json
from adgcl.experiments.jobs import Job
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.adgcl import ADGCL, ADGCLConfig
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.run_folder import RunFolder

_FILE = "drop_probabilities.json"
_BATCH = 128
# OGB's and Hu's first bond column agree on these.
_BONDS = ("single", "double", "triple", "aromatic")
# The smaller degree of an edge's two ends falls into the last of these that it reaches.
_DEGREES = (0, 2, 3, 4, 5, 9, 17, 33)
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def drop_probabilities(job: Job, folder: Path) -> list[dict[str, Any]]:
    """Rows for all edges and for each kind of edge, measured once; none for a method that learns no dropping.

    `decided` is the variance of the probability within graphs, as a share of what it is when each edge is surely
    kept or surely dropped: 0 means that an augmenter drops uniformly, as NAD-GCL does.
    """
    method, files = job.plan.run.method, RunFolder(folder)
    if not isinstance(method, ADGCLConfig) or "edge_drop" not in method.augmentations or not files.checkpoint.exists():
        return []
    kept = folder / _FILE
    if not kept.exists():
        store = job.dataset.store
        trained = load_checkpoint(files.checkpoint).make_method()
        assert isinstance(trained, ADGCL)
        write_json(kept, list(_rows(probabilities(trained, store), store)))
    rows: list[dict[str, Any]] = json.loads(kept.read_text(encoding="utf-8"))
    return rows


@torch.no_grad()
def probabilities(method: ADGCL, store: GraphStore) -> npt.NDArray[np.float64]:
    """The probability that each edge is dropped, in the order of the store: `1 - sigmoid(logit)`.

    In evaluation mode, as the augmenter is when it draws Views for the encoder's step.
    """
    method.eval()
    augmenter = method.augmenter
    dropping = augmenter.guests["edge_drop"] if isinstance(augmenter, Mixture) else augmenter
    assert isinstance(dropping, EdgeDrop) and augmenter.encoder is not None
    parts = []
    for start in range(0, len(store), _BATCH):
        batch = store.batch(np.arange(start, min(start + _BATCH, len(store))))
        logits = dropping.edge_logits(batch, augmenter.encoder.node_emb(batch))
        parts.append((-logits).sigmoid().double().numpy())
    return np.concatenate(parts) if parts else np.zeros(0)


def _rows(p: npt.NDArray[np.float64], store: GraphStore) -> Iterator[dict[str, Any]]:
    if not len(p):
        return
    yield {"kind": "all", "group": "all", **_summary(p), "decided": round(decided(p, store.edge_counts), 4)}
    kind, names, group = edge_groups(store)
    for number, name in enumerate(names):
        if (mine := p[group == number]).size:
            yield {"kind": kind, "group": name, **_summary(mine)}


def decided(p: npt.NDArray[np.float64], edge_counts: npt.NDArray[np.int64]) -> float:
    """The mean variance of `p` within graphs, divided by that of a coin with the same mean; 0 for a constant `p`."""
    counts = edge_counts[edge_counts > 0]
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    means = np.add.reduceat(p, starts) / counts
    within = np.add.reduceat(np.square(p), starts) / counts - np.square(means)
    room = (means * (1 - means)).mean()
    return float(np.maximum(within, 0.0).mean() / room) if room > 0 else 0.0


def edge_groups(store: GraphStore) -> tuple[str, tuple[str, ...], npt.NDArray[np.int64]]:
    """What kind of edges there are, the names of the groups, and the group of each edge."""
    if store.edge_attr is not None and store.spec.name in ("ogb", "hu"):
        codes = np.asarray(store.edge_attr)[:, 0].astype(np.int64)
        return "bond", (*_BONDS, "other"), np.minimum(codes, len(_BONDS))
    degree = np.asarray(store.in_degree).astype(np.int64)
    source = np.asarray(store.edge_source).astype(np.int64) + np.repeat(store.node_ptr[:-1], store.edge_counts)
    target = np.repeat(np.arange(len(degree)), degree)
    smaller = np.minimum(degree[source], degree[target])
    return "degree", _degree_names(), np.searchsorted(_DEGREES, smaller, side="right") - 1


def _degree_names() -> tuple[str, ...]:
    ends = [after - 1 for after in _DEGREES[1:]]
    inner = [f"{max(low, 1)}" if high <= max(low, 1) else f"{low}–{high}" for low, high in zip(_DEGREES, ends)]
    return (*inner, f"{_DEGREES[-1]}+")


def _summary(p: npt.NDArray[np.float64]) -> dict[str, Any]:
    quantiles = {f"q{round(100 * q):02d}": round(float(v), 5) for q, v in zip(_QUANTILES, np.quantile(p, _QUANTILES))}
    return {"edges": len(p), "mean": round(float(p.mean()), 5), "std": round(float(p.std()), 5), **quantiles}
