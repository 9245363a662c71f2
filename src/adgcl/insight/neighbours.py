"""Neighbours: the graphs nearest to a query by their embedding, beside those nearest by structure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.progress import Count, Progress
from adgcl.data.dataset import Dataset
from adgcl.experiments.source import Source
from adgcl.graphs.chem.morgan import packed_fingerprints
from adgcl.insight.search import Found, Index, best_of, nearest
from adgcl.insight.vectors import as_read, embed_with, open_encoder, sampled, unit_rows
from adgcl.training.embedding import embed_dataset
from adgcl.training.export import Matrix
from adgcl.training.run_config import resolve
from adgcl.training.runs import LoadedRun
from adgcl.training.trainer import build_method

MOST = 2_000
ECFP, STATISTICS = "ECFP (Tanimoto)", "graph statistics (cosine)"
_RADIUS, _BITS = 2, 2048
# How many bits of each byte are set.
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """For each query the numbers of its nearest graphs in `dataset` and how similar they are, best first.

    `learned` goes by the cosine of standardised embeddings, `known` by `measure`, which needs no training. `itself` is
    the number of each query in the data, -1 for a stranger; a graph is no neighbour of itself.
    """

    run: LoadedRun
    dataset: Dataset
    queries: Dataset
    itself: npt.NDArray[np.int64]
    learned: Found
    known: Found
    measure: str
    left_out: int = 0

    @cached_property
    def shared(self) -> npt.NDArray[np.bool_]:
        """Which of the neighbours by embedding are also neighbours by structure."""
        return np.stack([np.isin(one, other) for one, other in zip(self.learned[0], self.known[0])])

    def likeness(self) -> dict[str, float]:
        """How alike the labels of queries and neighbours are: mean difference (regression) or share of equal labels."""
        mine, theirs = self.queries.store.y, self.dataset.store.y
        if mine is None or theirs is None or self.dataset.task.kind == "none":
            return {}
        if self.queries.task.kind != self.dataset.task.kind:
            return {}
        own, others = self._coded_alike(mine[:, 0]), theirs[:, 0]
        if self.dataset.task.kind == "regression":
            score = lambda places: np.nanmean(np.abs(own[:, None] - others[places]))  # noqa: E731
        else:
            score = lambda places: np.nanmean(_equal(own[:, None], others[places]))  # noqa: E731
        chance = np.random.default_rng(0).integers(0, len(others), self.learned[0].shape)
        rankings = (("learned", self.learned[0]), ("known", self.known[0]), ("chance", chance))
        return {name: float(score(places)) for name, places in rankings}

    def _coded_alike(self, labels: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Labels of queries, whose classes a table of its own may number otherwise; -1 for a class unknown here."""
        task, asked = self.dataset.task, self.queries.task
        if task.kind != "multiclass" or not asked.names or asked.names == task.names:
            return labels
        place = {name: float(code) for code, name in enumerate(task.names)}
        codes = np.array([place.get(name, -1.0) for name in asked.names])
        return np.where(np.isnan(labels), np.nan, codes[np.nan_to_num(labels).astype(np.int64)])


def find_neighbours(
    place: str | Path,
    source: Source,
    queries: Source | None = None,
    *,
    count: int = 10,
    index: Index = "auto",
    most: int = MOST,
    device: str = "auto",
    progress: Progress | None = None,
) -> Neighbours:
    """The `count` nearest graphs of `source` to each query; without `queries`, each graph of `source` is one."""
    run = open_encoder(place, device)
    atoms = run.config.data.atom_features
    source = source.following(run.config.data, run.mixtures)
    queries = None if queries is None else queries.following(run.config.data, run.mixtures)
    dataset = as_read(source.load(progress=progress), atoms)
    if queries is None and len(dataset) < 2:
        raise DataError(f"{dataset.name} has only one graph, which has no neighbours.", "Give more graphs, or a QUERY.")
    asked = dataset if queries is None else as_read(queries.load(progress=progress), atoms)
    whole = len(asked)
    asked = sampled(asked, most) if len(asked) > most else asked
    itself = np.full(len(asked), -1)
    if queries is None:
        own = np.arange(whole) if dataset.rows is None else np.asarray(dataset.rows)
        itself = np.arange(whole) if len(asked) == whole else np.searchsorted(own, np.asarray(asked.rows))
    rows = embed_with(run, dataset, source, progress)
    theirs = rows[itself] if queries is None else embed_with(run, asked, queries, progress)
    learned = _without_itself(
        nearest(*_comparable(rows, theirs), count + 1, index, _named(progress, "compare embeddings")), itself, count
    )
    measure, known = _by_structure(dataset, asked, count + 1, run, _named(progress, "compare structures"))
    known = _without_itself(known, itself, count)
    return Neighbours(run, dataset, asked, itself, learned, known, measure, whole - len(asked))


def _comparable(rows: Matrix, queries: Matrix) -> tuple[Matrix, Matrix]:
    """Both standardised by the data, with rows of length 1."""
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > 1e-12, spread, 1.0)
    return unit_rows((rows - centre) / scale), unit_rows((queries - centre) / scale)


def _by_structure(
    dataset: Dataset, queries: Dataset, count: int, run: LoadedRun, progress: Count | None
) -> tuple[str, Found]:
    if dataset.smiles is not None and queries.smiles is not None:
        bits = packed_fingerprints(dataset.smiles, _RADIUS, _BITS)
        theirs = bits if queries is dataset else packed_fingerprints(queries.smiles, _RADIUS, _BITS)
        return ECFP, _tanimoto(bits, theirs, count, progress)
    rows, asked = _comparable(_statistics(dataset, run), _statistics(queries, run))
    return STATISTICS, nearest(rows, asked, count, "exact", progress)


def _tanimoto(rows: npt.NDArray[np.uint8], queries: npt.NDArray[np.uint8], count: int, progress: Count | None) -> Found:
    """Shared bits over all bits, from products of bits, a block of each at a time."""
    own, theirs = (_ONES[part].sum(axis=1, dtype=np.int64).astype(np.float32) for part in (rows, queries))
    bits = np.unpackbits(rows, axis=1).astype(np.float32) if rows.nbytes * 32 < 2**30 else None

    def scores(block: slice) -> npt.NDArray[np.float32]:
        asked = np.unpackbits(queries[block], axis=1).astype(np.float32)
        if bits is not None:
            both = asked @ bits.T
        else:
            parts = (rows[start : start + 8192] for start in range(0, len(rows), 8192))
            both = np.concatenate([asked @ np.unpackbits(part, axis=1).astype(np.float32).T for part in parts], axis=1)
        union = theirs[block, None] + own[None] - both
        return np.divide(both, union, out=np.zeros_like(both), where=union > 0)

    return best_of(scores, len(queries), count, progress)


def _statistics(dataset: Dataset, run: LoadedRun) -> Matrix:
    config = resolve({"method": "statistics", "training": {"epochs": 0, "device": run.config.training.device}})
    return embed_dataset(build_method(config, dataset.store.spec, dataset.task), dataset)


def _without_itself(found: Found, itself: npt.NDArray[np.int64], count: int) -> Found:
    """The best `count`, leaving out each query itself; where it was not found, the last one goes."""
    places, values = found
    most = min(count, places.shape[1] - 1) if (itself >= 0).any() else min(count, places.shape[1])
    wrong = places == itself[:, None]
    order = np.argsort(wrong, axis=1, kind="stable")[:, :most]
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(values, order, axis=1)


def _equal(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.where(np.isnan(one) | np.isnan(other), np.nan, one == other)


def _named(progress: Progress | None, what: str) -> Count | None:
    return None if progress is None else lambda done, total: progress(what, done, total)
