"""The command that made a Record, as typed, without options that do not affect the numbers."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

import typer

# Options for input and output paths, verbosity and number of cores, with the most words that can follow each.
_PRIVATE = {
    "--out": 1, "--work": 1, "--data-dir": 1, "--jobs": 1, "--storage": 1, "--max-hours": 1, "--formats": 99,
    "--quiet": 0, "--debug": 0, "--json": 0, "--fresh": 0,
}  # fmt: skip


def typed_command(context: typer.Context) -> str:
    """The command that reproduces the result on any machine."""
    return shlex.join(["adgcl", *public_words(context.find_root().obj or ())])


def public_words(words: Iterable[str]) -> list[str]:
    """The words of a command without its private options and their values."""
    kept: list[str] = []
    private = 0
    for word in words:
        name, given, _ = word.partition("=")
        if word.startswith("--"):
            private = 0 if given else _PRIVATE.get(name, 0)
        if word.startswith("--") and name in _PRIVATE:
            continue
        if private and not word.startswith("--"):
            private -= 1
            continue
        kept.append(word)
    return kept
