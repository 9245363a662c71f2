"""Trained augmenters: members of the paper's family, assessed exactly."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.theory.any_channel import best_of_all
from adgcl.theory.independent import edge_family
from adgcl.theory.information import NATS_PER_BIT
from adgcl.theory.trained import CHOOSERS, PATIENCE, WARM_UP, PatientADGCL, orbit_of_edges, train
from adgcl.theory.universe import whole_universe

FOUR = whole_universe(4)
FAMILY = edge_family(FOUR)


def test_each_edge_belongs_to_its_orbit():
    batch = FOUR.store().batch(np.arange(len(FOUR)))
    orbit = orbit_of_edges(FAMILY, batch)
    np.testing.assert_array_equal(np.bincount(orbit), 2 * FAMILY.size)
    np.testing.assert_array_equal(FAMILY.graph[orbit], batch.batch[batch.target].numpy())
    np.testing.assert_array_equal(orbit, orbit[batch.reverse.numpy()])


@pytest.mark.parametrize("chooser", CHOOSERS)
def test_a_trained_augmenter_is_above_the_limit(chooser):
    point = train(FAMILY, 2.0, chooser, steps=10)
    assert 0 < point.drop_ratio < 1
    for lam in (0.5, 1.0, 2.0, 4.0, 8.0):
        assert NATS_PER_BIT * point.information_bits + lam * point.drop_ratio > best_of_all(FOUR, lam).lower
    # InfoNCE with the positive pair in its denominator cannot exceed the logarithm of the batch.
    assert point.bound_bits <= np.log2(len(FOUR))


def test_training_repeats():
    assert train(FAMILY, 2.0, steps=3) == train(FAMILY, 2.0, steps=3)
    assert train(FAMILY, 2.0, steps=3) != train(FAMILY, 2.0, steps=3, seed=1)


def test_free_logits_reach_every_edge_and_start_alike():
    point = train(FAMILY, 5.0, "free", steps=0)
    keep = torch.sigmoid(torch.tensor(1.0)).item()
    assert point.drop_ratio == pytest.approx((1 - keep) * 10 / 11, abs=1e-6)


def test_the_patient_encoder_learns_first_and_more_often(monkeypatch):
    calls: list[str] = []
    for player in ("augmenter", "encoder"):
        plain = getattr(PatientADGCL, f"_{player}_step")
        monkeypatch.setattr(
            PatientADGCL,
            f"_{player}_step",
            lambda self, batch, noise, p=player, f=plain: (calls.append(p), f(self, batch, noise))[1],
        )
    train(FAMILY, 2.0, "free", steps=2)
    turn = ["augmenter", *["encoder"] * PATIENCE]
    assert calls == ["encoder"] * WARM_UP + 2 * turn
