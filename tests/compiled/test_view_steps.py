"""The compiled steps of GraphCL and JOAO: one update from the same state against the plain step's, in 64 bits too."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.augmentations.random_base import FIXED, RandomConfig
from adgcl.compiled.choice import compiled_step
from adgcl.compiled.view_steps import CompiledGraphCL
from adgcl.compiled.views import see
from adgcl.graphs.store.view import View
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer
from tests.compiled.test_steps import LABELLED, LARGE, ONE_WAY, PLAIN, build, settled

STORES = {"plain": PLAIN, "labelled": LABELLED, "one-way": ONE_WAY, "large": LARGE}
EVERYTHING = "random_node_drop,random_edge_perturb,random_subgraph,random_feature_mask,identity"
SETTINGS = [
    ("graphcl",),
    ("graphcl", "method.views=two", "encoder.readout=mean"),
    ("graphcl", "method.pool=random_feature_mask", "method.ratio=0.5"),
    ("graphcl", "method.pool=random_edge_perturb,identity", "method.tied=true", "method.ratio=0.4"),
    ("graphcl", "encoder.layers=all", "method.directions=both", f"method.pool={EVERYTHING}", "method.ratio=0.3"),
    ("joao",),
    ("joao", "encoder.layers=all", "encoder.num_layers=2"),
    ("joaov2",),
    ("joaov2", "method.head_per=epoch", "encoder.layers=all"),
]


def listed(overrides):
    """Pools as TOML lists."""
    return [
        f"{name}={[*value.split(',')]}" if name == "method.pool" else f"{name}={value}"
        for name, _, value in (text.partition("=") for text in overrides)
    ]


class SlowContrast:
    """The loss of a method in 64 bits with a dense adjacency matrix, for autograd to differentiate."""

    def __init__(self, method, batch):
        self.method, self.batch = method, batch
        self.leaves = {n: p.detach().double().requires_grad_() for n, p in method.named_parameters()}

    def z(self, view):
        batch, leaves = self.batch, self.leaves
        x = self.method.encoder.inputs(batch).double()
        if view.feature_keep is not None:
            keep = view.feature_keep.double()[:, None]
            x = keep * x + (1 - keep) * leaves["encoder.inputs.mask"]
        matrix = torch.eye(batch.num_nodes, dtype=torch.float64)
        weights = torch.ones(batch.num_edges) if view.edge_keep is None else view.edge_keep
        edges = [(batch.target, batch.col, weights)]
        edges += [(view.added.target, view.added.source, view.added.keep)] if view.added else []
        for target, source, weight in edges:
            matrix.index_put_((target, source), weight.double(), accumulate=True)
        kept = torch.arange(batch.num_nodes) if view.node_keep is None else view.node_keep.nonzero()[:, 0]
        h, matrix, owner = x[kept], matrix[kept][:, kept], batch.batch[kept]
        layers = self.method.encoder.config.num_layers
        for i in range(layers):
            first, bias, second, gamma, beta = (
                leaves[f"encoder.layers.{i}.{name}"]
                for name in ("first.weight", "first.bias", "second.weight", "norm.weight", "norm.bias")
            )
            h = (matrix @ h @ first.t() + bias).relu() @ second.t()
            h = (h - h.mean(0)) / (h.var(0, unbiased=False) + 1e-5).sqrt() * gamma + beta
            h = h.relu() if i < layers - 1 else h
        pooled = torch.zeros(batch.num_graphs, h.shape[1], dtype=torch.float64).index_add(0, owner, h)
        hidden = (pooled @ leaves["head.0.weight"].t() + leaves["head.0.bias"]).relu()
        return hidden @ leaves["head.2.weight"].t() + leaves["head.2.bias"]

    def loss(self, *views):
        z, z_view = (torch.nn.functional.normalize(self.z(view)) for view in views)
        likeness = z @ z_view.t() / self.method.config.temperature
        negatives = likeness.masked_fill(torch.eye(len(z), dtype=torch.bool), -torch.inf)
        return (negatives.logsumexp(1) - likeness.diagonal()).mean()


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("setting", SETTINGS, ids=" ".join)
def test_one_update_is_that_of_the_plain_step(store, setting):
    """From the same state, with the same noise: the same metrics, gradients (as first moments), statistics, buffers."""
    name, *overrides = setting
    store = STORES[store]
    batch = store.batch(np.arange(len(store)))
    # A small step: JOAO measures after it, and Adam would make full steps of rounding errors.
    overrides = [*listed(overrides), "method.lr=1e-7"]
    plain, fast = (build(store, *overrides, name=name) for _ in range(2))
    generators = [torch.Generator().manual_seed(9) for _ in range(2)]
    ours, theirs = compiled_step(fast)(batch, generators[0]), plain.step(batch, generators[1])
    assert torch.equal(generators[0].get_state(), generators[1].get_state())
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        torch.testing.assert_close(ours[key], value, rtol=1e-4, atol=2e-5, msg=key)
    names = [key for key, _ in fast.named_parameters()]
    states = [method.optimizers["encoder"].state_dict()["state"] for method in (fast, plain)]
    for key, mine, other in zip(names, *(state.values() for state in states), strict=True):
        assert mine["step"] == other["step"] == 1
        scale = float(other["exp_avg"].abs().max())
        torch.testing.assert_close(mine["exp_avg"], other["exp_avg"], rtol=5e-3, atol=2e-3 * scale + 1e-7, msg=key)
    before = build(store, *overrides, name=name).state_dict()
    after = plain.state_dict()
    for key, value in fast.state_dict().items():
        # What autograd leaves alone stays as it was; what it moves, moves.
        assert torch.equal(value, before[key]) == torch.equal(after[key], before[key]), key
    for key, buffer in fast.named_buffers():
        torch.testing.assert_close(buffer, dict(plain.named_buffers())[key], rtol=1e-3, atol=1e-4, msg=key)


@pytest.mark.parametrize("name", [name for name in FIXED if name != "identity"])
@pytest.mark.parametrize("tied", [False, True])
def test_gradients_are_those_of_64_bit_autograd(name, tied):
    """Every augmentation alone: the encoder, its mask and the head."""
    batch = LARGE.batch(np.arange(len(LARGE)))
    method = build(LARGE, f"method.pool={[name]}", name="graphcl")
    augmentation = FIXED[name](RandomConfig(ratio=0.4, subgraph_ratio=0.5, tied=tied))
    view = augmentation(batch, torch.Generator().manual_seed(2)).view
    step, slow = CompiledGraphCL(method), SlowContrast(method, batch)
    with torch.no_grad():
        step.see(batch, View(), view)
        loss = step.learner.loss(0, 0)
        step.learner.backward()
    expected = slow.loss(View(), view)
    expected.backward()
    torch.testing.assert_close(loss.double(), expected, rtol=1e-5, atol=1e-6)
    players = [step.learner.layers, *step.learner.heads, step.learner.mask]
    found = {p: player.gradient_of(p) for player in players for p in player.parameters}
    for key, parameter in method.named_parameters():
        exact = slow.leaves[key].grad
        exact = torch.zeros_like(slow.leaves[key]) if exact is None else exact
        error = (found[parameter].double() - exact).abs().max() / exact.abs().max().clamp(min=1e-6)
        assert error < 1e-3, (key, float(error))


def test_one_node_that_is_left_is_normalised_by_running_statistics():
    """Two graphs whose View keeps one node in all: as in the plain step."""
    store = LABELLED.select(np.argsort(LABELLED.node_counts)[-2:])
    batch = store.batch(np.arange(2))
    method = build(store, name="graphcl")
    step = CompiledGraphCL(method)
    keep = torch.zeros(batch.num_nodes)
    keep[0] = 1.0
    seen = see(batch, View(node_keep=keep), method.encoder.inputs)
    assert seen.places.count == 1
    before = {key: value.clone() for key, value in method.named_buffers()}
    step.learner.see(seen, 1)
    for key, value in method.named_buffers():
        assert torch.equal(value, before[key])


@pytest.mark.parametrize("name", ["graphcl", "joao", "joaov2"])
def test_odd_batches_stay_finite(name):
    smallest = np.argsort(PLAIN.node_counts)
    for ids in (smallest[:1], smallest[:2], np.array([1, smallest[0]])):
        step = compiled_step(build(PLAIN, name=name))
        for seed in range(3):
            metrics = step(PLAIN.batch(ids), torch.Generator().manual_seed(seed))
            assert all(torch.isfinite(value) for value in metrics.values())
        assert all(torch.isfinite(p).all() for p in step.method.parameters())


@pytest.mark.parametrize("name", ["graphcl", "joao", "joaov2"])
def test_resume_is_exact(name, tmp_path):
    def run(folder, epochs, resume=False):
        run = settled(name=name, batch_size=8, epochs=epochs, step="compiled")
        Trainer(run, LABELLED, folder=RunFolder(tmp_path / folder), resume=resume).fit()

    run("whole", 3)
    run("parts", 1)
    run("parts", 3, resume=True)
    files = [RunFolder(tmp_path / folder).checkpoint for folder in ("whole", "parts")]
    assert files[0].read_bytes() == files[1].read_bytes()
