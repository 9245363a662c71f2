"""Dataset: a named source of graphs, with what is known about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from adgcl.core.schema import Task
from adgcl.graphs.store.store import GraphStore

Split = Mapping[str, npt.NDArray[np.int64]]
# Some tables have hundreds of columns.
_SHOWN = 20

# The source of data that came from no file.
IN_MEMORY = "in memory"


@dataclass(frozen=True)
class Origin:
    """Where a data set comes from and how it may be used.

    `paper_name` is what the paper's tables call it, `self_loops` how many of the source's edges join a node to itself
    (they are left out when reading), `stand_in` whether some of the published graphs are replaced by others like them.
    """

    family: str
    source: str = ""
    licence: str = "not stated"
    citation: str = ""
    note: str = ""
    paper_name: str = ""
    self_loops: int = 0
    stand_in: bool = False


@dataclass(frozen=True)
class BadRow:
    """An input row that could not become a graph: its line in the file (from 1), its text, why, and its name if any."""

    line: int
    text: str
    reason: str
    id: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Graphs with a name, a Task, perhaps a published split, and rows that could not be read.

    `rows` maps each graph to its input row (from 0), so that outputs stay aligned with the input when
    unreadable rows were left out. `mixtures` counts the rows that were read from SMILES of several fragments: salts,
    solvates, mixtures. `columns` are the names of what a table has besides molecules.
    """

    name: str
    store: GraphStore
    origin: Origin
    split: Split | None = None
    bad_rows: tuple[BadRow, ...] = ()
    rows: npt.NDArray[np.int64] | None = None
    smiles: Sequence[str] | None = None
    mixtures: int = 0
    columns: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = {"bad_rows": len(self.bad_rows), "mixtures": self.mixtures}
        more = "".join(f", {name}={count}" for name, count in counts.items() if count)
        return f"Dataset({self.name!r}, {self.store.summary()}{more})"

    def __len__(self) -> int:
        return len(self.store)

    @property
    def task(self) -> Task:
        return self.store.task

    @property
    def label_hint(self) -> str:
        """Where labels could be, for errors about missing labels; empty if the data is not a table."""
        if not self.columns:
            return ""
        shown = ", ".join(self.columns[:_SHOWN])
        more = len(self.columns) - _SHOWN
        others = f" and {more} more" if more > 0 else ""
        return f"It has: {shown}{others}; name one with --label-column (in Python: label_columns=...)."

    def with_store(self, store: GraphStore) -> Dataset:
        return replace(self, store=store)
