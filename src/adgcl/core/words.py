"""Numbers in sentences: how many there are of something, and how large a file is."""

from __future__ import annotations


def counted(count: int, noun: str, one: str = "", several: str = "") -> str:
    """`1 epoch`, `1,200 epochs`; with a verb for one and for several, `1 row repeats`, `2 rows repeat`."""
    return f"{count:,} {noun} {one}".rstrip() if count == 1 else f"{count:,} {noun}s {several}".rstrip()


def file_size(size: int) -> str:
    """Bytes for a reader: `3.7 MB`, or `42 kB` where that would be next to nothing."""
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
