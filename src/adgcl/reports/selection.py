"""Selection: which Record a cell shows if several are about the same thing."""

from __future__ import annotations

from collections.abc import Iterable

from adgcl.core.records import Record
from adgcl.protocols.record_folder import current


def one_per_cell(records: Iterable[Record]) -> list[Record]:
    """The Records that tables and figures show, in the order given: most seeds of the same settings, then newest."""
    records = list(records)
    chosen = {id(record) for record in current(records)}
    return [record for record in records if id(record) in chosen]
