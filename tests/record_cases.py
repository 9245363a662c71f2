"""A Record to test with."""

from __future__ import annotations

from typing import Any

from adgcl.core.records import Record


def a_record(**changes: Any) -> Record:
    """A small but complete Record."""
    fields: dict[str, Any] = {
        "dataset": "MUTAG",
        "method": "adgcl",
        "mode": "strict",
        "protocol": "unsupervised",
        "probe": "linear",
        "metric": "accuracy",
        "higher_is_better": True,
        "mean": 89.0,
        "std": 1.0,
        "values": [88.0, 90.0],
        "seeds": [0, 1],
        "runs": [],
        "published": None,
        "config": {"method": {"name": "adgcl"}, "training": {"epochs": 2}},
        "data": {"name": "MUTAG"},
        "seconds": 1.0,
        "peak_memory_mb": 10.0,
        "versions": {},
        "machine": {},
    }
    return Record(**{**fields, **changes})
