"""The TU graph-classification sets of the paper, and any other set in the same format."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from adgcl.core.errors import DataMissingError
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.entry import Download, Entry
from adgcl.data.text.tu_format import load_tu

__all__ = ["entries", "load_tu"]

_HOME = "https://www.chrsmrrs.com/graphkerneldatasets"
_TU = "Morris et al., TUDataset: A collection of benchmark datasets for learning with graphs, 2020"
_SOCIAL = f"Yanardag and Vishwanathan, Deep Graph Kernels, KDD 2015; {_TU}"

# name, what it holds, number of classes, citation, other names
_SETS: tuple[tuple[str, str, int, str, tuple[str, ...]], ...] = (
    ("NCI1", "compounds screened against lung cancer cells", 2, _TU, ()),
    ("PROTEINS", "proteins: enzyme or not, secondary structure elements as nodes", 2, _TU, ()),
    ("MUTAG", "nitro compounds: mutagenic or not", 2, _TU, ()),
    ("DD", "proteins: enzyme or not, amino acids as nodes", 2, _TU, ("D&D",)),
    ("COLLAB", "ego networks of scientists, by field", 3, _SOCIAL, ()),
    ("REDDIT-BINARY", "discussion threads, by kind of community", 2, _SOCIAL, ("RDT-B", "REDDIT-B")),
    ("REDDIT-MULTI-5K", "discussion threads, by community", 5, _SOCIAL, ("RDT-M5K", "REDDIT-5K")),
    ("IMDB-BINARY", "ego networks of actors, by genre", 2, _SOCIAL, ("IMDB-B",)),
    ("IMDB-MULTI", "ego networks of actors, by genre", 3, _SOCIAL, ("IMDB-M",)),
)


def entries() -> tuple[Entry, ...]:
    """The nine TU sets of the paper."""
    return tuple(_entry(*row) for row in _SETS)


def _entry(name: str, title: str, num_classes: int, citation: str, aliases: tuple[str, ...]) -> Entry:
    url = f"{_HOME}/{name}.zip"
    origin = Origin("tu", source=url, citation=citation)
    return Entry(
        name=name,
        title=title,
        task=Task("multiclass", num_classes=num_classes),
        origin=origin,
        load=partial(_load, name, origin),
        files=(_places(name),),
        # No checksum: the archive at its source has no version and has been repacked before.
        downloads=(Download(url, f"tu/{name}.zip"),),
        aliases=aliases,
    )


def _places(name: str) -> tuple[str, ...]:
    return (f"tu/{name}.zip", f"{name}.zip", f"tu/{name}", name)


def _load(name: str, origin: Origin, folder: Path) -> Dataset:
    path = next((folder / place for place in _places(name) if (folder / place).exists()), None)
    if path is None:
        hint = f"Put {name}.zip from {origin.source} into {folder / 'tu'}."
        raise DataMissingError(f"{name} is not in {folder}.", hint)
    dataset = load_tu(path, name)
    found = dataset.origin
    return replace(dataset, origin=replace(origin, note=found.note, self_loops=found.self_loops))
