"""Mutators: a valid input and a random generator in, a damaged or hostile one out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

Rng = np.random.Generator

_BYTES = (b"\0", b"\xff", b"\x1b[31m", b"\r", b"\n", b",", b'"', b"\x80", b"\xe2\x80\x94", b"PK\x03\x04", b"\x1f\x8b")
_WORDS = (
    "", " ", "-1", "0", "1e309", "nan", "inf", "2147483648", "9" * 40, "0x7f", "1,5", "=cmd()", "[/x]", "\x1b[2J",
    "—" * 9, "C" * 7000, "[" * 300, "\ufeff", "null", "true", "../../x", "C1CC", "c1ccccc1", "[Xx]", "%00", "é",
    "\u202e", "\0", "C.C",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, "", "x", "../../x", "\x1b[31m", "é" * 50,
    [], {}, [[]], [None], {"": {}}, [1, 2, 3], {"name": "adgcl"}, {"name": []}, "nan", "1e999",
)  # fmt: skip


def bent_bytes(content: bytes, rng: Rng) -> bytes:
    """Flip, cut, repeat, insert or overwrite some bytes."""
    out = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(0, len(out) + 1))
        kind = int(rng.integers(0, 6))
        if kind == 0 and out:
            out[min(place, len(out) - 1)] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del out[place : place + int(rng.integers(1, 64))]
        elif kind == 2:
            out[place:place] = out[place : place + int(rng.integers(1, 64))]
        elif kind == 3:
            out[place:place] = _BYTES[rng.integers(len(_BYTES))]
        elif kind == 4:
            del out[place:]
        else:
            out[place : place + 8] = int(rng.integers(0, 2**63)).to_bytes(8, "little")
    return bytes(out)


def bent_text(text: str, rng: Rng) -> str:
    """Replace, drop, repeat or swap words of a text; what separates them stays."""
    lines = text.split("\n")
    for _ in range(int(rng.integers(1, 4))):
        row = int(rng.integers(len(lines)))
        cut = "," if "," in lines[row] else " "
        words = lines[row].split(cut)
        column, kind = int(rng.integers(len(words))), int(rng.integers(0, 6))
        if kind < 3:
            words[column] = _WORDS[rng.integers(len(_WORDS))]
        elif kind == 3:
            words.insert(column, words[int(rng.integers(len(words)))])
        elif kind == 4:
            del words[column]
        else:
            lines.insert(row, lines[int(rng.integers(len(lines)))])
        lines[row] = cut.join(words)
    return "\n".join(lines)


def bent_tree(tree: Any, rng: Rng) -> Any:
    """Change one value of a tree: another type, a missing or repeated part, something deep inside it."""
    copy = json.loads(json.dumps(tree))
    place, steps = copy, int(rng.integers(0, 6))
    for _ in range(steps):
        inner = [key for key, value in _items(place) if isinstance(value, dict | list) and value]
        if not inner:
            break
        place = place[inner[rng.integers(len(inner))]]
    keys = [key for key, _ in _items(place)]
    if not keys:
        return _value(rng)
    key, kind = keys[rng.integers(len(keys))], int(rng.integers(0, 5))
    if kind < 3:
        place[key] = _value(rng)
    elif kind == 3:
        del place[key]
    elif isinstance(place, dict):
        place[f"{key}x"] = _value(rng)
    else:
        place.append(place[key])
    return copy


def tree_text(tree: Any, rng: Rng) -> str:
    """A tree as JSON, sometimes with what JSON should not hold."""
    text = json.dumps(tree)
    kind = int(rng.integers(0, 12))
    if kind == 0:
        return text.replace("0", "NaN", 1)
    if kind == 1:
        return text.replace("{", "[" * 3000, 1)
    if kind == 2:
        return text.replace('"', '"\\ud800', 1)
    return text


def either(*mutators: Callable[[bytes, Rng], bytes]) -> Callable[[bytes, Rng], bytes]:
    """One of several mutators at random."""
    return lambda content, rng: mutators[rng.integers(len(mutators))](content, rng)


def as_text(content: bytes, rng: Rng) -> bytes:
    return bent_text(content.decode("utf-8"), rng).encode("utf-8", "surrogatepass")


def as_tree(content: bytes, rng: Rng) -> bytes:
    return tree_text(bent_tree(json.loads(content), rng), rng).encode()


def _items(place: Any) -> list[tuple[Any, Any]]:
    if isinstance(place, dict):
        return list(place.items())
    return list(enumerate(place)) if isinstance(place, list) else []


def _value(rng: Rng) -> Any:
    value: Any = _VALUES[rng.integers(len(_VALUES))]
    return value
