"""SMILES to packed graphs, and a store of 1.9 million molecules: time and memory.

    python -m benchmarks.molecules [--workers 2]     pack MOSES for `python -m benchmarks --only store`

The packed store is kept in the cache folder and reused; `--again` repacks it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from adgcl.core.files import write_json
from adgcl.data.fetch.folder import data_folder, packed_folder
from adgcl.graphs.store.storage import is_store
from benchmarks.smiles_speed import compare, zinc_sample
from benchmarks.timing import Measurement, compared, seconds, within

_LIMIT_SECONDS, _LIMIT_MEGABYTES = 1.0, 1000.0
_BATCH = 256


def measure_smiles(count: int = 2000, rounds: int = 5) -> Iterator[Measurement]:
    """Ours against a loop over `torch_geometric.utils.from_smiles`, one core."""
    result = compare(zinc_sample(data_folder(), count), rounds)
    yield compared("SMILES to packed graphs, one core", result.pytorch_geometric, result.ours, 2.5, "s/molecule")


def measure_large_store() -> Iterator[Measurement]:
    """Packing (measured when the store was made), opening, and one shuffled epoch of batches."""
    path = large_store()
    packing = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    found = in_own_process("epoch", str(path))
    title = f"store of {found['molecules'] / 1e6:.1f} million molecules"
    # An existing store was packed on another day.
    made = datetime.datetime.fromtimestamp(path.with_suffix(".json").stat().st_mtime, datetime.UTC).date().isoformat()
    speed = Measurement(f"{title}, packing, per core", 1.0, None, packing["per_core"], None, "molecules/s")
    memory = within(f"{title}, memory of packing", packing["megabytes"], _LIMIT_MEGABYTES, "MB")
    yield from (replace(row, measured=made) for row in (speed, memory))
    yield Measurement(f"{title}, opening and checking it once", 1.0, None, found["checking"], None, "s")
    yield within(f"{title}, opening", found["opening"], _LIMIT_SECONDS, "s")
    yield within(f"{title}, memory after a shuffled epoch", found["megabytes"], _LIMIT_MEGABYTES, "MB")
    batches = round(found["batches_per_second"])
    yield Measurement(f"{title}, shuffled batches of {_BATCH}, one core", 1.0, None, batches, None, "batches/s")


def large_store(workers: int = 2, again: bool = False) -> Path:
    """The packed store of MOSES, made if it is not there yet."""
    path = packed_folder() / "benchmark-MOSES.graphs"
    if again or not is_store(path) or not path.with_suffix(".json").exists():
        facts = in_own_process("pack", str(path), str(workers))
        write_json(path.with_suffix(".json"), facts)
    return path


def in_own_process(work: str, *arguments: str, module: str = "benchmarks.molecules") -> dict[str, Any]:
    """What a function prints in its own process, where its memory can be measured separately."""
    command = [sys.executable, "-c", f"from {module} import {work}; {work}(*{arguments!r})"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def pack(path: str, workers: str) -> None:
    """Read MOSES and write its store; prints what that took."""
    import resource

    from adgcl.data.families.zinc import MOSES
    from adgcl.data.packed import save_dataset

    def work() -> None:
        dataset = MOSES.load(data_folder(), workers=int(workers), progress=_tell)
        save_dataset(dataset, Path(path))
        facts["molecules"] = len(dataset)

    facts: dict[str, Any] = {"workers": int(workers)}
    facts["seconds"] = round(seconds(work), 1)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    here = resource.getrusage(resource.RUSAGE_SELF)
    busy = children.ru_utime + children.ru_stime + here.ru_utime + here.ru_stime
    facts["per_core"] = round(facts["molecules"] / busy)
    # Not `ru_maxrss`: that starts at the peak of the parent process.
    facts["megabytes"] = round(memory()["megabytes"])
    facts["worker_megabytes"] = round(children.ru_maxrss / 1024)
    print(json.dumps(facts))


def epoch(path: str) -> None:
    """Open a store that is not in the page cache, and cut every batch of a shuffled epoch; prints what that took."""
    import time

    import numpy as np

    from adgcl.data.packed import open_dataset

    def opened() -> float:
        forget(path)
        return seconds(lambda: open_dataset(Path(path)))

    os.utime(path)  # as good as new: it has to be checked
    checking, opening = opened(), opened()
    store = open_dataset(Path(path)).store
    order = np.random.default_rng(0).permutation(len(store))
    store.batch(order[:_BATCH])  # imports torch
    started = time.perf_counter()
    for start in range(0, len(order), _BATCH):
        store.batch(order[start : start + _BATCH])
    speed = -(-len(order) // _BATCH) / (time.perf_counter() - started)
    facts = {
        "molecules": len(store),
        "checking": checking,
        "opening": opening,
        "batches_per_second": speed,
        **memory(),
    }
    print(json.dumps(facts))


def forget(path: str) -> None:
    """Take a file out of the page cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())  # pages that are not on disk yet stay in the cache
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def memory() -> dict[str, float]:
    """Megabytes resident at the peak, and now: all, and without pages of files, which the system may take back."""
    names = {"VmHWM": "megabytes", "VmRSS": "megabytes_now", "RssAnon": "megabytes_own"}
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    values = dict(line.split(":", 1) for line in lines)
    return {title: int(values[name].split()[0]) / 1024 for name, title in names.items()}


def _tell(done: int, total: int) -> None:
    if done * 50 // total != (done - 2048) * 50 // total:
        print(f"\r{done:,} of {total:,} molecules", end="", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.molecules", description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--again", action="store_true", help="pack again")
    arguments = parser.parse_args()
    print(large_store(arguments.workers, arguments.again))


if __name__ == "__main__":
    main()
