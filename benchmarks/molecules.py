"""SMILES to packed graphs, and a store of millions of molecules: time and memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np

from adgcl.data.folder import data_folder
from benchmarks.smiles_speed import compare, zinc_sample
from benchmarks.timing import Measurement, compared

_EPOCH = """
import resource, sys, time
import numpy as np
from adgcl.data.load import load_dataset
started = time.perf_counter()
store = load_dataset("MOSES").store
opened = time.perf_counter() - started
order = np.random.default_rng(0).permutation(len(store))
for start in range(0, len(order), 256):
    store.batch(order[start : start + 256])
print(opened, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(store))
"""


def measure_smiles(count: int = 2000, rounds: int = 5) -> Iterator[Measurement]:
    """Ours against a loop over `torch_geometric.utils.from_smiles`, one core."""
    result = compare(zinc_sample(data_folder(), count), rounds)
    yield compared("SMILES to packed graphs, one core", result.pytorch_geometric, result.ours, 2.5, "s/molecule")


def measure_large_store() -> Iterator[Measurement]:
    """Open 1.9 million molecules and cut one shuffled epoch of batches, in a process of its own."""
    from adgcl.data.load import load_dataset

    load_dataset("MOSES")  # packs it the first time
    done = subprocess.run([sys.executable, "-c", _EPOCH], capture_output=True, text=True, check=True)
    opened, megabytes, molecules = map(float, done.stdout.split())
    title = f"{molecules / 1e6:.1f} million molecules"
    yield Measurement(f"opening {title} (limit 1 s / time)", round(1.0 / opened, 1), 1.0, round(opened, 4), None, "s")
    name = f"memory after a shuffled epoch of {title} (limit 1500 MB / peak)"
    yield Measurement(name, round(1500 / megabytes, 2), 1.0, round(float(np.round(megabytes)), 1), None, "MB")
