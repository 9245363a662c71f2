"""Ensemble: several fine-tuned networks as one; their mean is the prediction, their spread the uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from adgcl.core.errors import TrainingError
from adgcl.core.progress import Count
from adgcl.core.schema import Task
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.supervised import Supervised
from adgcl.protocols.solvers.arrays import Floats
from adgcl.training.export import Matrix
from adgcl.training.side_by_side import side_by_side

# Nothing is kept for a backward pass, so wide batches fit, and they are faster.
_BATCH = 256


@dataclass(frozen=True, eq=False)
class Answers:
    """What members say about graphs: `each [members, n, columns]` holds values, or probabilities of 1 or of classes.

    `embedding` is that of the first member, which knows the training graphs by it.
    """

    each: Floats
    embedding: Matrix

    @cached_property
    def mean(self) -> Floats:
        mean: Floats = self.each.mean(axis=0)
        return mean

    @cached_property
    def spread(self) -> Floats:
        """The standard deviation over members; NaN where there is one member only."""
        if len(self.each) < 2:
            return np.full(self.each.shape[1:], np.nan)
        spread: Floats = self.each.std(axis=0, ddof=1)
        return spread


def ask(members: Sequence[Supervised], store: GraphStore, progress: Count | None = None) -> Answers:
    """Let every member look at every graph."""

    def heard(batch: GraphBatch) -> tuple[list[Floats], Matrix]:
        embedded = [member.embed(batch) for member in members]
        said = [
            answered(member.predict_from(graph_emb), member.task)
            for member, graph_emb in zip(members, embedded, strict=True)
        ]
        return said, embedded[0].cpu().numpy()

    device = members[0].target_mean.device
    said, embeddings = zip(*side_by_side(heard, store, _BATCH, device, progress), strict=True)
    each = np.stack([np.concatenate(parts) for parts in zip(*said, strict=True)])
    if not np.isfinite(each).all():
        raise TrainingError("The model's predictions are not finite.", "Train again with a smaller learning rate.")
    return Answers(each, np.concatenate(embeddings))


def answered(outputs: torch.Tensor, task: Task) -> Floats:
    """Values as they are, logits as probabilities."""
    outputs = outputs.double()
    if task.kind == "binary":
        outputs = outputs.sigmoid()
    elif task.kind == "multiclass":
        outputs = outputs.softmax(dim=1)
    answered: Floats = outputs.cpu().numpy()
    return answered
