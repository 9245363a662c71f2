"""Graphs and SMILES in memory, and the options of their readers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from adgcl.core.errors import ConfigError, DataError, UnknownNameError
from adgcl.core.progress import Progress
from adgcl.data.dataset import IN_MEMORY, Dataset, Origin
from adgcl.graphs.chem.unreadable import is_missing
from adgcl.graphs.store.store import GraphStore

_LISTS = "Give a list of SMILES or RDKit Mols, of PyTorch Geometric Data or of NetworkX graphs."


def from_objects(data: Any, atom_features: str | None, progress: Progress | None, options: dict[str, Any]) -> Dataset:
    """A Dataset, a GraphStore, or a list of SMILES, RDKit, PyTorch Geometric or NetworkX objects, as a Dataset."""
    if isinstance(data, Dataset | GraphStore):
        refuse(options, atom_features, f"A {type(data).__name__}")
        return data if isinstance(data, Dataset) else _own(data)
    if isinstance(data, bytes | dict) or not (hasattr(data, "__iter__") or hasattr(data, "__getitem__")):
        raise DataError(f"A {type(data).__name__} cannot be read as graphs.", _LISTS)
    items = list(data)
    kinds = _kinds(items)
    if len(kinds) != 1 or kinds & {"", "missing"}:
        found = ", ".join(sorted({type(item).__name__ for item in items})) or "nothing"
        raise DataError(f"The list holds {found}.", _LISTS)
    if kinds == {"smiles"}:
        return _from_smiles(items, options | as_option(atom_features), progress)
    refuse({}, atom_features, "A list of graphs")
    from adgcl.graphs import convert

    pack_all: Callable[..., GraphStore] = convert.from_pyg if kinds == {"pyg"} else convert.from_networkx
    check_options(pack_all, options)
    return _own(pack_all(items, **options))


def are_molecules(data: Any) -> bool:
    """Whether `data` is a list of SMILES or RDKit Mols, whose features can be chosen as they are read."""
    is_list = hasattr(data, "__len__") and not isinstance(data, Dataset | GraphStore | bytes | dict | str)
    return is_list and _kinds(list(data)) == {"smiles"}


def as_option(atom_features: str | None) -> dict[str, Any]:
    """The option that tells readers of SMILES which features atoms get."""
    return {} if atom_features is None else {"features": atom_features}


def refuse(options: dict[str, Any], atom_features: str | None, what: str) -> None:
    """Raise an error if `what` is given options it does not take."""
    names = sorted(options) + ([] if atom_features is None else ["atom_features"])
    if names:
        raise ConfigError(f"{what} takes no option {', '.join(names)}.", "Options are for tables and lists.")


def check_options(reader: Callable[..., Any], options: dict[str, Any]) -> None:
    """Raise an error that names the option the reader does not know."""
    known = list(inspect.signature(reader).parameters)[1:]
    for name in options:
        if name not in known:
            raise UnknownNameError("option", name, known)


def named_progress(progress: Progress | None, what: str) -> Callable[[int, int | None], None] | None:
    """`progress` for a reader that only counts."""
    return None if progress is None else lambda done, total: progress(what, done, total)


def _own(store: GraphStore) -> Dataset:
    return Dataset("graphs", store, Origin("own", source=IN_MEMORY))


def _from_smiles(smiles: list[Any], options: dict[str, Any], progress: Progress | None) -> Dataset:
    from adgcl.data.text.smiles_table import smiles_dataset

    check_options(smiles_dataset, options)
    dataset: Dataset = smiles_dataset(smiles, progress=named_progress(progress, "read SMILES"), **options)
    return dataset


def _kinds(items: list[Any]) -> set[str]:
    """What the items are; a missing molecule is a bad row and thus a molecule, a missing graph is an error."""
    kinds = {_kind(item) for item in items}
    return {"smiles"} if kinds and kinds <= {"smiles", "missing"} else kinds


def _kind(item: Any) -> str:
    """What an item is, found without importing its library."""
    if isinstance(item, str):
        return "smiles"
    libraries = {base.__module__.partition(".")[0] for base in type(item).__mro__}
    if "rdkit" in libraries and hasattr(item, "GetNumAtoms"):
        return "smiles"
    if "torch_geometric" in libraries or "networkx" in libraries:
        return "pyg" if "torch_geometric" in libraries else "networkx"
    return "missing" if is_missing(item) else ""
