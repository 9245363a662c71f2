"""`python -m benchmarks.limits [--write]`: how far a training step is from what its dense products allow.

Counts the floating-point operations of the products in one step, measures how many a second one core does at the
shapes of the layers, and profiles where the rest of the time goes. `--write` makes docs/limits.md from it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode
from torch_geometric.data import Batch

from adgcl.core.provenance import machine
from adgcl.encoders import dense
from adgcl.encoders.dense import linear
from adgcl.graphs.kernels.precision import has_half_products
from adgcl.graphs.store.store import GraphStore
from adgcl.reports.formats.markdown import to_markdown
from adgcl.reports.table import Table
from adgcl.training.trainer import Trainer
from benchmarks import training_step
from benchmarks.timing import kernel_shares, seconds
from benchmarks.training_step import PRODUCTS, Setting

Product = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
PAGE = Path(__file__).parent.parent / "docs" / "limits.md"
SETS = ("NCI1", "PROTEINS", "ogbg-molbace")
# Of the columns: products, what our own functions do besides (their compiled loops and the calls between kernels; the
# profiler knows them by names with an underscore), and all other kernels of torch.
KINDS = ("products", "own functions", "other kernels")


def best(work: Callable[[], object], rounds: int) -> float:
    work()
    return min(seconds(work) for _ in range(rounds))


def rate(rows: int, width: int, inner: int, product: Product, dtype: torch.dtype = torch.float32) -> float:
    """Billions of operations a second of a product of these sizes."""
    a, b = torch.randn(rows, width).to(dtype), torch.randn(inner, width).to(dtype)
    return 2e-9 * rows * width * inner / best(lambda: product(a, b), 3 if dtype == torch.bfloat16 else 40)


def step_of(trainer: Trainer, setting: Setting) -> Callable[[], object]:
    ids = np.arange(setting.batch_size)
    return lambda: trainer._step(ids, 1)


def operations(step: Callable[[], object]) -> float:
    """Billions of operations in the dense products of a step."""
    # The counter knows torch's products only.
    with mock.patch.object(dense, "_left_to_numpy", return_value=False), FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops() / 1e9


def shares(step: Callable[[], object]) -> dict[str, float]:
    """Where the time of a step goes, per cent."""
    of_kernels = kernel_shares(step)
    products = sum(of_kernels.get(name, 0.0) for name in PRODUCTS)
    own = sum(share for name, share in of_kernels.items() if name.startswith("_"))
    return dict(zip(KINDS, (products, own, 100 - products - own), strict=True))


def rows_of(setting: Setting) -> list[tuple[str, ...]]:
    """One row for each update of one data set."""
    store: GraphStore = training_step._store(setting)
    store = store.select(np.random.default_rng(0).permutation(len(store))[: setting.batch_size])
    graphs = training_step.to_plain(store)
    plain = training_step._plain(store, setting)
    data = Batch.from_data_list(graphs)
    plain_time = best(lambda: plain.step(data), 40 if setting.width < 100 else 3)
    inner = setting.width * (2 if setting.width > 100 else 1)
    speed = rate(store.num_nodes, setting.width, inner, F.linear if setting.width < 100 else linear)
    rows = []
    for update in ("alternating", "simultaneous"):
        trainer = training_step._trainer(store, setting, update, "float32")
        step = step_of(trainer, setting)
        ours = best(step, 40 if setting.width < 100 else 3)
        # A compiled step has the products of the plain one, but torch's counter and profiler do not see them.
        plain_step = step_of(training_step._trainer(store, setting, update, "float32", "plain"), setting)
        work, part = operations(plain_step), None if trainer.data["step"] == "compiled" else shares(step)
        least = work / speed
        numbers = (1e3 * plain_time, 1e3 * ours, 1e3 * least)
        rows.append(
            (
                f"{setting.dataset}, width {setting.width}",
                update,
                *(f"{number:.1f}" for number in numbers),
                f"{plain_time / ours:.2f}",
                f"{plain_time / least:.1f}",
                *(f"{part[kind]:.0f}" if part else "" for kind in KINDS),
            )
        )
    return rows


def page() -> str:
    torch.set_num_threads(1)
    settings = {setting.dataset: setting for setting in training_step.SETTINGS}
    columns = ("data set", "update", "plain", "ours", "products alone", "ratio", "limit", *KINDS)
    table = to_markdown(
        Table.of(columns, (row for name in SETS for row in rows_of(settings[name])), numbers=columns[2:])
    )
    sizes = [(2200, 300, 600), (2200, 600, 300), (1100, 300, 600)]
    kinds = {
        "torch": (F.linear, torch.float32),
        "ours": (linear, torch.float32),
        "bfloat16": (F.linear, torch.bfloat16),
    }
    rates = [
        (f"{n} x {d} by {d} x {k}", *(f"{rate(n, d, k, *kind):.1f}" for kind in kinds.values())) for n, d, k in sizes
    ]
    of_products = to_markdown(Table.of(("product", *kinds), rates, numbers=tuple(kinds)))
    half = "has" if has_half_products() else "has no"
    here = machine()
    return _TEXT.format(machine=here["processor"], table=table, of_products=of_products, half=half)


_TEXT = """# How far a training step is from its limit

Made by `python -m benchmarks.limits --write` on {machine}, one core. Milliseconds for a step of one batch (32 graphs
at width 32, 64 at width 300): the plain PyTorch Geometric version, ours, and what the dense products of our step would
take alone at the speed one core has at their shapes. *Limit* is the ratio to the plain version if everything but the
products were free. The last columns say where the time goes, per cent of the profiled time. `make bench` measures the
ratios more carefully, in turns.

{table}

At width 32 a product takes some 50 microseconds and there are over a hundred of them in a step; what is left is loops
and kernels as small as that and the calls between them. At width 300 the products are all that matters, and ours are
already fewer than the plain version's (nodes that are alike are computed once, and so are the messages of the first
layer).

## The speed of products

Billions of operations a second of one core, in 32 bits by torch and by the library that wide layers choose
(`encoders/dense.py`), and in bfloat16:

{of_products}

This processor {half} instructions for bfloat16. Without them torch emulates such products, many times slower than in
32 bits; there `--precision bfloat16` computes in 32 bits. Where there are instructions, products take half the time or
less. What 16 bits do to quality is in [quality.md](quality.md).
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/limits.md")
    write = parser.parse_args().write
    text = page()
    print(text)
    if write:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
