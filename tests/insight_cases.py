"""A small finished run of AD-GCL on FreeSolv, for tests of what can be seen in it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from adgcl.experiments.planning import Request
from adgcl.experiments.pretraining import pretrain
from adgcl.experiments.source import Source

SETTINGS = ("encoder.hidden_dim=8", "encoder.num_layers=2", "reg_lambda=1.0")
MOLECULES = (
    "CCO", "c1ccccc1", "CC(=O)O", "CCN", "CCCCCC", "C1CCCCC1", "CC(C)O", "OCC(O)CO", "Cc1ccccc1", "Oc1ccccc1",
    "CCOCC", "C", "NC(N)=O", "C[N+](=O)[O-]", "F/C=C/F", "C[C@H](N)C(=O)O", "[Na+].[Cl-]", "c1ccc2[nH]ccc2c1",
)  # fmt: skip


@cache
def finished_run(seed: int = 0, method: str = "adgcl") -> Path:
    """The folder of a run on the molecules above."""
    folder = Path(mkdtemp(prefix="adgcl-seen-")) / f"seed-{seed}"
    settings = SETTINGS if method == "adgcl" else SETTINGS[:2]
    request = Request(method, flags={"training": {"epochs": 2, "seed": seed}}, assignments=settings)
    pretrain(Source(list(MOLECULES)), folder, request)
    return folder
