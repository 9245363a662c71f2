"""JOAO's probabilities: the projection, one update by hand, what training does to them, resume."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.methods.joao import project_on_simplex
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer, build_method
from tests.graph_cases import random_store

STORE = random_store(num_graphs=22, seed=9)
BATCH = STORE.batch(np.arange(10))


def config(name="joao", training=None, **settings):
    return resolve(
        {
            "method": {"name": name, **settings},
            "encoder": {"hidden_dim": 6, "num_layers": 2},
            "training": {"epochs": 2, "batch_size": 4, "device": "cpu", "checkpoint_seconds": 0.0, **(training or {})},
        }
    )


def method(name="joao", **settings):
    return build_method(config(name, **settings), STORE.spec, STORE.task)


def exact_projection(b: np.ndarray) -> np.ndarray:
    """By sorting: the largest k entries stay, with k as large as they allow."""
    down = np.sort(b)[::-1]
    thresholds = (np.cumsum(down) - 1) / np.arange(1, len(b) + 1)
    mu = thresholds[np.nonzero(down > thresholds)[0][-1]]
    return np.maximum(b - mu, 0)


def test_bisection_finds_the_exact_projection():
    rng = np.random.default_rng(0)
    for size in (1, 2, 5, 9):
        for scale in (0.01, 1.0, 50.0):
            b = rng.normal(size=size) * scale
            ours = project_on_simplex(torch.from_numpy(b)).numpy()
            np.testing.assert_allclose(ours, exact_projection(b), atol=1e-9)
    q = torch.tensor([0.1, 0.2, 0.7])
    torch.testing.assert_close(project_on_simplex(q), q)
    torch.testing.assert_close(project_on_simplex(q + 3.0), q)


def test_one_update_by_hand():
    """Losses 1, 1.1, 0.9 and 0.6 from uniform q: `b = q + loss`, and the last falls off the simplex."""
    model = method(pool=["random_node_drop", "random_edge_drop", "random_subgraph", "identity"], gamma=0.1)
    model.loss_sums.copy_(torch.tensor([10.0, 11.0, 9.0, 6.0]))
    model.graphs_seen.fill_(10.0)
    model.end_epoch()
    # b = (1.25, 1.35, 1.15, 0.85) and mu = (1.25 + 1.35 + 1.15 - 1) / 3.
    torch.testing.assert_close(model.q, torch.tensor([1.0, 1.3, 0.7, 0.0]) / 3, rtol=0, atol=1e-6)
    assert not model.loss_sums.any() and not model.graphs_seen.any()
    # From there, the pull towards equal probabilities counts: b = q - gamma * (q - 1/4) + equal losses.
    model.loss_sums.fill_(5.0)
    model.graphs_seen.fill_(10.0)
    before = model.q.double().numpy().copy()
    model.end_epoch()
    np.testing.assert_allclose(model.q.numpy(), exact_projection(before - 0.1 * (before - 0.25)), atol=1e-6)


def test_estimates_are_the_mean_losses_of_every_fifth_step():
    model = method(pool=["random_edge_drop", "identity"])
    expected, graphs = torch.zeros(2), 0
    original = model.note_losses

    def noted(losses, batch):
        nonlocal expected, graphs
        original(losses, batch)
        expected, graphs = expected + torch.stack(losses) * batch.num_graphs, graphs + batch.num_graphs

    model.note_losses = noted
    noise = torch.Generator().manual_seed(0)
    for ids in ([0, 2, 3, 4, 5], [6, 7, 8], [9, 10], [11, 12], [13, 14], [15, 16, 17, 18], [19, 20]):
        model.step(STORE.batch(ids), noise)
    assert graphs == float(model.graphs_seen) == 5 + 4
    torch.testing.assert_close(model.loss_sums, expected)


def test_an_estimate_is_the_loss_of_one_augmentation_alone():
    model = method(pool=["random_feature_mask", "identity"], lr=1e-9)
    model.step(BATCH, torch.Generator().manual_seed(0))
    z = model.head(model.encoder.train()(BATCH).graph_emb)
    same = float(model.contrast(z, z).detach())
    assert float(model.loss_sums[1] / model.graphs_seen) == pytest.approx(same, rel=1e-4)
    assert float(model.loss_sums[0] / model.graphs_seen) > same  # a masked graph is harder to recognise


def test_training_moves_the_probabilities_towards_the_harder_augmentation():
    model = method(pool=["random_edge_drop", "identity"], ratio=0.8, gamma=0.1)
    noise = torch.Generator().manual_seed(0)
    for _ in range(3):
        for _ in range(2):
            shown = model.step(BATCH, noise)
        model.end_epoch()
    assert set(shown) == {"loss", "drop_ratio", "q_edge_drop", "q_identity"}
    assert model.q[0] > 0.6
    assert float(model.q.sum()) == pytest.approx(1.0)
    resting = method(pool=["random_edge_drop", "identity"], step_size=0.0)
    resting.step(BATCH, noise)
    resting.end_epoch()
    torch.testing.assert_close(resting.q, torch.tensor([0.5, 0.5]))


@pytest.mark.parametrize("settings", [{"name": "joao"}, {"name": "joaov2", "head_per": "epoch"}])
def test_resume_in_the_middle_of_an_epoch_is_exact(tmp_path, settings):
    """Stopped inside an epoch and at its end: probabilities, sums and the drawn head come back."""
    whole = Trainer(config(**settings), STORE, folder=RunFolder(tmp_path / "whole"))
    whole.fit()

    class Stop(Exception):
        pass

    def stopping(trainer, steps):
        taken, step = 0, trainer._take_step

        def counted(batch, generator):
            nonlocal taken
            taken += 1
            if taken > steps:
                raise Stop
            return step(batch, generator)

        trainer._take_step = counted
        return trainer

    parts = RunFolder(tmp_path / "parts")
    for steps in (3, 4):
        with pytest.raises(Stop):
            stopping(Trainer(config(**settings), STORE, folder=parts, resume=True), steps).fit()
    Trainer(config(**settings), STORE, folder=parts, resume=True).fit()
    files = [tmp_path / n / "checkpoint.safetensors" for n in ("whole", "parts")]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert not torch.equal(whole.method.q, torch.full((5,), 0.2))


def moved_heads(model, noise):
    before = {k: v.detach().clone() for k, v in model.head.named_parameters()}
    model.step(BATCH, noise)
    return {int(k.split(".")[0]) for k, v in model.head.named_parameters() if not torch.equal(v, before[k])}


def test_an_epoch_trains_the_first_head_and_the_one_it_drew():
    model = method("joaov2", head_per="epoch", step_size=0.0)
    noise, drawn = torch.Generator().manual_seed(1), set()
    for _ in range(8):
        heads = [moved_heads(model, noise) for _ in range(3)]
        head = int(model.drawn_head)
        assert heads == [{0, head}] * 3
        drawn.add(head)
        model.end_epoch()
    assert len(drawn) > 2


def test_a_head_for_each_graph_is_that_of_its_augmentation():
    model = method("joaov2", head_per="graph", pool=["random_edge_drop", "identity"])
    graph_emb, view_emb = torch.randn(6, 6), torch.randn(6, 6)
    choice = torch.tensor([0, 1, 1, 0, 1, 0])
    z_view = torch.stack([model.head[k](row) for k, row in zip(choice.tolist(), view_emb)])
    slow = model.contrast(model.head[1](graph_emb), z_view)
    torch.testing.assert_close(model.choice_loss(graph_emb, view_emb, choice), slow)
    assert moved_heads(model, torch.Generator().manual_seed(0)) == {0, 1}
