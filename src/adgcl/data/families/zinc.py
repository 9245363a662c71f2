"""ZINC molecules: the 12,000 of the regression benchmark, and larger unlabelled sets to pre-train on."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError, DataMissingError
from adgcl.core.progress import Count
from adgcl.core.schema import Features, FeatureSpec, Task
from adgcl.data.dataset import BadRow, Dataset, Origin
from adgcl.data.entry import Entry
from adgcl.data.text.csv_columns import TextColumn
from adgcl.data.text.lines import read_lines
from adgcl.graphs.chem.atoms import FeatureSet
from adgcl.graphs.chem.molecules import molecules_to_store
from adgcl.graphs.store.store import pack

_NO_TASK = Task("none", num_tasks=0)
_ZINC_TASK = Task("regression", metric="mae", names=("penalised logP",))
_ZINC_SPEC = FeatureSpec(Features((28,)), Features((4,)), "zinc")
_ZINC_ARRAYS = ("num_nodes", "num_edges", "node_type", "edge_index", "edge_type", "y", "split")
_ZINC12K, _ZINC12K_SMILES = "zinc/zinc12k.npz", "zinc/zinc12k_smiles.txt.gz"
_ZINC250K = "zinc250k/zinc250k.csv.gz"
_ZINC2M = "zinc2m/zinc2m.csv.gz"
_MOSES = ("moses/train.csv.gz", "moses/test.csv.gz", "moses/test_scaffolds.csv.gz")

_ZINC_ORIGIN = Origin(
    family="zinc",
    source="https://github.com/graphdeeplearning/benchmarking-gnns (indices), ZINC-250K (train molecules)",
    licence="MIT (indices and SMILES); none stated for the processed validation and test graphs",
    citation=(
        "Dwivedi et al., Benchmarking Graph Neural Networks, 2020; Jin et al., Junction Tree VAE, ICML 2018; "
        "Irwin et al., ZINC, Journal of Chemical Information and Modeling 2012"
    ),
    note=(
        "Stand-in train part: validation and test are the published molecules, but the 10,000 train "
        "molecules are another random draw from the same pool, with labels computed by the published "
        "formula. Results are comparable in distribution, not molecule for molecule."
    ),
    stand_in=True,
)
_ZINC250K_ORIGIN = Origin(
    family="zinc",
    source="https://github.com/wenhao-gao/mol_opt (data/zinc.txt.gz)",
    licence="MIT",
    citation="Irwin et al., ZINC, Journal of Chemical Information and Modeling 2012; Jin et al., ICML 2018",
    note="Used here without labels, to pre-train on. It contains the molecules of the set ZINC.",
)
_ZINC2M_ORIGIN = Origin(
    family="zinc",
    source="http://snap.stanford.edu/gnn-pretrain/",
    licence="not stated",
    citation=(
        "Hu et al., Strategies for Pre-training Graph Neural Networks, ICLR 2020; Sterling and Irwin, ZINC 15, Journal "
        "of Chemical Information and Modeling 2015"
    ),
    note=(
        "The corpus of the published transfer experiments. Whatever molecules you put in place are read under this "
        "name: compare their number with the two million of Hu et al."
    ),
)
_MOSES_ORIGIN = Origin(
    family="zinc",
    source="https://github.com/molecularsets/moses",
    licence="MIT",
    citation="Polykovskiy et al., Molecular Sets (MOSES), Frontiers in Pharmacology 2020",
    note=(
        "Stand-in for the two million ZINC15 molecules of Hu et al.: lead-like ZINC molecules only (C N O S "
        "F Cl Br, no charges, no chirality). Results with it are not results on ZINC-2M."
    ),
)


def entries() -> tuple[Entry, ...]:
    """ZINC (12,000 labelled graphs), and ZINC-250K, ZINC-2M and MOSES without labels, with features of Hu et al."""
    files = tuple((file,) for file in _MOSES)
    return (
        Entry(
            "ZINC",
            "Penalised logP (12,000 molecules)",
            _ZINC_TASK,
            _ZINC_ORIGIN,
            load_zinc12k,
            ((_ZINC12K,),),
            aliases=("ZINC-12K", "ZINC-10K"),
        ),
        Entry(
            "ZINC-250K",
            "249,455 molecules",
            _NO_TASK,
            _ZINC250K_ORIGIN,
            ZINC250K.load,
            ((_ZINC250K,),),
            aliases=("ZINC250K",),
        ),
        Entry(
            "ZINC-2M",
            "2,000,000 molecules of ZINC15, from a file of your own",
            _NO_TASK,
            _ZINC2M_ORIGIN,
            ZINC2M.load,
            ((_ZINC2M,),),
            aliases=("ZINC2M",),
            by_hand=(
                "Nothing here can download it: make the file from the data of Hu et al. (zinc_standard_agent), as a "
                "gzip'd CSV table with a column `smiles`, one molecule per line."
            ),
        ),
        Entry("MOSES", "1,936,962 lead-like molecules", _NO_TASK, _MOSES_ORIGIN, MOSES.load, files),
    )


def load_zinc12k(data: Path) -> Dataset:
    """ZINC's 12,000 graphs: 28 atom types, 3 bond types (code 0 is unused), the benchmark's three parts."""
    arrays = _read_arrays(data / _ZINC12K)
    store = pack(
        arrays["num_nodes"].astype(np.int64),
        arrays["num_edges"].astype(np.int64),
        arrays["edge_index"],
        x=arrays["node_type"],
        edge_attr=arrays["edge_type"],
        y=arrays["y"],
        spec=_ZINC_SPEC,
        task=_ZINC_TASK,
    )
    split = {name: np.flatnonzero(arrays["split"] == part) for part, name in enumerate(("train", "valid", "test"))}
    return Dataset("ZINC", store, _ZINC_ORIGIN, split=split, smiles=_read_lines(data / _ZINC12K_SMILES))


@dataclass(frozen=True)
class Corpus:
    """Molecules without labels, from a column of SMILES in some files. Those of large ones are not kept in memory."""

    name: str
    files: tuple[str, ...]
    column: str
    origin: Origin
    keep_smiles: bool = False

    def load(
        self,
        data: Path,
        features: FeatureSet = "hu",
        *,
        workers: int | None = None,
        progress: Count | None = None,
        unfinished: Path | None = None,
    ) -> Dataset:
        smiles = TextColumn([data / file for file in self.files], self.column)
        read = molecules_to_store(
            smiles, features, task=_NO_TASK, workers=workers, progress=progress, unfinished=unfinished
        )
        texts = smiles[:] if self.keep_smiles else None
        return Dataset(
            self.name,
            read.store,
            self.origin,
            bad_rows=tuple(BadRow(failure.position + 2, failure.smiles, failure.reason) for failure in read.failures),
            rows=read.kept,
            smiles=None if texts is None else tuple(texts[i] for i in read.kept),
            mixtures=read.mixtures,
        )


ZINC250K = Corpus("ZINC-250K", (_ZINC250K,), "smiles", _ZINC250K_ORIGIN, keep_smiles=True)
ZINC2M = Corpus("ZINC-2M", (_ZINC2M,), "smiles", _ZINC2M_ORIGIN)
MOSES = Corpus("MOSES", _MOSES, "SMILES", _MOSES_ORIGIN)


def _read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in _ZINC_ARRAYS}
    except FileNotFoundError as error:
        raise DataMissingError(f"{path} does not exist.", "Put zinc12k.npz into this folder.") from error
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"Cannot read {path}: {error}.", "The file may be damaged; get it again.") from error


def _read_lines(path: Path) -> tuple[str, ...] | None:
    """The SMILES next to the graphs, if they are there."""
    if not path.exists():
        return None
    return tuple(line.strip() for line in read_lines(path))
