"""What a table must say about how its rows were trained: what their encoders had seen, and how finely they computed."""

from __future__ import annotations

from adgcl.core.words import counted
from adgcl.reports.comparison import Comparison
from adgcl.reports.numbers import printed_label
from adgcl.training.packaged import packaged_encoders

_FULL = "float32"


def start_note(comparison: Comparison) -> str:
    """What the encoders of rows that were pre-trained have seen: seldom as much as the published ones."""
    seen: dict[str, list[str]] = {}
    for (_, row, _), cell in comparison.cells.items():
        origin = cell.record.config.get("started_from") if cell.record else None
        if cell.record and origin and row in comparison.rows:
            graphs = f" ({origin['graphs']:,} graphs)" if origin["graphs"] else ""
            epochs = counted(origin["epochs"], "epoch")
            start = cell.record.config.get("training", {}).get("start_from")
            own = f", the packaged {start} with settings of its own" if start in packaged_encoders() else ""
            rows = seen.setdefault(f"{epochs} on {origin['data']}{graphs}{own}", [])
            rows += [printed_label(row)] if printed_label(row) not in rows else []
    if not seen:
        return ""
    parts = (f"{', '.join(rows)} {what}" for what, rows in seen.items())
    return f"Pre-trained here: {'; '.join(parts)}."


def precision_note(comparison: Comparison) -> str:
    """Which rows were computed less finely than the published ones."""
    rows: dict[str, list[str]] = {}
    shown = [(row, cell.record) for (_, row, _), cell in comparison.cells.items() if row in comparison.rows]
    for row, record in shown:
        precision = record.config.get("training", {}).get("precision", _FULL) if record else _FULL
        if precision != _FULL and printed_label(row) not in rows.setdefault(precision, []):
            rows[precision].append(printed_label(row))
    everything = {printed_label(row) for row, record in shown if record}
    parts = [f"{how}: {'all rows' if set(found) == everything else ', '.join(found)}" for how, found in rows.items()]
    return f"Computed in {'; '.join(parts)}." if parts else ""
