"""The learnable feature masker."""

from __future__ import annotations

import torch

from adgcl.encoders.base import EncoderConfig, make_encoder
from tests.augmentation_cases import BATCH, STORE, augmenter, generator, pushed, slow_mean


def test_weights_and_regulariser_follow_their_formulas():
    model = augmenter("feature_mask", temperature=2.0)
    view, ratio = model(BATCH, generator(4))
    logits = model.node_logits(model.encoder(BATCH).node_emb)
    uniform = torch.rand(BATCH.num_nodes, generator=generator(4)) * (1 - 2e-4) + 1e-4
    expected = torch.sigmoid((logits + torch.log(uniform) - torch.log(1 - uniform)) / 2.0)
    torch.testing.assert_close(view.feature_keep, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ratio, slow_mean(1 - view.feature_keep, BATCH.batch, BATCH.num_graphs))
    assert view.edge_keep is None and view.node_keep is None and view.added is None


def test_masked_nodes_all_look_alike_and_the_mask_learns():
    view = pushed(augmenter("feature_mask", hard=True), -20.0)(BATCH, generator()).view
    encoder = make_encoder(EncoderConfig(hidden_dim=8, num_layers=2), STORE.spec)
    rows = encoder.inputs(BATCH, view.feature_keep)
    torch.testing.assert_close(rows, encoder.inputs.mask.expand_as(rows), rtol=0, atol=1e-6)
    encoder(BATCH, view).graph_emb.pow(2).sum().backward()
    assert encoder.inputs.mask.grad.abs().sum() > 0
