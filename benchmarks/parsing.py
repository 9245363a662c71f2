"""TU-format text files into graphs, against PyTorch Geometric's reader."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from adgcl.data.fetch.folder import data_folder
from adgcl.data.text.tu_format import load_tu
from adgcl.graphs.store.store import GraphStore
from benchmarks.timing import Measurement, compared, seconds

SETS = ("REDDIT-BINARY", "COLLAB")


def measure(name: str, rounds: int = 2) -> Iterator[Measurement]:
    """Both read the same unpacked files, drop loops and repeats, and sort; checked to find the same edges."""
    import pyarrow
    from torch_geometric.io import read_tu_data

    torch.set_num_threads(1)
    pyarrow.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as folder:
        place = _unpacked(data_folder() / "tu" / f"{name}.zip", Path(folder))
        plain = ours = float("inf")
        read: dict[str, Any] = {}
        for _ in range(rounds):
            plain = min(plain, seconds(lambda: read.update(data=read_tu_data(str(place), name)[0])))
            ours = min(ours, seconds(lambda: read.update(store=load_tu(place, name).store)))
            _check(read["store"], read["data"])
    yield compared(f"parsing {name}'s text files, one core", plain, ours, None, "s")


def _check(store: GraphStore, data: Any) -> None:
    found, expected = (store.num_nodes, store.num_edges), (data.num_nodes, data.edge_index.shape[1])
    if found != expected:
        raise AssertionError(f"nodes and edges: {found} here, {expected} there")


def _unpacked(archive: Path, folder: Path) -> Path:
    """The folder of the text files of an archive."""
    with zipfile.ZipFile(archive) as file:
        file.extractall(folder)
    return next(folder.rglob("*_A.txt")).parent
