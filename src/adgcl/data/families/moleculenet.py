"""MoleculeNet's tables of SMILES and labels, as the transfer learning of Hu et al. uses them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from adgcl.core.errors import DataMissingError
from adgcl.core.progress import Count
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.entry import Entry
from adgcl.data.families.molecules import MoleculeTable
from adgcl.data.splits import scaffold_split
from adgcl.data.text.csv_columns import read_table
from adgcl.graphs.chem.atoms import FeatureSet

_ORIGIN = Origin(
    family="moleculenet",
    source="https://github.com/chemprop/chemprop (folder data)",
    licence="MIT",
    citation="Wu et al., MoleculeNet: A Benchmark for Molecular Machine Learning, Chemical Science 2018",
    note=(
        "The tables as chemprop keeps them, without molecules that RDKit cannot read, smiles first; the "
        "scaffold split is computed by the recipe of Hu et al. 2020."
    ),
)


@dataclass(frozen=True)
class _Set:
    """One MoleculeNet table: its file name, what it asks, the number of labels, the paper's name for it."""

    short: str
    title: str
    num_tasks: int
    paper_name: str = ""
    regression: bool = False

    @property
    def name(self) -> str:
        return f"moleculenet-{self.short}"

    @property
    def aliases(self) -> tuple[str, ...]:
        return (self.paper_name,) if self.paper_name else ()

    @property
    def file(self) -> str:
        return f"moleculenet/{self.short}.csv.gz"

    @property
    def origin(self) -> Origin:
        return replace(_ORIGIN, paper_name=self.paper_name)

    @property
    def task(self) -> Task:
        if self.regression:
            return Task("regression", self.num_tasks, metric="rmse")
        return Task("binary", self.num_tasks, metric="rocauc")


_SETS = (
    _Set("bbbp", "Passage of the blood-brain barrier (2,039 molecules)", 1, "BBBP"),
    _Set("tox21", "Toxicity in 12 assays (7,831 molecules)", 12, "Tox21"),
    _Set("toxcast", "Toxicity in 617 assays (8,576 molecules)", 617, "ToxCast"),
    _Set("sider", "Side effects in 27 organ classes (1,427 molecules)", 27, "SIDER"),
    _Set("clintox", "Approval and toxicity in clinical trials (1,477 molecules)", 2, "ClinTox"),
    _Set("muv", "Virtual screening in 17 assays (93,087 molecules)", 17, "MUV"),
    _Set("hiv", "Inhibition of HIV replication (41,127 molecules)", 1, "HIV"),
    _Set("bace", "Inhibitors of beta-secretase 1 (1,513 molecules)", 1, "BACE"),
    _Set("esol", "Water solubility (1,128 molecules)", 1, regression=True),
    _Set("freesolv", "Hydration free energy (642 molecules)", 1, regression=True),
    _Set("lipo", "Lipophilicity (4,200 molecules)", 1, regression=True),
)


def entries() -> tuple[Entry, ...]:
    """The eleven tables, with the two-column features of Hu et al."""
    return tuple(
        Entry(k.name, k.title, k.task, k.origin, partial(load_moleculenet, k.short), ((k.file,),), aliases=k.aliases)
        for k in _SETS
    )


def load_moleculenet(
    short: str,
    data: Path,
    features: FeatureSet = "hu",
    *,
    workers: int | None = None,
    progress: Count | None = None,
) -> Dataset:
    """Read one table (for example `bbbp`) from the data folder, with its scaffold split.

    Rows that this RDKit rejects are reported as bad rows. The split is computed on the whole table, so that
    leaving them out moves no other molecule to another part.
    """
    known = next(known for known in _SETS if known.short == short)
    path = data / known.file
    if not path.exists():
        raise DataMissingError(f"{known.name} is not in {data}.", f"Put its table there as {path}.")
    texts, labels = read_table(path, ("smiles",))
    smiles = [text.strip() for text in texts["smiles"]]
    task = replace(known.task, names=tuple(labels))
    y = np.stack(list(labels.values()), axis=1)
    table = MoleculeTable(known.name, known.origin, smiles, y, task, scaffold_split(smiles, workers=workers))
    return table.read(features, workers, progress)
