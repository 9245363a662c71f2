"""Target: a kind of input that is read, with a valid example, how to bend it, and what is then done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.mutators import Rng, as_text, as_tree, bent_bytes, either


@dataclass(frozen=True)
class Target:
    """`make` writes a valid input, `bend` changes it in place, `use` reads it as a user's command would."""

    make: Callable[[Path], Any]
    bend: Callable[[Path, Rng], None]
    use: Callable[[Path], Any]


def one_of(*patterns: str, bend: Callable[[bytes, Rng], bytes]) -> Callable[[Path, Rng], None]:
    """Bend one of the files that match."""

    def change(folder: Path, rng: Rng) -> None:
        files = sorted(path for pattern in patterns for path in folder.glob(pattern))
        path = files[rng.integers(len(files))]
        path.write_bytes(bend(path.read_bytes(), rng))

    return change


def _tree_or_bytes(content: bytes, rng: Rng) -> bytes:
    """Bend a tree, one line of several, or else the bytes."""
    if not content.startswith(b"{"):
        return bent_bytes(content, rng)
    try:
        return as_tree(content, rng)
    except ValueError:
        first, _, rest = content.partition(b"\n")
        return as_tree(first, rng) + b"\n" + rest


text = either(as_text, bent_bytes)
trees = either(_tree_or_bytes, bent_bytes)
