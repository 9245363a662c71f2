"""SMILES to a parquet table of vectors as a PyTorch Geometric user would do it: `from_smiles`, DataLoader, forward.

    python -m benchmarks.plain_embedding molecules.smi vectors.parquet

The network has the layers and width of `zinc-gin`; its weights do not matter for the time it takes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import torch
from pyarrow import parquet
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import global_mean_pool
from torch_geometric.utils import from_smiles

from benchmarks.plain_hu_gin import PlainHuGIN


def read(smiles: str) -> Data:
    """A molecule with element and chirality, bond type and direction."""
    data = from_smiles(smiles)
    data.x, data.edge_attr = data.x[:, :2], data.edge_attr[:, :2].clamp(max=1)
    return data


def main(source: str, target: str) -> None:
    graphs = [read(line) for line in Path(source).read_text(encoding="utf-8").split()]
    network = PlainHuGIN((120, 9), (6, 3), 300, 0.0).eval()
    with torch.no_grad():
        rows = [global_mean_pool(network(data), data.batch) for data in DataLoader(graphs, 256)]
    table = torch.cat(rows).numpy()
    parquet.write_table(pa.table({f"e{i}": table[:, i] for i in range(table.shape[1])}), target)


if __name__ == "__main__":
    main(*sys.argv[1:])
