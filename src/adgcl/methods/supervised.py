"""F-GIN: the encoder trained end-to-end with labels, the anchor row of the unsupervised tables."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.optim import Optimizer

from adgcl.core.errors import DataError
from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.heads import initialise
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.store import GraphStore
from adgcl.graphs.store.view import View
from adgcl.methods.base import METHODS, Method, MethodConfig, Metrics, switch
from adgcl.methods.class_weights import balanced_weights
from adgcl.methods.optimizer import PlayerAdam
from adgcl.methods.schedules import Schedule, rate_factor
from adgcl.objectives.supervised import Error, supervised_loss

_ADVICE = "Name a label column with --label-column, or choose a method that learns without labels (`adgcl methods`)."


class SupervisedConfig(MethodConfig):
    """Settings of the supervised encoder; its dropout is a setting of the encoder."""

    name: str = "supervised"
    lr: float = Field(
        1e-3,
        gt=0.0,
        description="learning rate of the encoder",
        json_schema_extra=searched(1e-4, 1e-2, log=True),
    )
    head_lr_scale: float = Field(
        1.0,
        gt=0.0,
        description="learning rate of the head, as a multiple of lr",
        json_schema_extra=searched(0.3, 10.0, log=True),
    )
    schedule: Schedule = Field("none", description="how learning rates fall: not at all, in steps, or along a cosine")
    decay_epochs: int = Field(30, ge=1, description="epochs between two steps, or the length of the cosine")
    decay_factor: float = Field(0.3, ge=0.0, lt=1.0, description="share of the rate left after a step or the cosine")
    frozen_encoder: bool = Field(False, description="train the head alone; the encoder keeps its initial weights")
    class_weights: Literal["none", "balanced"] = Field(
        "none", description="balanced: labels of rare classes count more, so that all classes count the same"
    )
    error: Literal["auto", "squared", "absolute"] = Field(
        "auto", description="loss of regression; auto takes absolute where the metric is mae, else squared"
    )


@METHODS.register("supervised")
class Supervised(Method):
    """`min over encoder, W, b of loss(W graph_emb + b, y)`: cross-entropy, logistic loss, squared or absolute error.

    Missing labels (NaN) do not count.

    Deviation: regression targets are standardised by the training graphs, where the published recipe for molecules
    fits them as they are; predictions are still in the labels' unit.
    """

    Config = SupervisedConfig
    title = "F-GIN"
    protocol = "supervised"
    other_protocols: ClassVar[tuple[str, ...]] = ("finetune", "semi_supervised")
    needs_labels = True
    parallel = True
    config: SupervisedConfig
    target_mean: Tensor
    target_scale: Tensor
    finished_epochs: Tensor

    def __init__(self, config: SupervisedConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        outputs = task.num_classes if task.kind == "multiclass" else task.num_tasks
        if task.kind == "none" or outputs < 1:
            raise DataError("The method 'supervised' learns from labels, and these graphs have none.", _ADVICE)
        self.encoder = make_encoder(encoder, spec)
        self.head = nn.Linear(self.encoder.graph_dim, outputs)
        self.register_buffer("target_mean", torch.zeros(task.num_tasks))
        self.register_buffer("target_scale", torch.ones(task.num_tasks))
        self.class_weights: Tensor | None = None
        if config.schedule != "none":
            # In the checkpoint, so that a resumed run continues at the same rates.
            self.register_buffer("finished_epochs", torch.zeros((), dtype=torch.int64))
        initialise(self)

    @property
    def error(self) -> Error:
        """The loss for regression."""
        if self.config.error == "auto":
            return "absolute" if self.task.metric == "mae" else "squared"
        return self.config.error

    def make_optimizers(self) -> dict[str, Optimizer]:
        lr, head_lr = self.config.lr, self.config.lr * self.config.head_lr_scale
        if self.config.frozen_encoder:
            return {"encoder": PlayerAdam(self.head.parameters(), head_lr)}
        if head_lr == lr:
            return {"encoder": PlayerAdam(self.parameters(), lr)}
        rates = ((self.encoder, lr), (self.head, head_lr))
        return {"encoder": PlayerAdam([{"params": list(part.parameters()), "lr": rate} for part, rate in rates], lr)}

    def begin(self, store: GraphStore) -> GraphStore:
        """Look at the labels once, and train on the graphs that have one."""
        y = check_labels(store, self.task)
        if self.task.kind == "regression":
            self.target_mean.copy_(torch.from_numpy(_over_present(y, np.mean, 0.0)))
            scale = _over_present(y, np.std, 1.0)
            self.target_scale.copy_(torch.from_numpy(np.where(scale > 0, scale, 1.0)))
        elif self.config.class_weights == "balanced":
            classes = self.task.num_classes if self.task.kind == "multiclass" else 2
            self.class_weights = torch.from_numpy(balanced_weights(y, classes)).to(self.target_mean.device)
        labelled = ~np.isnan(y).all(axis=1)
        return store if labelled.all() else store.select(np.flatnonzero(labelled))

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        y = batch.y
        assert y is not None  # `begin` has looked
        switch(self.encoder, training=not self.config.frozen_encoder)
        if self.task.kind == "regression":
            y = (y - self.target_mean) / self.target_scale
        if self.config.schedule != "none":
            self._set_rates()
        loss = self.label_loss(batch, y, generator)
        self.update(loss, "encoder")
        return {"loss": loss.detach()}

    def label_loss(self, batch: GraphBatch, y: Tensor, generator: torch.Generator) -> Tensor:
        """How badly the labels of a batch, regression targets standardised, are predicted."""
        return self.outputs_loss(self.outputs(batch), y)

    def outputs_loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The loss of the head's outputs."""
        return supervised_loss(outputs, y, self.task.kind, self.error, self.class_weights)

    def end_epoch(self) -> None:
        if self.config.schedule != "none":
            self.finished_epochs += 1

    def _set_rates(self) -> None:
        config = self.config
        factor = rate_factor(config.schedule, int(self.finished_epochs), config.decay_epochs, config.decay_factor)
        for group in self.optimizers["encoder"].param_groups:
            group["lr"] = factor * group.setdefault("first_lr", group["lr"])

    @torch.no_grad()
    def predict(self, batch: GraphBatch) -> Tensor:
        """Logits `[n, classes]` or `[n, tasks]`, or values in the labels' own unit, in evaluation mode."""
        switch(self.encoder, training=False)
        return self._in_own_unit(self.outputs(batch))

    @torch.no_grad()
    def predict_from(self, graph_emb: Tensor) -> Tensor:
        """What `predict` gives for graphs whose embedding (see `embed`) is already known."""
        outputs: Tensor = self.head(graph_emb)
        return self._in_own_unit(outputs.float())

    def _in_own_unit(self, outputs: Tensor) -> Tensor:
        return outputs * self.target_scale + self.target_mean if self.task.kind == "regression" else outputs

    def outputs(self, batch: GraphBatch, view: View | None = None) -> Tensor:
        """What the head says about graphs, or about a View of them."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.config.frozen_encoder):
            graph_emb = self.encoder(batch, view).graph_emb
        outputs: Tensor = self.head(graph_emb)
        return outputs.float()


def check_labels(store: GraphStore, task: Task) -> npt.NDArray[np.float64]:
    """The labels of `store`, or an error that says why nothing can be learned from them."""
    y = store.y
    known = np.zeros(0) if y is None else y[~np.isnan(y)]
    if y is None or not len(known):
        raise DataError("The method 'supervised' learns from labels, and every label is missing.", _ADVICE)
    if y.shape[1] != task.num_tasks:
        raise DataError(f"There are {y.shape[1]} columns of labels, but the task has {task.num_tasks}.")
    if not np.isfinite(known).all():
        raise DataError("Some labels are infinite.", "Replace them, or leave them empty.")
    classes = {"multiclass": task.num_classes, "binary": 2}.get(task.kind)
    if classes is not None and not np.isin(known, np.arange(classes)).all():
        raise DataError(
            f"Some labels are not among the class numbers 0 to {classes - 1}.",
            "Number the classes from 0, or declare the task as regression.",
        )
    return y


def _over_present(y: npt.NDArray[np.float64], statistic: Any, default: float) -> npt.NDArray[np.float32]:
    """A statistic of the present labels of every task, or `default` for a task that has none."""
    columns = [column[~np.isnan(column)] for column in y.T]
    return np.array([statistic(column) if len(column) else default for column in columns], dtype=np.float32)
