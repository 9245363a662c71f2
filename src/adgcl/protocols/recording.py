"""Recording: the seeds of a run summarised as one Record per score."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from adgcl.core.provenance import machine, versions
from adgcl.core.records import Record
from adgcl.data.dataset import Dataset
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.methods.base import METHODS
from adgcl.protocols.base import Protocol
from adgcl.protocols.identity import full_settings
from adgcl.protocols.seed_run import SeedRun
from adgcl.published import find_result, layouts, paper_method
from adgcl.training.run_config import RunConfig

_LEAKY = "The encoder was trained with labels; if the graphs evaluated here were among them, this is not a test."


def make_records(
    protocol: Protocol, dataset: Dataset, run: RunConfig, runs: Sequence[SeedRun], *, row: str = "", command: str = ""
) -> list[Record]:
    """One Record per score; `row` is its name in a table, if that is not the method's own."""
    return [make_record(protocol, dataset, run, score, runs, row=row, command=command) for score in protocol.scores]


def make_record(
    protocol: Protocol,
    dataset: Dataset,
    run: RunConfig,
    score: str,
    runs: Sequence[SeedRun],
    *,
    row: str = "",
    command: str = "",
) -> Record:
    """Summarise seeds; accuracies and AUCs in percent."""
    task, method = dataset.task, METHODS[run.method.name]
    leaky = method.needs_labels and not method.computed_labels and not protocol.learns_from_labels
    scale = 100.0 if task.higher_is_better else 1.0
    chosen = [protocol.select(r, score, task.higher_is_better) for r in runs]
    values = [round(c.test * scale, 6) for c in chosen]
    rows = [
        {
            "seed": r.seed,
            "test": values[i],
            "valid": _printed([chosen[i].valid], scale)[0],
            "epochs": list(chosen[i].epochs),
            "folds": _printed(chosen[i].test_folds, scale),
            "course": _course(r, score, scale),
            "training": r.training,
            "seconds": r.seconds,
            "step": r.step,
        }
        for i, r in enumerate(runs)
    ]
    name, seeds = protocol.row(run, row), [r.seed for r in runs]
    return Record(
        dataset=dataset.name,
        method=name,
        mode=protocol.config.mode,
        protocol=protocol.name,
        probe=score,
        metric=task.metric,
        higher_is_better=task.higher_is_better,
        mean=round(float(np.mean(values)), 6),
        std=round(float(np.std(values, ddof=1)), 6) if len(values) > 1 else None,
        values=values,
        seeds=seeds,
        runs=rows,
        published=None if leaky or not protocol.comparable else published_figure(protocol, dataset, name, score),
        config=full_settings(run, protocol),
        data={
            "name": dataset.name,
            "graphs": len(dataset),
            "fingerprint": fingerprint(dataset.store),
            "source": dataset.origin.source,
            "note": dataset.origin.note,
        },
        seconds=round(sum(r.seconds for r in runs), 2),
        peak_memory_mb=max(r.peak_memory_mb for r in runs),
        versions=versions(),
        machine=machine(),
        command=command,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        notes=[
            *([_LEAKY] if leaky else []),
            *protocol.notes(run),
            *protocol.data_notes(dataset, seeds),
            *protocol.remarks(chosen, scale),
        ],
    )


def published_figure(protocol: Protocol, dataset: Dataset, row: str, score: str) -> dict[str, Any] | None:
    """The paper's number for this data set, row and score, if it has one."""
    name, label = dataset.origin.paper_name or dataset.name, paper_method(row)
    if label is None:
        return None
    for table in layouts().values():
        found = find_result(name, label, table.name) if protocol.fills(table, score) else None
        if found is not None:
            return {"table": table.name, "method": label, "mean": found.mean, "std": found.std}
    return None


def _course(run: SeedRun, score: str, scale: float) -> dict[str, list[Any]]:
    """The scores after every evaluated epoch: how much depends on the choice of one of them."""
    judged = [e for e in run.evaluations if e.probe == score]
    return {
        "epochs": [e.epoch for e in judged],
        "valid": _printed([e.valid for e in judged], scale),
        "test": _printed([e.test for e in judged], scale),
    }


def _printed(scores: Iterable[float], scale: float) -> list[float | None]:
    """Scores in the unit of the Record; one that is undefined becomes null."""
    return [None if np.isnan(score) else round(score * scale, 6) for score in scores]
