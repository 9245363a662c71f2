"""A drop budget: the price is that of the formula, the budget is met, and a resumed run goes on as if never stopped."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from adgcl.core.errors import ConfigError
from adgcl.methods.adgcl import ADGCL
from adgcl.methods.drop_budget import DropBudget
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer, build_method
from tests.graph_cases import random_store

STORE = random_store(num_graphs=20, seed=9)
BATCH = STORE.batch(np.arange(20))


def settings(*overrides, epochs=4, **method):
    return resolve(
        {
            "method": {"name": "adgcl", **method},
            "encoder": {"name": "gin", "hidden_dim": 6, "num_layers": 2},
            "training": {"epochs": epochs, "batch_size": 6, "device": "cpu", "checkpoint_seconds": 0.0},
        },
        overrides,
    )


def build(**method):
    return build_method(settings(**method), STORE.spec, STORE.task)


def test_lambda_climbs_above_the_budget_and_falls_below_it():
    budget = DropBudget(0.5, start=1.0, rate=0.5)  # an error of 0.25 is one logit
    budget.move(torch.tensor(0.75))
    assert float(budget.reg_lambda) == pytest.approx(1 + 0.5 * 2 * 1)
    budget.move(torch.tensor(0.25))
    assert float(budget.reg_lambda) == pytest.approx(2 - 0.5 * 3 * 1)
    budget.move(torch.tensor(0.0))
    assert float(budget.reg_lambda) == pytest.approx(0.5 - 0.5 * 1.5 * 2)
    assert float(budget.price(torch.tensor(0.6))) == pytest.approx(-1.0 + 4 * 2.0 * 0.4, rel=1e-5)


def test_where_nothing_can_be_dropped_lambda_ends_somewhere():
    """Graphs without edges, for as many steps as a long run has."""
    held = DropBudget(0.5, 5.0, 0.06)
    for _ in range(5000):
        held.move(torch.tensor(0.0))
    assert -1e4 < held.reg_lambda < 0 and held.price(torch.tensor(0.0)).isfinite()


@pytest.mark.parametrize("start", [0.0, 5.0, 1000.0])
@pytest.mark.parametrize("budget", [0.01, 0.3, 0.95])
def test_an_augmenter_that_drops_nothing_is_paid_to_drop(budget, start):
    assert float(DropBudget(budget, start, 0.03).price(torch.tensor(0.0))) < 0.0
    assert float(DropBudget(budget, -start, 0.03).price(torch.tensor(1.0))) > 0.0


@pytest.mark.parametrize("update", ["alternating", "simultaneous"])
def test_a_step_is_that_of_the_fixed_price_it_charges(update):
    """The augmenter cannot tell a budget from a fixed lambda that happens to be the same."""
    free = build(drop_budget=0.2, reg_lambda=1.5, update=update)
    _, _, ratios = free._draw(BATCH, torch.Generator().manual_seed(3))
    error = (float(ratios["drop_ratio"]) - 0.2) / (0.2 * 0.8)
    charged = 1.5 + 4 * 2.5 * error
    assert charged > 0
    fixed = build(reg_lambda=charged, update=update)
    fixed.load_state_dict({n: v for n, v in free.state_dict().items() if not n.startswith("budget")})
    for model in (free, fixed):
        model.augmenter.train()
    metrics = [model.step(BATCH, torch.Generator().manual_seed(3)) for model in (free, fixed)]
    torch.testing.assert_close(metrics[0]["drop_ratio"], metrics[1]["drop_ratio"])
    ours, theirs = ([p.grad for p in model.augmenter.parameters()] for model in (free, fixed))
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5)
    assert float(free.budget.reg_lambda) == pytest.approx(1.5 + 0.06 * 2.5 * error, rel=1e-5)


@pytest.mark.parametrize("budget", [0.15, 0.6])
@pytest.mark.parametrize("update", ["alternating", "simultaneous"])
def test_the_budget_is_met_from_either_side(update, budget):
    for start in (0.5, 10.0):
        model = build(drop_budget=budget, reg_lambda=start, update=update, augmenter_lr=0.01)
        generator = torch.Generator().manual_seed(0)
        ratios = [float(model.step(BATCH, generator)["drop_ratio"]) for _ in range(150)]
        assert np.mean(ratios[-60:]) == pytest.approx(budget, abs=0.05), start


def test_several_augmentations_share_a_budget():
    names, weights = ["edge_drop", "node_drop"], {"node_drop": 2.0}
    model = build(drop_budget=0.4, augmentations=names, reg_weights=weights, augmenter_lr=0.01)
    generator = torch.Generator().manual_seed(0)
    rows = [model.step(BATCH, generator) for _ in range(150)][-60:]
    spent = [float(row["drop_ratio"] + 2 * row["node_drop_ratio"]) for row in rows]
    assert np.mean(spent) == pytest.approx(0.4, abs=0.06)


@pytest.mark.parametrize("stop", [3, 4, 7])
def test_a_run_that_was_stopped_at_any_step_ends_with_the_same_file(tmp_path, stop):
    class Stopped(Exception):
        pass

    class Stopper:
        def start(self, epochs, steps, done): ...
        def epoch(self, row): ...
        def stop(self): ...

        def step(self, report):
            if report.done > stop:
                raise Stopped

    def trainer(name, *trackers):
        folder = RunFolder(tmp_path / name)
        return Trainer(settings(drop_budget=0.2), STORE, folder=folder, trackers=trackers, resume=True)

    trainer("whole").fit()
    with pytest.raises(Stopped):
        trainer("parts", Stopper()).fit()
    trainer("parts").fit()
    files = [RunFolder(tmp_path / name).checkpoint.read_bytes() for name in ("whole", "parts")]
    assert files[0] == files[1]
    last = json.loads(RunFolder(tmp_path / "parts").metrics.read_text().splitlines()[-1])
    assert last["reg_lambda"] > 0


def test_lambda_is_among_what_records_keep_only_where_it_moves():
    assert "reg_lambda" in ADGCL.kept(settings(drop_budget=0.2).method)
    assert ADGCL.kept(settings().method) == ("loss", "drop_ratio")
    assert not [name for name in build().state_dict() if "budget" in name], "checkpoints of plain AD-GCL stay readable"


WRONG = ["drop_budget=0", "drop_budget=1", "drop_budget=-0.3", "drop_budget=30", "budget_rate=0"]


@pytest.mark.parametrize("wrong", WRONG)
def test_budgets_out_of_range_are_refused(wrong):
    with pytest.raises(ConfigError, match=wrong.partition("=")[0]):
        settings(wrong)


def test_advice_speaks_of_the_budget_but_not_where_there_is_one():
    gone = {"drop_ratio": 0.001}
    assert "drop_budget" in ADGCL.advice(settings().method, gone)
    assert not ADGCL.advice(settings(drop_budget=0.2).method, gone)
