"""What labels and features mean: Task and FeatureSpec."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

TaskKind = Literal["none", "multiclass", "binary", "regression"]
Metric = Literal["none", "accuracy", "rocauc", "rmse", "mae"]

_DEFAULT_METRIC: dict[TaskKind, Metric] = {
    "none": "none",
    "multiclass": "accuracy",
    "binary": "rocauc",
    "regression": "rmse",
}


@dataclass(frozen=True)
class Task:
    """What the labels mean: kind, number of columns of `y`, classes, and how it is scored.

    Labels are float64 `[graphs, num_tasks]` with NaN for a missing label. `multiclass` has one column
    of class numbers 0..num_classes-1; `binary` has one or more columns of 0/1; `regression` any reals.
    """

    kind: TaskKind
    num_tasks: int = 1
    num_classes: int = 0
    metric: Metric = "none"
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.metric == "none":
            object.__setattr__(self, "metric", _DEFAULT_METRIC[self.kind])
        object.__setattr__(self, "names", tuple(self.names))

    @property
    def higher_is_better(self) -> bool:
        return self.metric in ("accuracy", "rocauc")

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "names": list(self.names)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Task:
        return cls(**{**data, "names": tuple(data.get("names", ()))})


@dataclass(frozen=True)
class Features:
    """The columns that describe one node or one edge.

    `sizes` has one entry per categorical column: how many values it can take. `num_dim` is the number of
    real-valued columns. Both may be empty: then the node or edge carries no information of its own. If codes were
    assigned by numbering the values in a source, `values` says, column by column, what each code stands for (empty for
    a column whose codes mean the same everywhere), so that the same value gets the same code in other data.
    """

    sizes: tuple[int, ...] = ()
    num_dim: int = 0
    values: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(int(s) for s in self.sizes))
        object.__setattr__(self, "values", tuple(tuple(int(v) for v in column) for column in self.values))

    def to_json(self) -> dict[str, Any]:
        return {"sizes": list(self.sizes), "num_dim": self.num_dim, "values": [list(v) for v in self.values]}

    @property
    def empty(self) -> bool:
        return not self.sizes and self.num_dim == 0


@dataclass(frozen=True)
class FeatureSpec:
    """What nodes and edges carry; `name` says which convention the columns follow."""

    node: Features = field(default_factory=Features)
    edge: Features = field(default_factory=Features)
    name: str = "own"

    def to_json(self) -> dict[str, Any]:
        return {
            "node": self.node.to_json(),
            "edge": self.edge.to_json(),
            "name": self.name,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> FeatureSpec:
        return cls(Features(**data["node"]), Features(**data["edge"]), data.get("name", "own"))
