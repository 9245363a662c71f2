"""The compiled step: its gradients against 64-bit autograd, its updates and checkpoints against the plain step's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.compiled.choice import compiled_step, why_plain
from adgcl.compiled.steps import CompiledADGCL, CompiledNADGCL
from adgcl.core.errors import ConfigError, TrainingError
from adgcl.data.load import load_dataset
from adgcl.methods.adgcl import ADGCL
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.step_choice import choose_step, steps_so_far
from adgcl.training.trainer import Trainer, build_method
from tests.compiled.slow_adgcl import SlowADGCL
from tests.graph_cases import random_store

# With self-loops, duplicate edges, isolated nodes, graphs of one node and one without edges.
PLAIN = random_store(num_graphs=19, seed=5)
LABELLED = random_store(num_graphs=13, seed=6, node_sizes=(5,), num_dim=2)
ONE_WAY = random_store(num_graphs=14, seed=7, directed=True)
LARGE = random_store(num_graphs=90, seed=8, node_sizes=(40,))


def settled(*overrides, name="adgcl", **training):
    settings = {"method": {"name": name}, "training": {"device": "cpu", "threads": 1, **training}}
    return resolve({**settings, "encoder": {"hidden_dim": 32, "num_layers": 3}}, overrides)


def build(store, *overrides, name="adgcl"):
    method = build_method(settled(*overrides, name=name), store.spec, store.task)
    generator = torch.Generator().manual_seed(3)
    # Not as initialised: biases of 0 and norms of 1 would hide what is left out.
    with torch.no_grad():
        for parameter in method.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.1)
        for buffer_name, buffer in method.named_buffers():
            if "running" in buffer_name:
                buffer.add_(torch.rand(buffer.shape, generator=generator))
    return method


def gradients(step, player):
    """By the names of the method's parameters."""
    names = {parameter: name for name, parameter in step.method.named_parameters()}
    return {names[p]: player.gradient_of(p) for p in player.parameters}


def check_close(found, expected, tolerance=2e-3, median=1e-4):
    """Each within rounding of 32 bits, also where the true gradient is 0, and most far closer."""
    largest = max(float(grad.norm()) for grad in expected.values())
    errors = {name: float((grad.double() - expected[name]).norm()) for name, grad in found.items()}
    for name, error in errors.items():
        assert error <= tolerance * float(expected[name].norm()) + 1e-6 * largest, name
    relative = [error / float(expected[name].norm()) for name, error in errors.items() if expected[name].norm() > 0]
    assert np.median(relative) < median


def slow_gradients(slow, loss):
    grads = torch.autograd.grad(loss, list(slow.leaves.values()), allow_unused=True)
    return {n: torch.zeros_like(p) if g is None else g for (n, p), g in zip(slow.leaves.items(), grads)}


SETTINGS = [
    [],
    ["method.gate.hard=true", "encoder.layers=all"],
    ["method.gate.tied=true", "method.directions=one", "encoder.readout=mean"],
    ["method.gate.hard=true", "method.gate.tied=true", "method.gate.temperature=0.5", "method.gate.mlp_dim=32"],
    ["encoder.hidden_dim=64", "encoder.layers=all", "encoder.readout=mean", "method.reg_lambda=0.3"],
    ["encoder.hidden_dim=96", "encoder.num_layers=1", "method.gate.mlp_dim=96"],
]
# Where all nodes begin alike, normalisation takes away most of what there is, and the plain step is no closer.
STORES = {"plain": (PLAIN, 5e-4), "labelled": (LABELLED, 1e-5), "one-way": (ONE_WAY, 5e-4), "large": (LARGE, 1e-5)}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("overrides", SETTINGS, ids=" ".join)
def test_gradients_are_those_of_64_bit_autograd(store, overrides):
    store, median = STORES[store]
    batch = store.batch(np.arange(len(store)))
    method = build(store, *overrides)
    step = CompiledADGCL(method)
    for own in (True, False):
        slow = SlowADGCL(method, batch)
        places, noise = step.places(batch), torch.Generator().manual_seed(4)
        drawn = step.spoiler.draw(batch, places, noise, own=True)
        loss, of_keep = step.learner.compare(places, drawn.keep, own=own, spoiling=True)
        step.spoiler.backward(batch, drawn, of_keep, method.config.reg_lambda)
        keep = slow.keep(4, own=True)
        expected = slow.loss(keep, own)
        torch.testing.assert_close(drawn.keep.double(), keep, rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(loss.double(), expected, rtol=1e-4, atol=1e-5)
        spoiled = slow_gradients(slow, slow.price(keep) - expected)
        check_close(gradients(step, step.spoiler.player), spoiled, median=median)
        learned = slow_gradients(slow, slow.loss(keep.detach(), own))
        check_close(gradients(step, step.learner.player), learned, median=median)
        # A frozen learner passes the same gradient on.
        alone = step.learner.compare(places, drawn.keep, own=own, learning=False, spoiling=True)[1]
        torch.testing.assert_close(alone, of_keep)
        for player in (step.learner.player, step.spoiler.player):
            player.grads.zero_()


def test_running_statistics_move_as_in_the_plain_step():
    batch = PLAIN.batch(np.arange(len(PLAIN)))
    plain, fast = build(PLAIN, "method.update=simultaneous"), build(PLAIN, "method.update=simultaneous")
    plain.step(batch, torch.Generator().manual_seed(1))
    CompiledADGCL(fast)(batch, torch.Generator().manual_seed(1))
    expected = dict(plain.named_buffers())
    for name, buffer in fast.named_buffers():
        torch.testing.assert_close(buffer, expected[name], rtol=1e-4, atol=1e-5, msg=name)


@pytest.mark.parametrize("turn", ["augmenter", "encoder"])
def test_one_update_is_that_of_the_plain_step(turn):
    """One player moves, from the same state, with the same noise: the same metrics, moments and parameters."""
    batch = LABELLED.batch(np.arange(len(LABELLED)))
    plain, fast = build(LABELLED), build(LABELLED)
    step = CompiledADGCL(fast)
    generators = [torch.Generator().manual_seed(9) for _ in range(2)]
    ours = getattr(step, f"_{turn}_turn")(batch, step.places(batch), generators[0])
    theirs = getattr(plain, f"_{turn}_step")(batch, generators[1])
    for name, value in theirs.items():
        torch.testing.assert_close(ours[name], value, rtol=1e-4, atol=1e-5)
    assert torch.equal(generators[0].get_state(), generators[1].get_state())
    moments = [method.optimizers[turn].state_dict()["state"] for method in (fast, plain)]
    for mine, other in zip(*(m.values() for m in moments)):
        assert mine["step"] == other["step"] == 1
        torch.testing.assert_close(mine["exp_avg"], other["exp_avg"], rtol=5e-3, atol=1e-6)
    still = "encoder" if turn == "augmenter" else "augmenter"
    before = build(LABELLED).state_dict()
    for name, value in fast.state_dict().items():
        if "running" not in name and name.startswith("augmenter" if still == "augmenter" else ("encoder", "head")):
            assert torch.equal(value, before[name]), name


@pytest.mark.parametrize("update", ["alternating", "simultaneous"])
def test_a_drop_budget_is_held_as_in_the_plain_step(update):
    """Lambda starts far from the price that damping gives, so that a step which forgets either would differ."""
    overrides = [f"method.update={update}", "method.drop_budget=0.2", "method.reg_weights.edge_drop=3"]
    batch = LABELLED.batch(np.arange(len(LABELLED)))
    plain, fast = build(LABELLED, *overrides), build(LABELLED, *overrides)
    ours = CompiledADGCL(fast)(batch, torch.Generator().manual_seed(2))
    theirs = plain.step(batch, torch.Generator().manual_seed(2))
    for name in ("drop_ratio", "reg_lambda"):
        torch.testing.assert_close(ours[name], theirs[name], rtol=1e-4, atol=1e-5)
    for mine, other in zip(*(m.optimizers["augmenter"].state_dict()["state"].values() for m in (fast, plain))):
        torch.testing.assert_close(mine["exp_avg"], other["exp_avg"], rtol=5e-3, atol=1e-6)


@pytest.mark.parametrize("overrides", [["method.gate.hard=true"], ["method.update=simultaneous"]], ids=" ".join)
def test_noise_and_metrics_are_those_of_the_plain_step(overrides):
    batch = PLAIN.batch(np.arange(len(PLAIN)))
    plain, fast = build(PLAIN, *overrides), build(PLAIN, *overrides)
    generators = [torch.Generator().manual_seed(2) for _ in range(2)]
    ours, theirs = CompiledADGCL(fast)(batch, generators[0]), plain.step(batch, generators[1])
    assert ours.keys() == theirs.keys()
    torch.testing.assert_close(ours["drop_ratio"], theirs["drop_ratio"], rtol=1e-4, atol=1e-5)
    assert torch.equal(generators[0].get_state(), generators[1].get_state())


def test_adam_is_torch_s():
    method = build(PLAIN)
    step = CompiledADGCL(method)
    player, generator = step.learner.player, torch.Generator().manual_seed(0)
    twins = [p.detach().clone().requires_grad_() for p in player.parameters]
    adam = torch.optim.Adam(twins, lr=1e-3)
    for _ in range(5):
        for twin, parameter in zip(twins, player.parameters):
            twin.grad = torch.randn(twin.shape, generator=generator)
            player.gradient_of(parameter).copy_(twin.grad)
        adam.step()
        player.update()
        assert not player.grads.any()
    for twin, parameter in zip(twins, player.parameters):
        torch.testing.assert_close(parameter, twin, rtol=1e-5, atol=1e-7)


def test_nadgcl_learns_as_its_plain_step():
    batch = LABELLED.batch(np.arange(len(LABELLED)))
    plain, fast = build(LABELLED, name="nadgcl"), build(LABELLED, name="nadgcl")
    step = CompiledNADGCL(fast)
    ours = step(batch, torch.Generator().manual_seed(1))
    theirs = plain.step(batch, torch.Generator().manual_seed(1))
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    for mine, other in zip(*(m.optimizers["encoder"].state_dict()["state"].values() for m in (fast, plain))):
        torch.testing.assert_close(mine["exp_avg"], other["exp_avg"], rtol=5e-3, atol=1e-6)


@pytest.mark.parametrize("update", ["alternating", "simultaneous"])
def test_odd_batches(update):
    """One graph, two graphs of one node, graphs without edges: finite, and the same metrics as the plain step."""
    for ids in ([0], [1], _smallest(2), [1, *_smallest(1)]):
        batch = PLAIN.batch(np.array(ids))
        plain, fast = (build(PLAIN, f"method.update={update}") for _ in range(2))
        step = CompiledADGCL(fast)
        for seed in range(2):
            ours = step(batch, torch.Generator().manual_seed(seed))
            theirs = plain.step(batch, torch.Generator().manual_seed(seed))
            assert all(torch.isfinite(value) for value in ours.values())
            if seed == 0:
                torch.testing.assert_close(ours["drop_ratio"], theirs["drop_ratio"], rtol=1e-4, atol=1e-5)
        assert all(torch.isfinite(p).all() for p in fast.parameters())


def _smallest(count):
    return list(np.argsort(PLAIN.node_counts)[:count])


def test_nan_reaches_the_guard(tmp_path):
    trainer = Trainer(settled(epochs=1, step="auto"), PLAIN, folder=RunFolder(tmp_path))
    assert trainer.data["step"] == _path()
    with torch.no_grad():
        trainer.method.encoder.layers[0].first.weight[3] = torch.nan
    with pytest.raises(TrainingError, match="loss became nan"):
        trainer.fit()


def test_resume_is_exact_and_crosses_paths(tmp_path):
    def run(folder, resume=False, **training):
        trainer = Trainer(
            settled(batch_size=5, checkpoint_seconds=0.0, **training), PLAIN, folder=RunFolder(folder), resume=resume
        )
        trainer.fit()
        return trainer

    for step in ("plain", "auto"):
        run(tmp_path / step / "whole", epochs=4, step=step)
        run(tmp_path / step / "parts", epochs=2, step=step)
        run(tmp_path / step / "parts", resume=True, epochs=4, step=step)
        files = [RunFolder(tmp_path / step / name).checkpoint for name in ("whole", "parts")]
        assert files[0].read_bytes() == files[1].read_bytes()

    for first, then in (("plain", "compiled"), ("compiled", "plain")):
        folder = tmp_path / f"from {first}"
        saved = run(folder, epochs=2, step=first)
        resumed = Trainer(settled(batch_size=5, epochs=3, step=then), PLAIN, folder=RunFolder(folder), resume=True)
        torch.testing.assert_close(resumed.method.state_dict(), saved.method.state_dict(), rtol=0, atol=0)
        for name, optimizer in resumed.method.optimizers.items():
            old = saved.method.optimizers[name].state_dict()["state"]
            torch.testing.assert_close(optimizer.state_dict()["state"], old, rtol=0, atol=0)
        resumed.fit()
        assert resumed.position.epoch == 3 and then in resumed.choice.remark
        assert load_checkpoint(RunFolder(folder).checkpoint).data["step"] == f"{first} then {then}"


@pytest.mark.parametrize("first", ["plain", "compiled"])
def test_a_resumed_run_keeps_its_step(tmp_path, first):
    """With `auto`, it ends with the same bytes as if it had not been interrupted; only its settings say `auto`."""

    def run(folder, epochs, step, resume=False):
        config = settled(batch_size=5, epochs=epochs, step=step)
        trainer = Trainer(config, PLAIN, folder=RunFolder(folder), resume=resume)
        trainer.fit()
        return trainer

    whole = run(tmp_path / "whole", 3, first)
    run(tmp_path / "parts", 1, first)
    parts = run(tmp_path / "parts", 3, "auto", resume=True)
    assert parts.data["step"] == first
    assert ("keeps it" in parts.choice.remark) == (first == "plain")
    for name, value in whole.method.state_dict().items():
        assert torch.equal(parts.method.state_dict()[name], value), name


def test_a_run_of_an_earlier_version_was_plain():
    method = build(PLAIN)
    assert steps_so_far({}) == "plain"
    assert choose_step(method, settled(step="auto").training, steps_so_far({})).step is None


def test_a_compiled_step_that_does_not_exist_is_refused():
    with pytest.raises(ConfigError, match="no compiled step: the encoder is not GIN"):
        Trainer(settled("encoder.name=gine", step="compiled"), PLAIN)
    with pytest.raises(ConfigError, match="precision"):
        Trainer(settled(step="compiled", precision="bfloat16"), PLAIN)
    assert Trainer(settled("encoder.name=gine", step="auto"), PLAIN).data["step"] == "plain"


def test_restoring_into_a_running_step():
    """Moments are restored into the flat buffers, not beside them."""
    batch = PLAIN.batch(np.arange(len(PLAIN)))
    method = build(PLAIN)
    step = CompiledADGCL(method)
    step(batch, torch.Generator().manual_seed(0))
    states = {name: o.state_dict() for name, o in method.optimizers.items()}
    kept = {name: value.clone() for name, value in method.state_dict().items()}
    moments = {name: torch.clone(o.state_dict()["state"][1]["exp_avg"]) for name, o in method.optimizers.items()}
    states = {n: {**s, "state": {k: {a: b.clone() for a, b in v.items()} for k, v in s["state"].items()}}
              for n, s in states.items()}  # fmt: skip
    second = step(batch, torch.Generator().manual_seed(1))
    method.load_state_dict(kept)
    for name, optimizer in method.optimizers.items():
        optimizer.load_state_dict(states[name])
        assert torch.equal(optimizer.state_dict()["state"][1]["exp_avg"], moments[name])
    assert torch.equal(step(batch, torch.Generator().manual_seed(1))["loss"], second["loss"])


@pytest.mark.parametrize("dataset", ["MUTAG", "PROTEINS", "IMDB-BINARY"])
def test_real_graphs(dataset, data_dir):
    store = load_dataset(dataset, data_dir=data_dir).store
    batch = store.batch(np.arange(32))
    method = build(store, "method.update=simultaneous", "encoder.name=gin")
    step, slow = CompiledADGCL(method), SlowADGCL(method, batch)
    keep = slow.keep(4, own=True).detach()
    step.learner.compare(step.places(batch), keep.float())
    check_close(gradients(step, step.learner.player), slow_gradients(slow, slow.loss(keep, own=True)), 5e-3)


PLAIN_SETTINGS = {
    "encoder.dropout=0.1": "dropout",
    "encoder.batch_norm=false": "normalisation",
    "encoder.hidden_dim=48": "width",
    "encoder.hidden_dim=128": "width",
    "encoder.readout=max": "maximum",
    "encoder.name=gine": "GIN",
    "method.augmentations=edge_drop,node_drop": "augmenter",
    "method.gate.mlp_dim=20": "mlp_dim",
}


@pytest.mark.parametrize("override", PLAIN_SETTINGS)
def test_other_settings_take_the_plain_step(override):
    method = build_method(settled(override), PLAIN.spec, PLAIN.task)
    assert PLAIN_SETTINGS[override] in why_plain(method)
    assert compiled_step(method) is None


def test_a_subclass_keeps_its_own_step():
    method = build(PLAIN)
    method.__class__ = type("Mine", (type(method),), {"step": lambda self, batch, generator: {}})
    assert compiled_step(method) is None


def test_a_step_that_was_replaced_is_taken(monkeypatch):
    replaced = build(PLAIN)
    replaced.step = lambda batch, generator: {}
    assert "replaced" in why_plain(replaced)
    monkeypatch.setattr(ADGCL, "step", lambda self, batch, generator: {})
    assert "replaced" in why_plain(build(PLAIN))


def _path():
    return "plain" if why_plain(build(PLAIN)) else "compiled"
