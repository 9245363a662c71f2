"""Agreement: counts from a store compared with those the paper prints."""

from __future__ import annotations

from dataclasses import dataclass

from adgcl.data.dataset import Dataset
from adgcl.data.statistics import Statistics
from adgcl.published import PublishedStatistics


@dataclass(frozen=True)
class Figure:
    """One figure, counted and printed; `agrees` is None where the paper says nothing."""

    name: str
    counted: float | int
    published: float | int | None
    agrees: bool | None


# Averages over another draw of molecules from the same pool differ by less than this.
_STAND_IN_TOLERANCE = 2e-3


def compare(dataset: Dataset, counted: Statistics, published: PublishedStatistics | None) -> list[Figure]:
    """The figures that the paper prints for a data set; the paper counts self-loops."""
    task, origin = dataset.task, dataset.origin
    directed = published is not None and published.edges_counted == "directed"
    edges = (counted.avg_directed_edges if directed else counted.avg_edges) + origin.self_loops / counted.graphs
    labels = task.num_classes if task.kind == "multiclass" else task.num_tasks
    printed = (
        (None,) * 4
        if published is None
        else (published.graphs, published.avg_nodes, published.avg_edges, published.classes_or_tasks)
    )
    names = ("graphs", "avg_nodes", "avg_directed_edges" if directed else "avg_edges", "classes_or_tasks")
    values = (counted.graphs, counted.avg_nodes, edges, labels)
    slack = _STAND_IN_TOLERANCE if origin.stand_in else 0.0
    return [
        Figure(name, ours, theirs, _agree(ours, theirs, slack)) for name, ours, theirs in zip(names, values, printed)
    ]


def _agree(ours: float | int, theirs: float | int | None, slack: float = 0.0) -> bool | None:
    """Whether two figures agree to within one unit of the last printed digit, or a relative `slack`."""
    if theirs is None:
        return None
    if slack and isinstance(theirs, float):
        return abs(ours - theirs) <= slack * theirs
    decimals = 0 if isinstance(theirs, int) else len(repr(theirs).partition(".")[2])
    return abs(ours - theirs) <= (0 if isinstance(theirs, int) else 10.0**-decimals + 1e-9)
