"""`python -m benchmarks.limits [--write]`: how far a training step is from what its dense products allow.

Counts the floating-point operations of the products in one step, measures how many per second one core does at the
shapes of the layers, and finds out where the rest of the time goes. `--write` writes docs/limits.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
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
from benchmarks import step_parts, training_step
from benchmarks.timing import kernel_shares, seconds
from benchmarks.training_step import PRODUCTS, Setting

Product = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
PAGE = Path(__file__).parent.parent / "docs" / "limits.md"
SETS = ("NCI1", "PROTEINS", "IMDB-BINARY", "DD", "COLLAB", "ogbg-molbace")
# From this width on, products are left to libraries.
_WIDE = 100
# For torch: products, the rest of our own functions (their compiled loops and the calls between kernels; their names
# in the profiler start with an underscore), and all other kernels of torch.
KINDS = ("products", "own functions", "other kernels")


def best(work: Callable[[], object], rounds: int) -> float:
    work()
    return min(seconds(work) for _ in range(rounds))


def rate(rows: int, width: int, inner: int, product: Product, dtype: torch.dtype = torch.float32) -> float:
    """Billions of operations per second of a product of these sizes."""
    a, b = torch.randn(rows, width).to(dtype), torch.randn(inner, width).to(dtype)
    return 2e-9 * rows * width * inner / best(lambda: product(a, b), 3 if dtype == torch.bfloat16 else 40)


def step_of(trainer: Trainer, setting: Setting) -> Callable[[], object]:
    ids = np.arange(setting.batch_size)
    return lambda: trainer._step(ids, 1)


def operations(step: Callable[[], object]) -> float:
    """Billions of operations in the dense products of a step."""
    # The counter knows torch's products only.
    to_torch = mock.patch.multiple(dense, _left_to_numpy=lambda: False, _left_to_onednn=lambda: False)
    with to_torch, FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops() / 1e9


def shares(step: Callable[[], object]) -> dict[str, float]:
    """Where the time of a step goes, in per cent."""
    of_kernels = kernel_shares(step)
    products = sum(of_kernels.get(name, 0.0) for name in PRODUCTS)
    own = sum(share for name, share in of_kernels.items() if name.startswith(("_", "Round")))
    return dict(zip(KINDS, (products, own, 100 - products - own), strict=True))


def speed_of(rows: int, width: int) -> float:
    """Billions of operations per second in products of a layer, by the fastest of the ways we have."""
    if width < _WIDE:
        return max(rate(rows, width, width, F.linear), step_parts.product_rate(rows, width))
    return rate(rows, width, 2 * width, linear)


def rows_of(setting: Setting) -> Iterator[tuple[tuple[str, ...], dict[str, float]]]:
    """For each update of one data set: its row, and where its time goes, in per cent."""
    store: GraphStore = training_step._store(setting)
    store = store.select(np.random.default_rng(0).permutation(len(store))[: setting.batch_size])
    plain = training_step._plain(store, setting)
    data = Batch.from_data_list(training_step.to_plain(store))
    rounds = 40 if setting.width < _WIDE else 3
    plain_time = best(lambda: plain.step(data), rounds)
    speed = speed_of(store.num_nodes, setting.width)
    for update in ("alternating", "simultaneous"):
        trainer = training_step._trainer(store, setting, update, "float32")
        step = step_of(trainer, setting)
        ours = best(step, rounds)
        # A compiled step is the same work as the plain one, whose products can be counted.
        work = operations(step_of(training_step._trainer(store, setting, update, "float32", "plain"), setting))
        least = work / speed
        name = f"{setting.dataset}, width {setting.width}"
        numbers = (1e3 * plain_time, 1e3 * ours, 1e3 * least)
        row = (name, update, *(f"{n:.1f}" for n in numbers), f"{plain_time / ours:.2f}", f"{plain_time / least:.1f}")
        yield row, shares(step) if trainer.choice.step is None else step_parts.shares(step, rounds)


def page() -> str:
    torch.set_num_threads(1)
    settings = {setting.dataset: setting for setting in training_step.SETTINGS}
    found = [each for name in SETS for each in rows_of(settings[name])]
    columns = ("data set", "update", "plain", "ours", "products alone", "ratio", "limit")
    table = to_markdown(Table.of(columns, [row for row, _ in found], numbers=columns[2:]))
    compiled, wide = (_parts(found, kinds) for kinds in ((*step_parts.PARTS, step_parts.REST), KINDS))
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
    return _TEXT.format(
        machine=here["processor"], table=table, compiled=compiled, wide=wide, of_products=of_products, half=half
    )


def _parts(found: Sequence[tuple[tuple[str, ...], dict[str, float]]], kinds: tuple[str, ...]) -> str:
    """Where the time goes in the steps that are divided into these kinds."""
    rows = [(*row[:2], *(f"{parts[kind]:.0f}" for kind in kinds)) for row, parts in found if {*parts} == {*kinds}]
    return to_markdown(Table.of(("data set", "update", *kinds), rows, numbers=kinds))


_TEXT = """# How far a training step is from its limit

Made by `python -m benchmarks.limits --write` on {machine}, one core. Times are milliseconds for one step on one batch
(32 graphs at width 32, 64 at width 300): the plain PyTorch Geometric version, ours, and the dense products of our step
alone at the speed one core reaches at their shapes. *Limit* is the ratio to the plain version if everything but the
products were free. `make bench` measures the ratios more carefully, alternating between the two.

{table}

## Where the time goes

At width 32 a step in torch is some two thousand small calls, and they take longer than the arithmetic. The compiled
step (`compiled/`) is a dozen loops. In per cent of its time; the layers' share includes sums over neighbours and
normalisation, which go through memory as often as the products do:

{compiled}

At width 300 only the products matter, and ours are already fewer than the plain version's (identical nodes are computed
once, and so are identical messages of the first layer), so torch and autograd stay. In per cent of the profiled time:

{wide}

## The speed of products

Billions of operations per second on one core, in 32 bits by torch and by the library that wide layers choose
(`encoders/dense.py`), and in bfloat16:

{of_products}

This processor {half} bfloat16 instructions. Without them torch emulates such products, many times slower than in 32
bits, so `--precision bfloat16` computes in 32 bits there. With them, products take half the time or less.
[quality.md](quality.md) shows what 16 bits do to quality.
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
