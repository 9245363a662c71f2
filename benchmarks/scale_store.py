"""A store of ten million molecules, made by repeating ZINC-250K: its size, opening, memory and batches."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from adgcl.data.fetch.folder import packed_folder
from adgcl.graphs.store.storage import is_store
from benchmarks.molecules import forget, in_own_process, memory
from benchmarks.timing import seconds

_BATCH = 256
_HERE = "benchmarks.scale_store"


def measure(molecules: int = 10_000_000, batches: int = 4000) -> dict[str, Any]:
    """What a store of this many molecules takes; it is made if it is not there yet, and kept in the cache folder."""
    path = packed_folder() / f"benchmark-{molecules}.graphs"
    if not is_store(path):
        in_own_process("make", str(path), str(molecules), module=_HERE)
    return {"bytes": path.stat().st_size, **in_own_process("read", str(path), str(batches), module=_HERE)}


def make(path: str, molecules: str) -> None:
    """Write the store."""
    import numpy as np

    from adgcl.core.schema import Task
    from adgcl.data.load import load_dataset
    from adgcl.graphs.store.concat import Joining
    from adgcl.graphs.store.storage import save_store

    zinc = load_dataset("ZINC-250K", atom_features="hu").store.with_labels(None, Task("none", num_tasks=0))
    joining, left = Joining(), int(molecules)
    while left:
        joining.add(zinc if left >= len(zinc) else zinc.select(np.arange(left)))
        left -= min(left, len(zinc))
    save_store(joining.whole(), Path(path))
    print("{}")


def read(path: str, batches: str) -> None:
    """Open the store and cut shuffled batches; prints what that took."""
    import numpy as np

    from adgcl.graphs.store.fingerprint import fingerprint
    from adgcl.graphs.store.storage import open_store

    forget(path)
    empty, started = memory(), time.perf_counter()
    store = open_store(Path(path), trusted=True)
    opening, opened = time.perf_counter() - started, memory()
    started = time.perf_counter()
    order = np.random.default_rng(0).permutation(len(store)).astype(np.int64)
    shuffling, shuffled = time.perf_counter() - started, memory()
    store.batch(order[:_BATCH])  # imports torch, compiles
    started = time.perf_counter()
    for number in range(int(batches)):
        store.batch(order[number * _BATCH : (number + 1) * _BATCH])
    facts = {
        "molecules": len(store),
        "atoms": store.num_nodes / len(store),
        "edges": store.num_edges / len(store),
        "opening": opening,
        "pointers": opened["megabytes_own"] - empty["megabytes_own"],
        "shuffling": shuffling,
        "order": shuffled["megabytes_own"] - opened["megabytes_own"],
        "batches_per_second": int(batches) / (time.perf_counter() - started),
        "megabytes": memory()["megabytes_own"],
        "fingerprint": seconds(lambda: fingerprint(store)),
        "checking": seconds(lambda: open_store(Path(path))),
    }
    print(json.dumps(facts))
