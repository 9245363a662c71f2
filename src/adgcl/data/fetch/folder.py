"""Where data files and packed stores live on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder(folder: str | Path | None = None) -> Path:
    """The folder of data files: the argument, else ADGCL_DATA, else the user's cache."""
    chosen = folder or os.environ.get("ADGCL_DATA")
    return Path(chosen).expanduser() if chosen else _user_cache() / "data"


def packed_folder() -> Path:
    """The folder of packed stores: ADGCL_CACHE, else the user's cache."""
    chosen = os.environ.get("ADGCL_CACHE")
    return Path(chosen).expanduser() if chosen else _user_cache() / "packed"


def _user_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    # The XDG rules say that a relative path must be ignored.
    home = Path(base) if base and os.path.isabs(base) else Path.home() / ".cache"
    return home / "adgcl"
