"""`python -m benchmarks.threads [--write]`: how far two trainings drift apart that differ in nothing but rounding.

AD-GCL at width 300 on FreeSolv: one thread against two, which add up in another order; one thread against one whose
initial weights differ in their last bit; and one thread against two with 64-bit numbers, whose rounding is half a
billion times finer. If the first two drift alike and the third hardly at all, threads change rounding and nothing else.
`--write` writes the table into docs/reliability.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adgcl.core.files import write_text
from adgcl.data.load import load_dataset
from adgcl.experiments.planning import Request, plan
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.store import GraphStore
from adgcl.reports.formats.markdown import to_markdown
from adgcl.reports.formats.marks import put_between
from adgcl.reports.table import Table
from adgcl.training.run_config import RunConfig
from adgcl.training.trainer import Trainer

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"
STEPS = (0, 1, 2, 5, 10, 20)
_BATCH, _SHOWN = 32, 128


def course(store: GraphStore, config: RunConfig, threads: int, *, wide: bool = False, nudged: bool = False) -> Any:
    """The embeddings of the first graphs after each of `STEPS`."""
    trainer = Trainer(config.with_training(threads=threads), store)
    if nudged:
        _nudge(trainer)
    if wide:
        trainer.method.double()
        trainer.method.prepare(torch.device("cpu"))
    order, made = np.random.default_rng(0).permutation(len(store)), []
    for step in range(max(STEPS) + 1):
        if step in STEPS:
            with torch.no_grad():
                made.append(trainer.method.embed(_batch(store, np.arange(_SHOWN), wide)).double().numpy())
        ids = np.take(order, np.arange(step * _BATCH, (step + 1) * _BATCH), mode="wrap")
        trainer.method.step(_batch(store, ids, wide), trainer.generator)
    return made


def _batch(store: GraphStore, ids: Any, wide: bool) -> GraphBatch:
    batch = store.batch(ids)
    if wide:
        batch.__dict__["ones"], batch.__dict__["edge_share"] = batch.ones.double(), batch.edge_share.double()
    return batch


def _nudge(trainer: Trainer) -> None:
    """Move every weight to one of its two neighbours among the 32-bit numbers."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in trainer.method.parameters():
            away = torch.where(torch.rand(weight.shape, generator=generator) < 0.5, torch.inf, -torch.inf)
            weight.copy_(torch.nextafter(weight, away))


def drift(a: Any, b: Any) -> list[float]:
    """The root mean square difference relative to the size of the embeddings, in percent."""
    return [100 * float(np.sqrt(np.square(x - y).mean() / np.square(x).mean())) for x, y in zip(a, b)]


def measure() -> Table:
    dataset = load_dataset("freesolv")
    config = plan(dataset, Request("adgcl")).run
    plain = course(dataset.store, config, 1)
    wide = course(dataset.store, config, 1, wide=True)
    rows = {
        "1 against 2 threads": drift(plain, course(dataset.store, config, 2)),
        "1 against 1 thread": drift(plain, course(dataset.store, config, 1)),
        "weights moved by their last bit": drift(plain, course(dataset.store, config, 1, nudged=True)),
        "1 against 2 threads, 64 bits": drift(wide, course(dataset.store, config, 2, wide=True)),
        "32 against 64 bits": drift(wide, plain),
    }
    columns = ("drift of embeddings, %", *(f"{step} step{'s' * (step != 1)}" for step in STEPS))
    cells = [(name, *(f"{value:.2g}" for value in values)) for name, values in rows.items()]
    return Table.of(columns, cells, numbers=columns[1:])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    arguments = parser.parse_args()
    text = to_markdown(measure())
    print(text)
    if arguments.write:
        write_text(PAGE, put_between(PAGE.read_text(encoding="utf-8"), "threads", text.rstrip()))


if __name__ == "__main__":
    main()
