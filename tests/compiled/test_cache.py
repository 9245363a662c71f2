"""Code that was just compiled computes what the same code from the cache does, to the last bit."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

# A few steps: Adam's first one turns a difference in the last bit of a gradient into one that is seen.
_RUN = """
import sys
from pathlib import Path
from adgcl.experiments.planning import Request
from adgcl.experiments.pretraining import pretrain
from adgcl.experiments.source import Source

pretrain(Source("planted"), Path(sys.argv[1]), Request("adgcl", flags={"training": {"epochs": 1, "step": "compiled"}}))
"""


def test_the_first_run_on_a_machine_is_like_the_next(tmp_path: Path) -> None:
    seen = []
    for name in ("compiled", "from the cache"):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        subprocess.run([sys.executable, "-c", _RUN, str(tmp_path / name)], env=environment, check=True)
        weights = (tmp_path / name / "checkpoint.safetensors").read_bytes()
        seen.append(hashlib.sha256(weights[int.from_bytes(weights[:8], "little") + 8 :]).hexdigest())
    assert seen[0] == seen[1]
