"""Own cores: the processes of a run that share a machine divide its cores among themselves.

Left to itself, the system often wakes the thread that receives a message on a core where another process computes, and
the message waits for its turn: an exchange of a few kilobytes then takes milliseconds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adgcl.core.provenance import available_cores

_divided = False


@contextmanager
def own_cores(store: Any, rank: int, local_rank: int, local_size: int) -> Iterator[None]:
    """Keep this process, and threads that it starts from here on, to its share of the cores."""
    global _divided
    share = _share(store, rank, local_rank, local_size) if hasattr(os, "sched_setaffinity") else []
    if not share:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, share)
    _divided = True
    try:
        yield
    finally:
        _divided = False
        os.sched_setaffinity(0, before)


def cores_per_process(local_size: int) -> int:
    """How many cores each of the processes on this machine has to itself."""
    return available_cores() if _divided else max(available_cores() // local_size, 1)


def share_of_cores(cores: Sequence[int], rank: int, size: int) -> list[int]:
    """The cores of process `rank` of `size`, neighbours in number and so mostly in memory; none if they are too few."""
    if len(cores) < size:
        return []
    return [core for place, core in enumerate(sorted(cores)) if place * size // len(cores) == rank]


def _share(store: Any, rank: int, local_rank: int, local_size: int) -> list[int]:
    """What this process is to keep to; nothing if a batch system has given each process cores of its own."""
    cores = sorted(os.sched_getaffinity(0))
    store.set(str(rank), json.dumps(cores))
    first = rank - local_rank
    everyone = [json.loads(store.get(str(other))) for other in range(first, first + local_size)]
    return share_of_cores(cores, local_rank, local_size) if all(theirs == cores for theirs in everyone) else []
