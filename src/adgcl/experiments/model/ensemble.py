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
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.supervised import Supervised
from adgcl.protocols.solvers.arrays import Floats
from adgcl.training.export import Matrix

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
    count = len(store)
    rows: list[list[Floats]] = [[] for _ in members]
    embeddings: list[Matrix] = []
    for start in range(0, count, _BATCH):
        batch = store.batch(np.arange(start, min(start + _BATCH, count))).to(members[0].target_mean.device)
        for number, member in enumerate(members):
            graph_emb = member.embed(batch)
            if number == 0:
                embeddings.append(graph_emb.cpu().numpy())
            rows[number].append(answered(member.predict_from(graph_emb), member.task))
        if progress is not None:
            progress(min(start + _BATCH, count), count)
    each = np.stack([np.concatenate(parts) for parts in rows])
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
