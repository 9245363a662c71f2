"""Labels written as text: numbers or class names, and the Task they imply."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError, UnknownNameError
from adgcl.core.schema import Task, TaskKind
from adgcl.data.text.doubts import FEW, advice_about, refuse_doubtful

Labels = npt.NDArray[np.float64]

_MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-"})
_NO_AND_YES = (
    ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("inactive", "active"),
    ("negative", "positive"), ("neg", "pos"), ("-", "+"), ("non-toxic", "toxic"), ("nontoxic", "toxic"),
)  # fmt: skip
# Labels are trained as 32-bit numbers.
_LARGEST = float(np.finfo(np.float32).max)
_COMMAS = " Decimal commas are accepted in files with `;` between fields, if the column has no points."
_ONE_AT_A_TIME = "name one label column at a time: each needs a model of its own."
_LIKE_NUMBERS = re.compile(r"[-+]?\d[\d.,]*(e[-+]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class LabelColumn:
    """The name of a label column, its texts, and a function that says where a row's text is."""

    name: str
    texts: Sequence[str]
    where: Callable[[int], str]


def read_labels(
    columns: Sequence[LabelColumn], asked: Task | str | None = None, doubting: bool = False
) -> tuple[Labels, Task]:
    """Labels `[rows, columns]` with NaN for missing ones, and their Task.

    Unless `asked`, it is guessed: only 0 and 1 (or words like yes and no) are binary tasks; one column of
    other words, or of up to ten different whole numbers, is classes; anything else is regression. With `doubting`,
    words that are hardly meant as classes are refused (see `refuse_doubtful`).
    """
    kind = _kind_asked(asked)
    names = tuple(column.name for column in columns)
    if len(columns) == 1 and kind in (None, "multiclass"):
        classes = _classes(columns[0], certain=kind == "multiclass")
        if classes is not None:
            y, guess = classes
            if doubting and kind is None:
                refuse_doubtful(f"The labels of {columns[0].name!r}", y, guess.names)
            return y, asked if isinstance(asked, Task) else guess
    if kind == "multiclass":
        raise DataError(
            f"A multiclass task cannot have {len(columns)} label columns.", f"For classes, {_ONE_AT_A_TIME}"
        )
    y = np.stack([_numbers(column, alone=len(columns) == 1) for column in columns], axis=1)
    zero_one = bool((np.isnan(y) | (y == 0) | (y == 1)).all())
    if kind == "binary" and not zero_one:
        alone = "." if len(columns) == 1 else f", and {_ONE_AT_A_TIME}"
        raise DataError(
            "Binary labels must be 0, 1 or empty.", f"For more than two values use --task multiclass{alone}"
        )
    guessed: TaskKind = "binary" if zero_one and kind != "regression" else "regression"
    return y, asked if isinstance(asked, Task) else Task(guessed, num_tasks=len(columns), names=names)


def has_labels(column: LabelColumn) -> bool:
    return any(text.strip().lower() not in _MISSING for text in column.texts)


def with_points(texts: Sequence[str]) -> Sequence[str]:
    """A column of numbers with decimal commas (1,5) written with points; any other column as it is.

    If commas and points are mixed, the column is left alone: one of them may separate thousands.
    """
    present = [text.strip() for text in texts if text.strip().lower() not in _MISSING]
    if not any("," in text for text in present) or any("." in text for text in present):
        return texts
    changed = [text.replace(",", ".") for text in texts]
    numbers = all(as_number(text) is not None for text in changed if text.strip().lower() not in _MISSING)
    return changed if numbers else texts


def _kind_asked(asked: Task | str | None) -> TaskKind | None:
    kind = asked.kind if isinstance(asked, Task) else asked
    if kind is not None and kind not in get_args(TaskKind):
        raise UnknownNameError("kind of task", kind, get_args(TaskKind))
    return kind  # type: ignore[return-value]


def _classes(column: LabelColumn, certain: bool) -> tuple[Labels, Task] | None:
    """The texts as class numbers, or None if they are not classes."""
    missing = _missing_in(column.texts)
    different = {text.strip() for text in column.texts if text.strip().lower() not in missing}
    numbers = {text: value for text in different if (value := as_number(text)) is not None}
    if not certain:
        if _no_and_yes(different) is not None:
            return None
        # Digits with ambiguous commas are not class names; the reader of numbers reports them.
        if different and all(_LIKE_NUMBERS.fullmatch(text) for text in different) and len(numbers) < len(different):
            return None
        # With words among the numbers this is an error, which the reader of numbers reports.
        if numbers and (len(numbers) < len(different) or not _few_whole(set(numbers.values()))):
            return None
    if numbers and len(numbers) == len(different):
        # 1 and 1.0 are the same class.
        values = sorted(set(numbers.values()))
        code = {text: values.index(value) for text, value in numbers.items()}
        names = tuple(f"{value:.15g}" for value in values)
    else:
        names = tuple(sorted(different))
        code = {name: number for number, name in enumerate(names)}
    y = np.array([[code.get(text.strip(), np.nan)] for text in column.texts], dtype=np.float64)
    return y, Task("multiclass", num_classes=len(names), names=names)


def _few_whole(values: set[float]) -> bool:
    """Whether numbers are more likely classes than measurements (0 and 1 alone are a binary task)."""
    return len(values) <= FEW and all(value.is_integer() for value in values) and not values <= {0.0, 1.0}


def _numbers(column: LabelColumn, alone: bool) -> Labels:
    """The texts as numbers, words like yes and no as 1 and 0; `alone` if there is no other column."""
    lowered = [text.strip().lower() for text in column.texts]
    missing = _missing_in(lowered)
    pair = _no_and_yes({text for text in lowered if text not in missing})
    if pair is not None:
        return np.array([float(pair.index(text)) if text in pair else _zero_or_one(text) for text in lowered])
    y = np.full(len(lowered), np.nan)
    for row, text in enumerate(lowered):
        if text in missing:
            continue
        value = as_number(text)
        if value is None:
            shown = column.texts[row].strip()
            raise DataError(
                f"{column.where(row)}: the label {shown!r} of {column.name!r} is not a number.",
                _not_a_number(shown, alone),
            )
        if not abs(value) <= _LARGEST:
            raise DataError(
                f"{column.where(row)}: the label {column.texts[row].strip()!r} of {column.name!r} is too large.",
                f"Use another unit or a logarithm, or leave it empty; at most {_LARGEST:.1e} is possible.",
            )
        y[row] = value
    return y


def _not_a_number(text: str, alone: bool) -> str:
    """What to do about a label that should be a number."""
    if (advice := advice_about(text)) is not None:
        return advice
    commas = _COMMAS if "," in text else ""
    if not alone:
        return f"Correct it, or leave it empty if it is missing. For words, {_ONE_AT_A_TIME}{commas}"
    return f"Correct it, leave it empty if it is missing, or use --task multiclass if labels are words.{commas}"


def _missing_in(texts: Sequence[str]) -> frozenset[str]:
    """What stands for a missing label here: next to other words `none` is a word, and next to + so is -."""
    certain = {text.strip().lower() for text in texts} - _MISSING
    if certain == {"+"}:
        return _MISSING - {"-"}
    words = bool(certain) and all(as_number(text) is None for text in certain)
    return _MISSING - {"none"} if words and _no_and_yes(certain) is None else _MISSING


def _no_and_yes(texts: set[str]) -> tuple[str, str] | None:
    """The pair that all words are from; programs that write both truth values and numbers put 0 and 1 beside them."""
    words = {text.lower() for text in texts if np.isnan(_zero_or_one(text))}
    return next((pair for pair in _NO_AND_YES if words and words <= set(pair)), None)


def _zero_or_one(text: str) -> float:
    value = as_number(text)
    return value if value in (0.0, 1.0) and value is not None else float("nan")


def as_number(text: str) -> float | None:
    """The number that a text is; None if it is none."""
    try:
        return float(text)
    except ValueError:
        return None
