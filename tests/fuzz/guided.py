"""`python -m tests.fuzz.guided TARGET [atheris options]`: a search guided by coverage, where atheris is installed.

The bytes that atheris proposes seed the mutators, or replace a file of the input; `-max_total_time=600` ends after ten
minutes. Install it with `pip install atheris`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np


def main() -> None:
    import atheris

    with atheris.instrument_imports(include=["adgcl"]):
        from adgcl.core.errors import AdgclError
        from tests.fuzz.targets import TARGETS

        target = TARGETS[sys.argv[1]]
        folder = Path(tempfile.mkdtemp(prefix="adgcl-guided-"))
        made, place = folder / "valid", folder / "bent"
        made.mkdir()
        target.make(made)
        shutil.copytree(made, place)
        target.use(place)

    def one(content: bytes) -> None:
        shutil.rmtree(place)
        shutil.copytree(made, place)
        target.bend(place, np.random.default_rng([*content[:16], len(content)]))
        changed = [path for path in sorted(place.rglob("*")) if path.is_file() and _differs(path, place, made)]
        if changed and len(content) > 16:
            old = changed[0].read_bytes()
            cut = content[0] * len(old) // 256
            changed[0].write_bytes(old[:cut] + content[16:] + old[cut:])
        with suppress(AdgclError):
            target.use(place)

    atheris.Setup([sys.argv[0], *sys.argv[2:]], one)
    atheris.Fuzz()


def _differs(path: Path, place: Path, made: Path) -> bool:
    same = made / path.relative_to(place)
    return not same.exists() or same.read_bytes() != path.read_bytes()


if __name__ == "__main__":
    main()
