"""The molecule sets of the Open Graph Benchmark (ogbg-mol*), read from OGB's own files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from adgcl.core.errors import DataError, DataMissingError
from adgcl.core.progress import Count
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.entry import Download, Entry
from adgcl.data.families.molecules import MoleculeTable
from adgcl.data.splits import Parts
from adgcl.data.text.csv_columns import read_matrix, read_table
from adgcl.graphs.chem.atoms import FeatureSet, feature_spec
from adgcl.graphs.store.store import GraphStore, pack

_HOME = "http://snap.stanford.edu/ogb/data/graphproppred/csv_mol_download"
_ORIGIN = Origin(
    family="ogb",
    source="https://ogb.stanford.edu/docs/graphprop/",
    licence="MIT",
    citation=(
        "Hu et al., Open Graph Benchmark: Datasets for Machine Learning on Graphs, NeurIPS 2020; "
        "Wu et al., MoleculeNet: A Benchmark for Molecular Machine Learning, Chemical Science 2018"
    ),
)


@dataclass(frozen=True)
class _Set:
    """One ogbg-mol set: its short name, what it asks, the number of labels, OGB's name for the archive."""

    short: str
    title: str
    num_tasks: int
    archive: str
    regression: bool = False

    @property
    def task(self) -> Task:
        if self.regression:
            return Task("regression", self.num_tasks, metric="rmse")
        return Task("binary", self.num_tasks, metric="rocauc")

    @property
    def folders(self) -> tuple[str, ...]:
        """Where the set may be below the data folder: as OGB's package or its zip file lays it out."""
        ours = f"ogbg_mol{self.short}"
        return f"ogb/{ours}", ours, f"ogb/{self.archive}"


_SETS = (
    _Set("esol", "Water solubility (1,128 molecules)", 1, "esol", regression=True),
    _Set("lipo", "Lipophilicity (4,200 molecules)", 1, "lipophilicity", regression=True),
    _Set("freesolv", "Hydration free energy (642 molecules)", 1, "freesolv", regression=True),
    _Set("bace", "Inhibitors of beta-secretase 1 (1,513 molecules)", 1, "bace"),
    _Set("bbbp", "Passage of the blood-brain barrier (2,039 molecules)", 1, "bbbp"),
    _Set("clintox", "Approval and toxicity in clinical trials (1,477 molecules)", 2, "clintox"),
    _Set("tox21", "Toxicity in 12 assays (7,831 molecules)", 12, "tox21"),
    _Set("sider", "Side effects in 27 organ classes (1,427 molecules)", 27, "sider"),
    _Set("hiv", "Inhibition of HIV replication (41,127 molecules)", 1, "hiv"),
    _Set("muv", "Virtual screening in 17 assays (93,087 molecules)", 17, "muv"),
    _Set("toxcast", "Toxicity in 617 assays (8,576 molecules)", 617, "toxcast"),
)


def entries() -> tuple[Entry, ...]:
    """The eleven ogbg-mol sets."""
    return tuple(_entry(known) for known in _SETS)


def _entry(known: _Set) -> Entry:
    return Entry(
        name=f"ogbg-mol{known.short}",
        title=known.title,
        task=known.task,
        origin=_ORIGIN,
        load=partial(_load, known),
        files=tuple(
            tuple(f"{folder}/{part}" for folder in known.folders)
            for part in ("raw", "mapping/mol.csv.gz", "split/scaffold")
        ),
        downloads=(Download(f"{_HOME}/{known.archive}.zip", f"ogb/{known.archive}.zip", unpack=True),),
        aliases=(f"mol{known.short}",),
    )


def _load(known: _Set, data: Path, features: FeatureSet = "ogb", *, progress: Count | None = None) -> Dataset:
    """The graphs of OGB's own tables; any other features are computed from the SMILES next to them."""
    folder = _folder_of(known, data)
    texts, labels = read_table(folder / "mapping/mol.csv.gz", ("smiles", "mol_id"))
    task = replace(known.task, names=tuple(labels))
    name, origin = f"ogbg-mol{known.short}", _origin_of(folder)
    smiles = tuple(text.strip() for text in texts["smiles"])
    if features != "ogb":
        y = np.stack(list(labels.values()), axis=1)
        table = MoleculeTable(name, origin, smiles, y, task, _read_split(folder, len(smiles)))
        return table.read(features, progress=progress)
    store = _read_graphs(folder / "raw", task)
    if len(smiles) != len(store):
        raise DataError(f"{folder} has {len(store)} graphs but {len(smiles)} SMILES.", "Get the data set again.")
    return Dataset(name, store, origin, split=_read_split(folder, len(store)), smiles=smiles)


def _folder_of(known: _Set, data: Path) -> Path:
    for folder in known.folders:
        if (data / folder / "raw").is_dir():
            return data / folder
    raise DataMissingError(
        f"ogbg-mol{known.short} is not in {data}.", f"Put OGB's folder there as {data / known.folders[0]}."
    )


def _read_graphs(raw: Path, task: Task) -> GraphStore:
    spec = feature_spec("ogb")
    bond_counts = read_matrix(raw / "num-edge-list.csv.gz", 1, "int64")[:, 0]
    # OGB stores each bond once; its reader, like ours, adds the opposite edge with the same features.
    bonds = read_matrix(raw / "edge.csv.gz", 2, "int64")
    both_ways = np.stack([bonds.ravel(), bonds[:, ::-1].ravel()])
    bond_codes = read_matrix(raw / "edge-feat.csv.gz", len(spec.edge.sizes), "uint8")
    return pack(
        read_matrix(raw / "num-node-list.csv.gz", 1, "int64")[:, 0],
        2 * bond_counts,
        both_ways,
        x=read_matrix(raw / "node-feat.csv.gz", len(spec.node.sizes), "uint8"),
        edge_attr=np.repeat(bond_codes, 2, axis=0),
        y=read_matrix(raw / "graph-label.csv.gz", task.num_tasks, "float64"),
        spec=spec,
        task=task,
    )


def _read_split(folder: Path, count: int) -> Parts:
    files = {name: folder / "split" / "scaffold" / f"{name}.csv.gz" for name in ("train", "valid", "test")}
    parts = {name: np.sort(read_matrix(path, 1, "int64")[:, 0]) for name, path in files.items()}
    together = np.concatenate(list(parts.values()))
    if not np.array_equal(np.sort(together), np.arange(count)):
        raise DataError(
            f"The scaffold split in {folder} does not divide its {count} graphs.", "Get the data set again."
        )
    return parts


def _origin_of(folder: Path) -> Origin:
    if not (folder / "RECONSTRUCTED.txt").exists():
        return _ORIGIN
    note = "Not OGB's own files: table, split and features were rebuilt from MoleculeNet's by OGB's recipe."
    return replace(_ORIGIN, note=note)
