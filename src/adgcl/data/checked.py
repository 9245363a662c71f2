"""Which large packed files have been checked, so that opening them again takes no time.

Checking reads the whole file. A small one is checked whenever it is opened. For a large one the cache folder keeps its
size, its inode and the times of its last changes: as long as these are the same, it is the file that was checked.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from adgcl.core.errors import OutputError
from adgcl.core.files import write_json
from adgcl.core.trees import TreeError, fitted, read_json
from adgcl.data.fetch.folder import packed_folder

# Up to this size a check takes less than a fifth of a second.
LARGE = 1 << 26
Facts = dict[str, int]


def was_checked(path: Path) -> tuple[bool, Facts]:
    """Whether a file is the one that was checked before, and what tells it from others."""
    facts: Facts = {}
    with suppress(OSError, TreeError):
        facts = _facts(path)
        if facts["size"] >= LARGE:
            return fitted(Facts, read_json(_note(path))) == facts, facts
    return False, facts


def remember(path: Path, facts: Facts) -> None:
    """Note that a file passed its check; a cache folder that cannot be written to only costs time."""
    if facts.get("size", 0) >= LARGE:
        with suppress(OutputError):
            write_json(_note(path), facts)


def _facts(path: Path) -> Facts:
    about = path.stat()
    return {
        "size": about.st_size,
        "inode": about.st_ino,
        "modified": about.st_mtime_ns,
        "changed": about.st_ctime_ns,
    }


def _note(path: Path) -> Path:
    return packed_folder() / "checked" / f"{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}.json"
