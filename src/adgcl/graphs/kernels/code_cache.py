"""Where machine code is kept: a folder for each state of its sources.

Numba compiles a loop again when the file of the loop has changed. But what the loop calls, and the constants it reads,
become part of its machine code too, and those come from other files: after an upgrade, Numba would go on using the old
ones. So the folder is named after all sources that such parts may come from.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba

from adgcl.core.files import user_cache

_PACKAGE = Path(__file__).parents[2]
_numba: Any = numba.config
# The parts of loops are defined here, or in the file of the loop itself.
PARTS = ("graphs/kernels", "compiled")


@contextmanager
def current_code() -> Iterator[None]:
    """Loops that are decorated here are kept in the folder of the sources as they are now."""
    chosen = _numba.CACHE_DIR
    folder = _folder(chosen)
    _numba.CACHE_DIR = str(folder) if folder else chosen
    try:
        yield
    finally:
        _numba.CACHE_DIR = chosen


@cache
def _folder(chosen: str) -> Path | None:
    """The user's choice, else beside the package, else the user's cache; None if all are read-only."""
    name = f"loops-{_digest()}"
    beside = _PACKAGE / "__pycache__"
    for base in [Path(chosen)] if chosen else [beside, user_cache() / "compiled"]:
        if _writable(base / name):
            if base == beside:  # The package has no other sources than these: older code is of no use.
                for old in base.glob("loops-*"):
                    if old.name != name:
                        shutil.rmtree(old, ignore_errors=True)
            return base / name
    return None


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(path for part in PARTS for path in (_PACKAGE / part).glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
