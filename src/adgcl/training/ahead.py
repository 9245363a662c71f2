"""Compile ahead of time: every loop that training and embedding need, so that no first run has to wait.

Loops are compiled for the types they are called with, so a small run of each kind calls them; the machine code goes
into the cache that all later runs read.
"""

from __future__ import annotations

import numpy as np

from adgcl.jobs.executor import EXECUTORS, Done, Failed, Send

# Encoder, step and node features of each kind; what compiles longest comes first, so that nothing waits for it.
_KINDS = (("gine", "plain", "labels"), ("gin", "auto", "constant"), ("gin", "plain", "constant"))
_GRAPHS = 8


def compile_all(processes: int) -> bool:
    """Compile in several processes; whether anything was missing in the cache."""
    waiting = list(_KINDS)
    anew: list[bool] = []
    with EXECUTORS["processes"](min(processes, len(_KINDS))) as executor:
        while len(anew) < len(_KINDS):
            while waiting and executor.free:
                kind = waiting.pop(0)
                executor.start(kind, compile_kind, *kind)
            for _, end in executor.ends(1.0):
                if isinstance(end, Failed):
                    raise end.error
                anew.append(isinstance(end, Done) and bool(end.result))
    return any(anew)


def compile_kind(encoder: str, step: str, features: str, send: Send) -> bool:
    """Train and embed a few built-in molecules with both updates; whether anything was compiled."""
    from adgcl.data.features import choose_features
    from adgcl.data.load import load_dataset
    from adgcl.graphs.kernels.compiled import on_compiling
    from adgcl.training.run_config import resolve
    from adgcl.training.trainer import Trainer

    store = choose_features(load_dataset("freesolv").store, features).select(np.arange(_GRAPHS))
    compiled: list[bool] = []
    with on_compiling(lambda: compiled.append(True)):
        for update in ("alternating", "simultaneous"):
            settings = {
                "method": {"name": "adgcl", "update": update},
                "encoder": {"name": encoder},
                "training": {"step": step, "epochs": 1, "device": "cpu", "threads": 1},
            }
            Trainer(resolve(settings), store).fit().embed(store.batch(np.arange(_GRAPHS)))
    return bool(compiled)
