"""What labels and features mean: Task and FeatureSpec."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

from adgcl.core.trees import SCHEMA, TreeError, fitted

# Far above what any data set has; what a file claims beyond them is damage, and would fill the memory.
_MOST_COLUMNS = 1 << 20
_MOST_CODES = 1 << 31

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

    __pydantic_config__: ClassVar = SCHEMA

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
    def from_json(cls, data: Any) -> Task:
        """What `to_json` gave, checked."""
        task = fitted(cls, data)
        if not (0 <= task.num_tasks <= _MOST_COLUMNS and 0 <= task.num_classes <= _MOST_CODES):
            raise TreeError(f"{task.num_tasks} tasks of {task.num_classes} classes")
        expected = task.num_classes if task.kind == "multiclass" else task.num_tasks
        if len(task.names) not in (0, expected):
            raise TreeError(f"{len(task.names)} names for {expected} labels")
        return task


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

    __pydantic_config__: ClassVar = SCHEMA

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(int(s) for s in self.sizes))
        object.__setattr__(self, "values", tuple(tuple(int(v) for v in column) for column in self.values))

    def to_json(self) -> dict[str, Any]:
        return {"sizes": list(self.sizes), "num_dim": self.num_dim, "values": [list(v) for v in self.values]}

    @property
    def empty(self) -> bool:
        return not self.sizes and self.num_dim == 0

    def check(self) -> None:
        """Raise a TreeError if no nodes or edges could have these columns."""
        if not 0 <= self.num_dim <= _MOST_COLUMNS or any(not 1 <= size <= _MOST_CODES for size in self.sizes):
            raise TreeError(f"columns of {self.sizes} categories and {self.num_dim} numbers")
        known = [(size, len(column)) for size, column in zip(self.sizes, self.values) if column]
        if len(self.values) > len(self.sizes) or any(size != count for size, count in known):
            raise TreeError("columns whose values do not fit their number of categories")


@dataclass(frozen=True)
class FeatureSpec:
    """What nodes and edges carry; `name` says which convention the columns follow."""

    node: Features = field(default_factory=Features)
    edge: Features = field(default_factory=Features)
    name: str = "own"

    __pydantic_config__: ClassVar = SCHEMA

    def to_json(self) -> dict[str, Any]:
        return {
            "node": self.node.to_json(),
            "edge": self.edge.to_json(),
            "name": self.name,
        }

    @classmethod
    def from_json(cls, data: Any) -> FeatureSpec:
        """What `to_json` gave, checked."""
        spec = fitted(cls, data)
        for features in (spec.node, spec.edge):
            features.check()
        return spec
