"""Where data files and packed stores live on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from adgcl.core.files import user_cache


def data_folder(folder: str | Path | None = None) -> Path:
    """The folder of data files: the argument, else ADGCL_DATA, else the user's cache."""
    chosen = folder or os.environ.get("ADGCL_DATA")
    return Path(chosen).expanduser() if chosen else user_cache() / "data"


def packed_folder() -> Path:
    """The folder of packed stores: ADGCL_CACHE, else the user's cache."""
    chosen = os.environ.get("ADGCL_CACHE")
    return Path(chosen).expanduser() if chosen else user_cache() / "packed"
