"""How a cost grows with a size, from rows of both."""

from __future__ import annotations

from typing import Any

import numpy as np


def slope(rows: list[dict[str, Any]], what: str) -> float:
    """The exponent k of the best fit cost = c * size^k, by least squares of the logarithms."""
    values = np.array([max(row[what], 1e-9) for row in rows])
    return float(np.polyfit(np.log([row["size"] for row in rows]), np.log(values), 1)[0])


def last_doubling(rows: list[dict[str, Any]], what: str) -> float:
    """How many times as much the largest size costs as the one half as large."""
    return float(rows[-1][what] / max(rows[-2][what], 1e-9))
