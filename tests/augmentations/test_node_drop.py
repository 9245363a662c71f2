"""The learnable node dropper."""

from __future__ import annotations

import torch

from adgcl.augmentations.node_drop import one_left
from tests.augmentation_cases import BATCH, augmenter, generator, pushed, slow_mean


def test_weights_and_regulariser_follow_their_formulas():
    model = augmenter("node_drop", temperature=0.5)
    view, ratio = model(BATCH, generator(4))
    h = model.encoder(BATCH).node_emb
    logits = (torch.relu(h @ model.first.weight.t() + model.first.bias) @ model.score.weight.t())[:, 0]
    uniform = torch.rand(BATCH.num_nodes, generator=generator(4)) * (1 - 2e-4) + 1e-4
    expected = torch.sigmoid((logits + torch.log(uniform) - torch.log(1 - uniform)) / 0.5)
    torch.testing.assert_close(view.node_keep, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ratio, slow_mean(1 - view.node_keep, BATCH.batch, BATCH.num_graphs))
    assert view.edge_keep is None and view.feature_keep is None and view.added is None


def test_high_logits_keep_everything_and_low_ones_nothing():
    model = augmenter("node_drop")
    assert pushed(model, 20.0)(BATCH, generator()).drop_ratio.item() < 1e-3
    assert pushed(model, -20.0)(BATCH, generator()).drop_ratio.item() > 0.999


def test_hard_weights_leave_a_node_in_every_graph():
    view, ratio = pushed(augmenter("node_drop", hard=True), -20.0)(BATCH, generator())
    left = torch.zeros(BATCH.num_graphs).index_add(0, BATCH.batch, view.node_keep.detach())
    torch.testing.assert_close(left, torch.ones(BATCH.num_graphs))
    ratio.backward()


def test_only_graphs_without_a_node_get_one_back():
    keep = torch.zeros(BATCH.num_nodes)
    first = BATCH.node_ptr[:-1]
    keep[first[1:]] = 1.0
    scores = torch.arange(BATCH.num_nodes).float()
    expected = keep.clone()
    expected[BATCH.node_ptr[1] - 1] = 1.0
    torch.testing.assert_close(one_left(keep, scores, BATCH), expected)
