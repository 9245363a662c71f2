"""What every method promises, tested over the registry: a new one is tested without a new test."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.core.errors import DataError
from adgcl.data.dataset import Dataset, Origin
from adgcl.graphs.kernels.precision import EMULATE
from adgcl.methods.base import METHODS
from adgcl.training.checkpoints import Position, load_checkpoint, save_checkpoint
from adgcl.training.embedding import embed_dataset
from adgcl.training.run_config import resolve
from adgcl.training.trainer import Trainer, build_method
from tests.graph_cases import distinct_store, random_store

ENCODERS = {"gin": {}, "gine": {"node_sizes": (4,), "edge_sizes": (3,)}, "resgcn": {"node_sizes": (4,)}}


def settings(name, encoder="gin", **training):
    return resolve(
        {
            "method": name,
            "encoder": {"name": encoder, "hidden_dim": 8, "num_layers": 2},
            "training": {"epochs": 2, "batch_size": 5, "device": "cpu", **training},
        }
    )


@pytest.fixture(params=[(m, e) for m in METHODS for e in ENCODERS], ids=lambda p: "-".join(p))
def case(request):
    name, encoder = request.param
    return name, encoder, random_store(num_graphs=14, seed=4, **features(name, encoder))


def features(name, encoder):
    """What the graphs carry that a method is tried on: as little as it gets by with, or what the encoder is for."""
    needed = {"node_sizes": (4,)} if METHODS[name].needs_categories else {}
    return {**needed, **ENCODERS[encoder]}


def weights(method):
    return {name: p.detach().clone() for name, p in method.named_parameters()}


def embed(method, store):
    """The embeddings of a store's graphs; each has a SMILES, for methods that read nothing else."""
    smiles = ["C" * (i + 1) for i in range(len(store))]
    return embed_dataset(method, Dataset("toy", store, Origin("own"), smiles=smiles))


def test_same_seed_same_numbers_other_seed_other_numbers(case):
    name, encoder, store = case
    first, again, other = (embed(Trainer(settings(name, encoder, seed=seed), store).fit(), store) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert np.allclose(first, other) == METHODS[name].deterministic


def test_what_a_method_does_not_apply_to_is_refused(case):
    name, encoder, store = case
    bare = Dataset("toy", store, Origin("own"))
    if METHODS[name].computed_labels:
        with pytest.raises(DataError, match="toy has no descriptors"):
            METHODS[name].check_training(bare)
    if not METHODS[name].needs_smiles:
        METHODS[name].check_data(bare)
        return
    method = build_method(settings(name, encoder), store.spec, store.task)
    for refuses in (METHODS[name].check_data, method.embed_dataset):
        with pytest.raises(DataError, match="toy has no SMILES"):
            refuses(bare)
    with pytest.raises(DataError, match="SMILES"):
        method.embed(store.batch([0]))


def test_nodes_without_categories_are_refused_by_who_predicts_them(case):
    name, encoder, _ = case
    bare = random_store(num_graphs=3, num_dim=2)
    if METHODS[name].needs_categories:
        with pytest.raises(DataError, match="these nodes have none") as caught:
            build_method(settings(name, encoder), bare.spec, bare.task)
        assert "data.features=degrees" in caught.value.hint
    else:
        build_method(settings(name, encoder), bare.spec, bare.task)


def test_a_step_trains_exactly_what_the_optimisers_hold(case):
    name, encoder, store = case
    method = build_method(settings(name, encoder), store.spec, store.task)
    before = weights(method)
    batch = store.batch(np.arange(14))
    for seed in range(3):
        method.step(batch, torch.Generator().manual_seed(seed))
    held = {id(p) for o in method.optimizers.values() for g in o.param_groups for p in g["params"]}
    idle = ("mask", "constant")  # used by feature masking only, and by nodes without features
    # ResGCN: what follows its readout, where only node rows are used; slopes below 0, as its rows have no such numbers.
    unused = ("graph_norm", "graph_map", "last_norm", "activation") if encoder == "resgcn" else ()
    for key, parameter in method.named_parameters():
        moved = not torch.equal(before[key], parameter.detach())
        assert not moved or id(parameter) in held, key
        used = not key.endswith(idle) and not any(part in key for part in unused)
        if id(parameter) in held and used:
            assert moved, f"{key} never moved"


def test_metrics_are_finite_numbers_without_gradient(case):
    name, encoder, store = case
    method = build_method(settings(name, encoder), store.spec, store.task)
    for key, value in method.step(store.batch(np.arange(14)), torch.Generator()).items():
        assert torch.isfinite(value), key
        assert not value.requires_grad, key


@pytest.mark.parametrize("ids", [[1], [0], [1, 1], [0, 1]], ids=["edgeless", "one", "two-edgeless", "mixed"])
def test_awkward_batches_train_and_embed(case, ids):
    name, encoder, store = case
    method = build_method(settings(name, encoder), store.spec, store.task)
    batch = store.batch(ids)
    for value in method.step(batch, torch.Generator()).values():
        assert torch.isfinite(value)
    rows = embed(method, store.select(ids))
    assert rows.shape == (len(ids), method.width) and np.isfinite(rows).all()


def test_learning_lowers_the_loss_on_eight_graphs(case):
    name, encoder, _ = case
    store = distinct_store(**features(name, encoder))
    method = build_method(settings(name, encoder), store.spec, store.task)
    if not method.optimizers:
        pytest.skip("does not learn")
    batch, generator = store.batch(np.arange(8)), torch.Generator().manual_seed(0)
    losses = [float(method.step(batch, generator)["loss"]) for _ in range(250)]
    # An adversary may win the loss back at any time, so the lowest stretch counts, not the last.
    smooth = np.convolve(losses, np.full(10, 0.1), "valid")
    assert smooth.min() < smooth[0] - 0.2


def test_checkpoint_round_trip(case, tmp_path):
    name, encoder, store = case
    config = settings(name, encoder)
    method = build_method(config, store.spec, store.task)
    batch, path = store.batch(np.arange(14)), tmp_path / "c.safetensors"
    method.step(batch, torch.Generator().manual_seed(0))
    save_checkpoint(path, method, config, Position(1), {"noise": torch.Generator().get_state()}, {})
    loaded = load_checkpoint(path).make_method()
    np.testing.assert_array_equal(embed(loaded, store), embed(method, store))
    # The optimisers came back too: one more step keeps the twins equal.
    for twin in (method, loaded):
        twin.step(batch, torch.Generator().manual_seed(1))
    torch.testing.assert_close(weights(loaded), weights(method), rtol=0, atol=0)


def test_bfloat16_stays_close_to_float32(case, monkeypatch):
    monkeypatch.setenv(EMULATE, "1")
    name, encoder, store = case
    exact, rough = (
        Trainer(settings(name, encoder, precision=p, epochs=1), store).fit() for p in ("float32", "bfloat16")
    )
    a, b = embed(exact, store), embed(rough, store)
    if not exact.optimizers:
        np.testing.assert_allclose(a, b, rtol=0.1, atol=0.1 * np.abs(a).max())
    else:
        assert np.corrcoef(a.ravel(), b.ravel())[0, 1] > 0.98
