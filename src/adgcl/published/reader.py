"""Read the published numbers from the CSV files next to this module.

The files, one row per fact, in the notation of the paper:

- `results.csv`: every cell `mean ± std` of the result tables; accuracy and ROC-AUC in percent. Rows with
  ranks are left out because they follow from the cells. Main tables come first, linear before SVM.
- `lambdas.csv`: the weight of the regulariser that AD-GCL-OPT uses on each data set.
- `minutes.csv`: how long the paper says that training took, on one GPU.
- `datasets.csv`: sizes of the data sets; an empty `classes_or_tasks` means that the paper does not say.
- `methods.csv`: our names of methods and the labels that the paper prints for them.
- `tables.csv`: the protocol and probe of each table; see `layout`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Literal, cast

from adgcl.core.errors import UnknownNameError
from adgcl.core.schema import Metric, TaskKind

EdgesCounted = Literal["undirected", "directed"]
Row = dict[str, str]


@dataclass(frozen=True)
class PublishedResult:
    """One cell of a published table: how well a method did on a data set, and where that is printed."""

    table: str
    dataset: str
    method: str
    metric: Metric
    mean: float
    std: float | None
    higher_is_better: bool
    source: str


@dataclass(frozen=True)
class PublishedStatistics:
    """The printed size of a data set; `edges_counted` says whether an edge counts once or per direction."""

    dataset: str
    graphs: int
    avg_nodes: float
    avg_edges: float
    edges_counted: EdgesCounted
    task: TaskKind
    classes_or_tasks: int | None
    metric: Metric
    category: str
    source: str


def tables() -> tuple[str, ...]:
    """Names of all published tables, main tables first."""
    return tuple(dict.fromkeys(result.table for result in _all_results()))


def results(table: str | None = None, dataset: str | None = None, method: str | None = None) -> list[PublishedResult]:
    """Published results that match every argument given; `method` is our name or the paper's label.

    A data set or method that the paper does not have gives an empty list, because users have their own;
    a table that does not exist raises `UnknownNameError`.
    """
    if table is not None and table not in tables():
        raise UnknownNameError("published table", table, tables())
    label = None if method is None else paper_method(method) or method
    return [
        result
        for result in _all_results()
        if table in (None, result.table) and dataset in (None, result.dataset) and label in (None, result.method)
    ]


def find_result(dataset: str, method: str, table: str | None = None) -> PublishedResult | None:
    """The published result of a method on a data set, from `table` or else the first table that has one."""
    return next(iter(results(table, dataset, method)), None)


def optimal_lambda(dataset: str) -> float | None:
    """The `reg_lambda` of AD-GCL-OPT on a data set, chosen by the authors on validation data."""
    return _lambdas().get(dataset)


def training_minutes(dataset: str, method: str) -> float | None:
    """How long a method trained on a data set, on one GPU of the paper's authors."""
    found = (row for row in rows("minutes.csv") if row["dataset"] == dataset and row["method"] == method)
    return next((float(row["minutes"]) for row in found), None)


def statistics(dataset: str) -> PublishedStatistics | None:
    """The published size of a data set."""
    return _statistics().get(dataset)


def paper_method(name: str) -> str | None:
    """The label that the paper prints for one of our methods."""
    return method_names().get(name)


def rows(filename: str) -> list[Row]:
    """Read a CSV file of this package."""
    text = resources.files(__package__).joinpath(filename).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def _all_results() -> tuple[PublishedResult, ...]:
    return tuple(_parse_result(row) for row in rows("results.csv"))


# The caches are shared by all callers, so the mappings are read-only.
@cache
def _statistics() -> Mapping[str, PublishedStatistics]:
    return MappingProxyType({row["dataset"]: _parse_statistics(row) for row in rows("datasets.csv")})


@cache
def _lambdas() -> Mapping[str, float]:
    return MappingProxyType({row["dataset"]: float(row["reg_lambda"]) for row in rows("lambdas.csv")})


@cache
def method_names() -> Mapping[str, str]:
    """The paper's label for each of our names."""
    return MappingProxyType({row["name"]: row["label"] for row in rows("methods.csv")})


def _parse_result(row: Row) -> PublishedResult:
    return PublishedResult(
        table=row["table"],
        dataset=row["dataset"],
        method=row["method"],
        metric=cast(Metric, row["metric"]),
        mean=float(row["mean"]),
        std=float(row["std"]) if row["std"] else None,
        higher_is_better=row["higher_is_better"] == "true",
        source=row["source"],
    )


def _parse_statistics(row: Row) -> PublishedStatistics:
    return PublishedStatistics(
        dataset=row["dataset"],
        graphs=int(row["graphs"]),
        avg_nodes=float(row["avg_nodes"]),
        avg_edges=float(row["avg_edges"]),
        edges_counted=cast(EdgesCounted, row["edges_counted"]),
        task=cast(TaskKind, row["task"]),
        classes_or_tasks=int(row["classes_or_tasks"]) if row["classes_or_tasks"] else None,
        metric=cast(Metric, row["metric"]),
        category=row["category"],
        source=row["source"],
    )
