"""The command that made a Record, as typed, without options that do not affect the numbers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

import typer

# Options for input and output paths, verbosity and number of cores, with the most words that can follow each.
_PRIVATE = {
    "--out": 1, "-o": 1, "--work": 1, "--data-dir": 1, "--jobs": 1, "-j": 1, "--storage": 1, "--max-hours": 1,
    "--formats": 99, "--quiet": 0, "-q": 0, "--debug": 0, "--json": 0, "--fresh": 0,
}  # fmt: skip
# An option, and a value that is written in the same word: --out=runs, -oruns.
_OPTION = re.compile(r"(--[^=]+|-[a-z])(=?.*)", re.DOTALL)


def typed_command(context: typer.Context) -> str:
    """The command that reproduces the result on any machine."""
    return shlex.join(["adgcl", *public_words(context.find_root().obj or ())])


def public_words(words: Iterable[str]) -> list[str]:
    """The words of a command without its private options and their values."""
    kept: list[str] = []
    private = 0
    for word in words:
        option = _OPTION.fullmatch(word)
        if option:
            name, value = option.groups()
            private = 0 if value else _PRIVATE.get(name, 0)
            if name in _PRIVATE:
                continue
        elif private:
            private -= 1
            continue
        kept.append(word)
    return kept
