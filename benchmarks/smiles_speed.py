"""How fast SMILES become graphs, against a loop over PyTorch Geometric's `from_smiles`, on one core.

    python benchmarks/smiles_speed.py [molecules]

Both read the same ZINC-250K molecules, alternating; each side's best time counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from adgcl.data.text.csv_columns import TextColumn
from adgcl.graphs.chem.molecules import molecules_to_store


@dataclass(frozen=True)
class SmilesSpeed:
    """Seconds per molecule of both sides."""

    molecules: int
    ours: float
    pytorch_geometric: float

    @property
    def ratio(self) -> float:
        return self.pytorch_geometric / self.ours

    def __str__(self) -> str:
        return (
            f"{self.molecules} molecules, one core: adgcl {self.ours * 1e6:.0f} us each, PyTorch Geometric "
            f"{self.pytorch_geometric * 1e6:.0f} us each, ratio {self.ratio:.2f}"
        )


def compare(smiles: Sequence[str], rounds: int = 5) -> SmilesSpeed:
    """Time both sides alternately and keep the best of each."""
    from torch_geometric.utils import from_smiles

    best_ours = best_theirs = float("inf")
    molecules_to_store(smiles[:10], workers=1)
    for _ in range(rounds):
        best_ours = min(best_ours, _seconds(lambda: molecules_to_store(smiles, workers=1)))
        best_theirs = min(best_theirs, _seconds(lambda: [from_smiles(text) for text in smiles]))
    return SmilesSpeed(len(smiles), best_ours / len(smiles), best_theirs / len(smiles))


def zinc_sample(data: Path, count: int) -> list[str]:
    """The same `count` molecules of ZINC-250K every time."""
    smiles = TextColumn([data / "zinc250k/zinc250k.csv.gz"], "smiles")
    picked = np.random.default_rng(0).choice(len(smiles), count, replace=False)
    return [smiles[int(i)] for i in picked]


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def main() -> None:
    import torch

    torch.set_num_threads(1)
    beside = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    data = Path(os.environ.get("ADGCL_DATA", beside))
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(compare(zinc_sample(data, count)))


if __name__ == "__main__":
    main()
