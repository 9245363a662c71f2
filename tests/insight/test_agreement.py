"""Agreement of rankings: Kendall's tau of each graph, put together."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.insight.agreement import mean_agreement, pairs_in_order
from adgcl.insight.bonds import find_bonds
from tests.graph_cases import random_store

BONDS = find_bonds(random_store(30, seed=1))


def slow(one: np.ndarray, other: np.ndarray) -> float:
    scores = []
    for i in range(len(BONDS)):
        for j in range(i):
            if BONDS.graph[i] == BONDS.graph[j]:
                scores.append((1 + np.sign(one[i] - one[j]) * np.sign(other[i] - other[j])) / 2)
    return float(np.mean(scores))


def test_pairs_are_those_of_the_same_graph() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 4, len(BONDS)).astype(float), rng.random(len(BONDS))
    assert pairs_in_order(BONDS, one, other) == pytest.approx(slow(one, other))
    assert pairs_in_order(BONDS, other, 3 * other + 1) == 1.0 and pairs_in_order(BONDS, other, -other) == 0.0


def test_a_constant_agrees_at_chance() -> None:
    values = np.random.default_rng(0).random(len(BONDS))
    assert pairs_in_order(BONDS, values, np.zeros(len(BONDS))) == 0.5


def test_several_rankings() -> None:
    a, b, c = np.random.default_rng(0).random((3, len(BONDS)))
    expected = np.mean([slow(a, b), slow(a, c), slow(b, c)])
    assert mean_agreement(BONDS, [a, b, c]) == pytest.approx(expected)
    assert np.isnan(mean_agreement(BONDS, [a]))
