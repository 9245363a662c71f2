"""Numbers formatted for people: `mean ± std` with as many decimals as the metric needs."""

from __future__ import annotations

from adgcl.core.records import Record
from adgcl.core.words import counted
from adgcl.experiments.presets import row_title, runs_here
from adgcl.protocols.base import PROTOCOLS
from adgcl.protocols.finished_run import WITH_ECFP
from adgcl.published import paper_method
from adgcl.reports.table import Verdict

# Percentages to two decimals and errors to three, as the paper prints them.
_DECIMALS = {"accuracy": 2, "rocauc": 2}
_LABELS = {"accuracy": "accuracy (%)", "rocauc": "ROC-AUC (%)", "rmse": "RMSE", "mae": "MAE"}
# Within this many published standard deviations, ours and the paper's are called equal.
EQUAL = 1.0
# The method that the paper, and so every report, is about.
REFERENCE = "adgcl"


def decimals(metric: str) -> int:
    """How many decimals a value of `metric` is printed with."""
    return _DECIMALS.get(metric, 3)


def mean_std(mean: float, std: float | None, metric: str) -> str:
    """`89.25 ± 1.45`, or the mean alone where there is no spread."""
    places = decimals(metric)
    return f"{mean:.{places}f}" if std is None else f"{mean:.{places}f} ± {std:.{places}f}"


def metric_label(metric: str, higher_is_better: bool) -> str:
    """The metric with an arrow that points to better."""
    return f"{_LABELS.get(metric, metric)} {'↑' if higher_is_better else '↓'}"


def method_label(method: str) -> str:
    """The name of a row: from its preset or method, or as the paper prints it if we have neither."""
    if method.endswith(WITH_ECFP):
        return f"{method_label(method.removesuffix(WITH_ECFP))} + ECFP"
    return row_title(method) if runs_here(method) else paper_method(method) or method


def judged_by(record: Record) -> str:
    """How a Record was evaluated, as its protocol describes it; by its score if that protocol is not installed."""
    return PROTOCOLS[record.protocol].describe(record) if record.protocol in PROTOCOLS else record.probe


def printed_label(method: str) -> str:
    """The name of a row in a table next to the paper's: as the paper prints it, if it has the row."""
    return paper_method(method) or method_label(method)


def result(record: Record) -> str:
    """A Record's own figure."""
    return mean_std(record.mean, record.std, record.metric)


def published(record: Record) -> str:
    """The paper's figure for the same thing, or a dash."""
    figure = record.published
    return mean_std(figure["mean"], figure.get("std"), record.metric) if figure else "–"


def difference(record: Record) -> float | None:
    """Ours minus the paper's."""
    return None if record.published is None else record.mean - float(record.published["mean"])


def gain(record: Record) -> float | None:
    """How much better ours is than the paper's; above 0 is better, whichever way the metric goes."""
    gap = difference(record)
    return None if gap is None else gap if record.higher_is_better else -gap


def signed(value: float | None, metric: str) -> str:
    """A difference with its sign, or a dash."""
    return "–" if value is None else f"{value:+.{decimals(metric)}f}"


def in_stds(value: float | None) -> str:
    """A difference in standard deviations, or nothing; zero has no minus sign."""
    return "" if value is None else f"{round(value, 1) + 0.0:+.1f}σ"


def verdict(gain: float | None, std: float | None) -> Verdict:
    """Better, equal or worse than the paper's; equal is within `EQUAL` of its standard deviations."""
    if gain is None:
        return ""
    bound = EQUAL * (std or 0.0)
    return "better" if gain > bound else "worse" if gain < -bound else "equal"


def seeds_label(record: Record) -> str:
    """How many seeds a Record has, in words."""
    return counted(len(record.seeds), "seed")


def seconds_label(seconds: float) -> str:
    """Time as `8.1 s`, `3 min 20 s` or `2 h 05 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
