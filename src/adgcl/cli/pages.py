"""What commands that make pages share: where they write, and which graphs a user names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adgcl.core.errors import DataError, OutputError, did_you_mean
from adgcl.core.files import atomic_write, check_writable, refuse_input, write_text

if TYPE_CHECKING:
    from adgcl.data.dataset import Dataset

_PAGE = ".html"
_TABLES = (".parquet", ".csv")


def check_outputs(out: Sequence[Path], *inputs: object) -> None:
    """Refuse files of an unknown kind, inputs, and places that cannot be written to, before any work is done."""
    for path in out:
        if path.suffix.lower() not in (_PAGE, *_TABLES):
            raise OutputError(
                f"{path} ends in neither {_PAGE} nor {' nor '.join(_TABLES)}.", "Give a page or a table as --out."
            )
        check_writable(path.parent)
        refuse_input(path, *inputs)


def write_outputs(out: Sequence[Path], page: Callable[[], str], table: Callable[[], dict[str, Any]]) -> None:
    """Write each file as its ending says."""
    from adgcl.insight.tables import write_columns

    for path in out:
        ending = path.suffix.lower()
        if ending == _PAGE:
            write_text(path, page())
        else:
            columns = table()
            atomic_write(path, lambda part, columns=columns, ending=ending: write_columns(part, columns, ending))  # type: ignore[misc]


def find_graphs(dataset: Dataset, names: Sequence[str] | None) -> list[int] | None:
    """The numbers of the graphs with these ids; None if no id was given."""
    if not names:
        return None
    ids = [dataset.store.id_of(graph) for graph in range(len(dataset))]
    place = {name: graph for graph, name in reversed(list(enumerate(ids)))}
    for name in names:
        if name not in place:
            raise DataError(f"{dataset.name} has no graph with the id {name!r}.", did_you_mean(name, ids[:5000]))
    return [place[name] for name in names]
