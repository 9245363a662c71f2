"""Data as targets: tables, TU folders and archives, packed stores."""

from __future__ import annotations

import gzip
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.cli.conftest import MOLECULES, write_molecules, write_tu
from tests.fuzz.mutators import Rng, as_tree, bent_bytes
from tests.fuzz.target import Target, one_of, text

DATA: dict[str, Target] = {}


# -- tables -----------------------------------------------------------------------------------------------------------


def _load(name: str, **options: Any) -> Callable[[Path], Any]:
    def use(folder: Path) -> Any:
        from adgcl.data.load import load_dataset
        from adgcl.data.statistics import count
        from adgcl.training.export import write_bad_rows

        dataset = load_dataset(folder / name, cache=False, **options)
        write_bad_rows(folder / "bad.csv", dataset.bad_rows)
        return count(dataset.store), repr(dataset), dataset.store.batch(np.arange(len(dataset)))

    return use


def _sdf(folder: Path) -> None:
    from rdkit import Chem

    with Chem.SDWriter(str(folder / "m.sdf")) as writer:
        for name, smiles, value in MOLECULES[:2]:
            molecule = Chem.MolFromSmiles(smiles)
            molecule.SetProp("_Name", name)
            molecule.SetProp("logp", str(value))
            writer.write(molecule)


def _xlsx(folder: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (("smiles", "y"), ("CCO", 1.5), ("CCN", 2)):
        book.active.append(row)
    book.save(folder / "m.xlsx")


def _gz(folder: Path) -> None:
    table = write_molecules(folder / "plain.csv").read_bytes()
    (folder / "m.csv.gz").write_bytes(gzip.compress(table, mtime=0))


DATA["csv"] = Target(lambda f: write_molecules(f / "m.csv"), one_of("m.csv", bend=text), _load("m.csv"))
DATA["csv.gz"] = Target(_gz, one_of("m.csv.gz", bend=bent_bytes), _load("m.csv.gz"))
DATA["smi"] = Target(
    lambda f: (f / "m.smi").write_text("CCO ethanol\nc1ccccc1 benzene\n"), one_of("m.smi", bend=text), _load("m.smi")
)
DATA["sdf"] = Target(_sdf, one_of("m.sdf", bend=text), _load("m.sdf"))
DATA["xlsx"] = Target(_xlsx, one_of("m.xlsx", bend=bent_bytes), _load("m.xlsx"))


# -- TU folders and zip files -----------------------------------------------------------------------------------------


def _tu_zip(folder: Path) -> None:
    tu = write_tu(folder / "TOYS", graphs=6)
    with zipfile.ZipFile(folder / "TOYS.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(tu.iterdir()):
            archive.write(path, path.name)
    shutil.rmtree(tu)


DATA["tu"] = Target(lambda f: write_tu(f / "TOYS", graphs=6), one_of("TOYS/*.txt", bend=text), _load("TOYS"))
DATA["tu.zip"] = Target(_tu_zip, one_of("TOYS.zip", bend=bent_bytes), _load("TOYS.zip"))


# -- packed stores ----------------------------------------------------------------------------------------------------


def _store(folder: Path) -> None:
    from adgcl.data.load import load_dataset
    from adgcl.data.packed import save_dataset

    save_dataset(load_dataset(write_molecules(folder / "m.csv"), cache=False), folder / "d.graphs")


def _resealed(folder: Path, rng: Rng) -> None:
    """Change arrays or notes, with a checksum that fits: what a hostile file would do."""
    from adgcl.graphs.store.tensors import CHECKSUM, open_tensors, write_tensors

    path = folder / "d.graphs"
    file = open_tensors(path)
    arrays = {name: np.array(file.array(name)) for name in file.entries}
    metadata = {name: value for name, value in file.metadata.items() if name != CHECKSUM}
    if rng.integers(4) == 0:
        name = ("spec", "task", "notes")[rng.integers(3)]
        metadata[name] = as_tree(metadata[name].encode(), rng).decode("utf-8", "replace")
    else:
        names = sorted(arrays)
        name = names[rng.integers(len(names))]
        raw = arrays[name].reshape(-1).view(np.uint8)
        if rng.integers(6) == 0:
            arrays[name] = arrays[name][: int(rng.integers(len(arrays[name]) + 1))]
        elif len(raw):
            raw[rng.integers(len(raw), size=rng.integers(1, 4))] = rng.integers(0, 256)
    write_tensors(path, arrays, metadata)


def _use_store(folder: Path) -> None:
    from adgcl.data.packed import open_dataset
    from adgcl.data.statistics import count
    from adgcl.graphs.store.fingerprint import fingerprint
    from adgcl.methods.random_init import RandomInit
    from adgcl.training.embedding import embed_store
    from adgcl.training.export import align
    from adgcl.training.run_config import resolve

    dataset = open_dataset(folder / "d.graphs")
    store = dataset.store
    count(store), fingerprint(store), store.select(np.arange(len(store))[::-1]), list(dataset.smiles or ())
    config = resolve({"method": "random_init", "encoder": {"hidden_dim": 4, "num_layers": 1}})
    if sum(store.spec.node.sizes) + sum(store.spec.edge.sizes) < 10**6:
        align(dataset, embed_store(RandomInit(config.method, config.encoder, store.spec, store.task), store))


DATA["store"] = Target(_store, one_of("d.graphs", bend=bent_bytes), _use_store)
DATA["store, resealed"] = Target(_store, _resealed, _use_store)
