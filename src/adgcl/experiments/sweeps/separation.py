"""Is the map from graphs to embeddings one to one? The distances between all embeddings of a trained encoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.files import write_json
from adgcl.experiments.jobs import Job
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.embedding import embed_dataset
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import build_method

_FILE = "separation.json"
# Embeddings nearer than this share of the median distance are the same, up to rounding in 32 bits.
_SAME = 1e-5


def separation(job: Job, folder: Path) -> list[dict[str, Any]]:
    """One row: the nearest and the median distance of two embeddings, and how many pairs coincide; measured once.

    `alike` is how many coincide for the same encoder before training: no training tells those apart.
    """
    files = RunFolder(folder)
    if not files.checkpoint.exists():
        return []
    kept = folder / _FILE
    if not kept.exists():
        dataset = job.dataset
        checkpoint = load_checkpoint(files.checkpoint)
        untrained = build_method(checkpoint.config, checkpoint.spec, checkpoint.task)
        alike = distances(embed_dataset(untrained, dataset))["coinciding"]
        write_json(kept, {**distances(embed_dataset(checkpoint.make_method(), dataset)), "alike": alike})
    return [json.loads(kept.read_text(encoding="utf-8"))]


def distances(embedding: npt.NDArray[np.float32]) -> dict[str, Any]:
    """The distances between all pairs of rows, summarised."""
    from scipy.spatial.distance import pdist

    found = pdist(embedding.astype(np.float64))
    median = float(np.median(found)) if len(found) else 0.0
    return {
        "pairs": len(found),
        "nearest": float(found.min()) if len(found) else 0.0,
        "median": median,
        "coinciding": int((found <= _SAME * median).sum()),
    }
