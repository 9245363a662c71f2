"""Finished chunks of a conversion as files, so that one that is interrupted does not start over."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np

from adgcl.core.errors import DataError, OutputError
from adgcl.core.files import ensure_folder
from adgcl.core.trees import TreeError, fitted
from adgcl.graphs.chem.smiles_chunk import Converted, convert
from adgcl.graphs.chem.unreadable import Failure
from adgcl.graphs.store.storage import SUFFIX, open_store, read_extra, read_notes, save_store


def convert_and_keep(smiles: Sequence[str], features: str, keep_largest_fragment: bool, folder: Path) -> Converted:
    """`convert`, unless `folder` has this chunk already: it is found by its content."""
    path = folder / f"{_name(smiles, features, keep_largest_fragment)}{SUFFIX}"
    if path.exists():
        try:
            return _opened(path)
        except (DataError, TreeError, KeyError):
            pass  # Damaged: convert it again.
    made = convert(smiles, features, keep_largest_fragment)
    _save(made, path)
    return made


def _name(smiles: Sequence[str], features: str, keep_largest_fragment: bool) -> str:
    content = "\0".join((features, str(keep_largest_fragment), *map(str, smiles)))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _save(made: Converted, path: Path) -> None:
    if made.store is None:
        return
    notes = {
        "failures": [astuple(failure) for failure in made.failures],
        "mixtures": made.mixtures,
        "fragments": list(made.fragments.items()),
    }
    try:
        ensure_folder(path.parent)
        save_store(made.store, path, notes, {"kept": made.kept})
    except (OSError, OutputError):
        pass  # No place to keep it: an interrupted conversion starts over.


def _opened(path: Path) -> Converted:
    notes, kept = read_notes(path), np.array(read_extra(path)["kept"])
    failures = fitted(list[tuple[int, str, str]], notes["failures"])
    fragments = dict(fitted(list[tuple[int, str]], notes["fragments"]))
    mixtures = fitted(int, notes["mixtures"])
    return Converted(open_store(path), kept, tuple(Failure(*one) for one in failures), mixtures, fragments)
