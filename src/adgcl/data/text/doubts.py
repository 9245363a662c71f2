"""Texts that could be classes but look like something else: measurements with a unit, limits, names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError

# Up to this many different texts may be classes even if they look like measurements or names.
FEW = 10

_NUMBER = r"[-+−]?(?:\d[\d.,]*|\.\d+)(?:e[-+]?\d+)?"
# After a limit (`>`) perhaps, a number with its error (`± 2`) perhaps, and what else is written.
_MEASURED = re.compile(
    rf"(?P<limit>[<>≤≥~≈=]+\s*)?{_NUMBER}(?P<error>\s*(?:±|\+/-)\s*{_NUMBER})?(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_UNIT = (
    r"(?:[fpnuµμmcdk]?(?:mol|molar|m|g|l|s|da|pa|hz|v|w|j|k|ev|cal|bar|u|iu)"
    r"|%|‰|ppm|ppb|°[cf]?|å|Å|-?fold|x|sec|min|h|hrs?|d|y|yrs?)(?:\^?[-−]?\d|⁻?[¹²³])?"
)
_UNITS = re.compile(rf"\s*{_UNIT}(?:[\s*/.·⋅]+{_UNIT})*", re.IGNORECASE)
_WORD = re.compile(r"\s+[^\W\d_]+")

_UNIT_ADVICE = "Write plain numbers, all in one unit; `adgcl finetune --unit` keeps its name with the model."
_LIMIT_ADVICE = "Limits and approximate values cannot be learned from: write a number, or leave it empty."


def advice_about(text: str) -> str | None:
    """What to do about a label that should be a plain number, if it is a limit or has a unit."""
    if _is_limit(text):
        return _LIMIT_ADVICE
    return None if _unit_of(text) is None else _UNIT_ADVICE


def refuse_doubtful(what: str, y: npt.NDArray[np.float64], names: Sequence[str]) -> None:
    """Refuse classes, given as class numbers and their names, that are hardly meant as such.

    These are limits alone; numbers with a unit in most rows, if they differ in most rows or in more than ten ways (a
    few doses or times are classes); and more than ten texts that differ in most rows. `what` names the labels in a
    sentence.
    """
    counts = np.bincount(y[~np.isnan(y)].astype(np.int64), minlength=len(names))
    classes = {name: int(count) for name, count in zip(names, counts, strict=True) if count}
    if classes and all(map(_is_limit, classes)):
        raise DataError(
            f"{what} are limits or approximate values, such as {_commonest(classes)}.",
            "Leave these empty and write what was measured as plain numbers, or make two classes yourself, such as "
            "active and inactive. If they are classes as they stand, use --task multiclass.",
        )
    measured = _measured(classes)
    if 2 * sum(measured.values()) > sum(classes.values()) and (len(measured) > FEW or _differ(measured)):
        raise DataError(
            f"{what} are measurements, such as {_commonest(measured)}, but not plain numbers; as classes there would "
            f"be {len(classes):,}.",
            f"{_UNIT_ADVICE} If they are classes, use --task multiclass.",
        )
    if len(classes) > FEW and _differ(classes):
        raise DataError(
            f"{what} look like names, not classes: {sum(classes.values()):,} rows have {len(classes):,} different "
            f"ones, such as {_commonest(classes)}.",
            "Name another column with --label-column, or use --task multiclass if they are classes.",
        )


def _measured(classes: Mapping[str, int]) -> dict[str, int]:
    """The numbers with a unit. A word that is not known as a unit counts if no other such word stands after numbers."""
    units = {text: unit for text in classes if (unit := _unit_of(text)) is not None}
    words = {unit for unit in units.values() if unit}
    return {text: classes[text] for text, unit in units.items() if not unit or len(words) == 1}


def _differ(classes: Mapping[str, int]) -> bool:
    """Whether there are fewer than two rows for each, on average."""
    return sum(classes.values()) < 2 * len(classes)


def _commonest(classes: Mapping[str, int]) -> str:
    return repr(max(classes, key=lambda text: classes[text]))


def _is_limit(text: str) -> bool:
    found = _MEASURED.fullmatch(text)
    return found is not None and bool(found["limit"]) and (not found["rest"] or bool(_UNITS.fullmatch(found["rest"])))


def _unit_of(text: str) -> str | None:
    """The word after a number that may be a unit; nothing for a known unit or an error; None where there is neither."""
    found = _MEASURED.fullmatch(text)
    if found is None:
        return None
    if _UNITS.fullmatch(found["rest"]) or (found["error"] and not found["rest"]):
        return ""
    return found["rest"].strip().lower() if _WORD.fullmatch(found["rest"]) else None
