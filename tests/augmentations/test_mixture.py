"""Mixtures of learnable augmentations."""

from __future__ import annotations

import pytest
import torch

from adgcl.augmentations.mixture import learnable_names
from adgcl.augmentations.reversal import reversed_gradient
from adgcl.core.errors import ConfigError
from adgcl.graphs.store.view import AddedEdges, View, combined
from adgcl.training.run_config import resolve
from tests.augmentation_cases import BATCH, augmenter, generator

ALL = ("edge_add", "edge_drop", "feature_mask", "node_drop")


def test_learnable_ones_are_found_and_fixed_ones_are_not():
    assert set(learnable_names()) >= set(ALL)
    assert not any(name.startswith("random") for name in learnable_names())


def test_combined_views_multiply_and_stand_side_by_side():
    a, b, c = (torch.rand(5) for _ in range(3))
    ends = torch.arange(5)
    both = combined([View(edge_keep=a, added=AddedEdges(ends, ends, a)), View(node_keep=b)])
    assert both.edge_keep is a and both.node_keep is b and both.added.keep is a and both.feature_keep is None
    more = combined([both, View(b, c, c, AddedEdges(ends + 1, ends, b))])
    torch.testing.assert_close([more.edge_keep, more.node_keep, more.feature_keep], [a * b, b * c, c])
    torch.testing.assert_close(more.added.source, torch.cat((ends, ends + 1)))
    torch.testing.assert_close(more.added.keep, torch.cat((a, b)))


def test_a_mixture_draws_what_its_guests_draw_from_the_common_rows():
    model = augmenter(*ALL)
    assert sum(name.startswith("encoder.") for name, _ in model.named_parameters()) == sum(
        "encoder." in name for name, _ in model.named_parameters()
    )
    rows, noise = model.encoder(BATCH).node_emb, generator(2)
    alone = [guest.draw(rows, BATCH, noise) for guest in model.guests.values()]
    view, ratio = model(BATCH, generator(2))
    torch.testing.assert_close(view.added.keep, alone[0].view.added.keep)
    torch.testing.assert_close(view.edge_keep, alone[1].view.edge_keep)
    torch.testing.assert_close(view.feature_keep, alone[2].view.feature_keep)
    torch.testing.assert_close(view.node_keep, alone[3].view.node_keep)
    torch.testing.assert_close(ratio, sum(part.drop_ratio for part in alone))


def test_reversal_turns_every_gradient_and_no_value():
    model = augmenter(*ALL)
    view = model(BATCH, generator()).view

    def weights(v):
        return [v.edge_keep, v.node_keep, v.feature_keep, v.added.keep]

    turned = weights(reversed_gradient(view))
    torch.testing.assert_close(turned, weights(view), rtol=0, atol=0)
    parameters = list(model.guests.parameters())
    there = torch.autograd.grad(sum(w.sum() for w in weights(view)), parameters, retain_graph=True)
    back = torch.autograd.grad(sum(w.sum() for w in turned), parameters)
    torch.testing.assert_close(back, [-g for g in there])


def settings(**method):
    return resolve({"method": {"name": "adgcl", **method}}).method


def test_names_are_checked():
    assert settings().augmentations == ("edge_drop",)
    assert settings(augmentations=["node_drop", "edge_drop"]).augmentations == ("node_drop", "edge_drop")
    spoken = resolve({"method": "adgcl"}, ["augmentations=edge_add, node_drop", "reg_weights.node_drop=2"]).method
    assert spoken.augmentations == ("edge_add", "node_drop") and spoken.reg_weights == {"node_drop": 2.0}
    for wrong in ([], ["edge_drop", "edge_drop"], ["edge_dorp"], ["random_edge_drop"]):
        with pytest.raises(ConfigError, match="augmentations"):
            settings(augmentations=wrong)
    with pytest.raises(ConfigError, match="not among"):
        settings(reg_weights={"node_drop": 1.0})
    with pytest.raises(ConfigError, match="reg_weights"):
        settings(reg_weights={"edge_drop": -1.0})
