"""Joining: Records of the same work with different seeds, perhaps from different machines, as one Record."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from adgcl.core.config import build
from adgcl.core.errors import ConfigError
from adgcl.core.records import Record
from adgcl.protocols.base import PROTOCOLS
from adgcl.protocols.selection import Selected


def joined(old: Record, new: Record) -> Record:
    """`new` with the seeds that only `old` has; `new` says which versions and which machine it was."""
    extra = [place for place, seed in enumerate(old.seeds) if seed not in new.seeds]
    if not extra or not (old.runs and new.runs):
        return new
    rows = sorted([*(old.runs[place] for place in extra), *new.runs], key=lambda row: row["seed"])
    values = [row["test"] for row in rows]
    return replace(
        new,
        mean=round(float(np.mean(values)), 6),
        std=round(float(np.std(values, ddof=1)), 6),
        values=values,
        seeds=[row["seed"] for row in rows],
        runs=rows,
        seconds=round(new.seconds + sum(old.runs[place].get("seconds", 0.0) for place in extra), 2),
        peak_memory_mb=max(old.peak_memory_mb, new.peak_memory_mb),
        notes=_notes(old, new, rows, [old.seeds[place] for place in extra]),
    )


def _notes(old: Record, new: Record, rows: list[dict[str, Any]], extra: list[int]) -> list[str]:
    """What both say, with remarks about results made anew, and where the other seeds come from."""
    stale = {*_remarks(old, old.runs), *_remarks(new, new.runs)}
    kept = dict.fromkeys(note for note in (*new.notes, *old.notes) if note not in stale)
    revision = f", revision {old.versions['revision']}" if "revision" in old.versions else ""
    which = f"Seed {extra[0]} is" if len(extra) == 1 else f"Seeds {', '.join(map(str, extra))} are"
    origin = f"{which} from {old.created[:10]} ({old.machine.get('processor', 'unknown processor')}{revision})."
    elsewhere = (old.machine, old.versions) != (new.machine, new.versions)
    return [*kept, *_remarks(new, rows), *([origin] if elsewhere else [])]


def _remarks(record: Record, rows: list[dict[str, Any]]) -> list[str]:
    """What its protocol says about these results."""
    if record.protocol not in PROTOCOLS:
        return []
    kind = PROTOCOLS[record.protocol]
    try:
        protocol = kind(build(kind.Config, {**record.config.get("protocol", {}), "name": record.protocol}, "protocol"))
    except ConfigError:
        return []
    return protocol.remarks([_selected(row) for row in rows], 1.0)


def _selected(row: dict[str, Any]) -> Selected:
    valid, folds = row.get("valid"), row.get("folds", [])
    known = tuple(nan if value is None else value for value in folds)
    return Selected(row["test"], nan if valid is None else valid, tuple(row.get("epochs", ())), known)
