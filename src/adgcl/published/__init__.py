"""The papers' own numbers: results, optimal lambdas and data set statistics, each with its source."""

from adgcl.published.layout import PublishedTable, layout, layouts
from adgcl.published.reader import (
    PublishedResult,
    PublishedStatistics,
    find_result,
    optimal_lambda,
    paper_method,
    results,
    statistics,
    tables,
    training_minutes,
)

__all__ = [
    "PublishedResult",
    "PublishedStatistics",
    "PublishedTable",
    "find_result",
    "layout",
    "layouts",
    "optimal_lambda",
    "paper_method",
    "results",
    "statistics",
    "tables",
    "training_minutes",
]
