"""Dropout: its noise against a slow version of the hash, its statistics, and its gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.encoders.dropout import Dropout, give_generator


def dropout(share: float, seed: int = 0) -> Dropout:
    made = Dropout(share).train()
    give_generator(made, torch.Generator().manual_seed(seed))
    return made


def hashed(seed: int, count: int) -> list[int]:
    """The upper 32 bits of SplitMix64, one after another."""
    found, whole = [], 2**64
    for i in range(1, count + 1):
        z = (seed + i * 0x9E3779B97F4A7C15) % whole
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % whole
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % whole
        found.append((z ^ (z >> 31)) >> 32)
    return found


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_what_is_dropped_is_decided_by_the_hash(share: float) -> None:
    h = torch.randn(7, 13, generator=torch.Generator().manual_seed(1))
    seed = int(torch.empty((), dtype=torch.int64).random_(generator=torch.Generator().manual_seed(0)))
    kept = torch.tensor([bits >= round(share * 2**32) for bits in hashed(seed, h.numel())]).view(h.shape)
    torch.testing.assert_close(dropout(share)(h), torch.where(kept, h / (1 - share), 0.0))


def test_gradient_is_dropped_alike() -> None:
    h = torch.randn(40, 8, requires_grad=True)
    out = dropout(0.5)(h)
    weights = torch.randn(8, 40).t()  # not contiguous
    out.backward(weights)
    torch.testing.assert_close(h.grad, torch.where(out == 0, 0.0, 2 * weights))


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_elements_are_dropped_independently_and_equally_often(share: float) -> None:
    rounds, count = 2000, 200
    made = dropout(share)
    dropped = np.stack([(made(torch.ones(count)) == 0).numpy() for _ in range(rounds)])
    deviation = np.sqrt(share * (1 - share) / rounds)
    assert np.abs(dropped.mean(0) - share).max() < 5 * deviation
    related = np.corrcoef(dropped.T) - np.eye(count)
    assert np.abs(related).max() < 6 / np.sqrt(rounds)


def test_noise_comes_from_the_generator_alone() -> None:
    h = torch.ones(50)
    first, again, other = dropout(0.5, 3), dropout(0.5, 3), dropout(0.5, 4)
    state = torch.get_rng_state()
    calls = [first(h) for _ in range(3)]
    assert all(torch.equal(call, again(h)) for call in calls)
    assert not torch.equal(calls[0], calls[1]) and not torch.equal(calls[0], other(h))
    assert torch.equal(state, torch.get_rng_state())


def test_off_in_evaluation_and_without_a_share() -> None:
    h = torch.randn(5, 5)
    assert dropout(0.5).eval()(h) is h and dropout(0.0)(h) is h


def test_64_bits_take_the_same_share() -> None:
    assert dropout(0.25)(torch.ones(20_000, dtype=torch.float64)).eq(0).double().mean() == pytest.approx(0.25, abs=0.02)
