"""FreeSolv, built in: 642 real molecules in a file next to this one, so nothing to download."""

from __future__ import annotations

from pathlib import Path

from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.entry import Entry
from adgcl.data.splits import scaffold_split
from adgcl.data.text.csv_columns import read_table
from adgcl.graphs.chem.molecules import molecules_to_store

_FILE = Path(__file__).with_name("freesolv.csv")
_TASK = Task("regression", metric="rmse", names=("expt",))
_ORIGIN = Origin(
    family="freesolv",
    source="https://github.com/MobleyLab/FreeSolv, with the rows of OGB and MoleculeNet",
    licence="MIT (as OGB and MoleculeNet distribute it)",
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
    texts, numbers = read_table(_FILE, ("smiles", "iupac"))
    smiles = texts["smiles"]
    read = molecules_to_store(smiles, "ogb", y=numbers["expt"], ids=texts["iupac"], task=_TASK, workers=1)
    return Dataset("freesolv", read.store, _ORIGIN, split=scaffold_split(smiles), rows=read.kept, smiles=tuple(smiles))
