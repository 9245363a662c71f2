"""The three optima against closed forms, limits, general solvers and each other."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import minimize

from adgcl.theory.any_channel import TOLERANCE_BITS, best_of_all
from adgcl.theory.independent import best_independent, edge_family, make_starts
from adgcl.theory.information import bits, entropy
from adgcl.theory.optimum import assess
from adgcl.theory.ties import find_ties
from adgcl.theory.uniform import best_uniform, uniform_law
from adgcl.theory.universe import universe_of, whole_universe

LAMBDAS = (0.1, 1.0, 5.0, 20.0)
FOUR = whole_universe(4)
# The hexagon and two triangles share a class, and each can become a graph that the other cannot.
TIED = universe_of(
    [nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)), nx.path_graph(6), nx.star_graph(5)]
)


@pytest.mark.parametrize("lam", [0.3, 0.8, 1.0, 2.0, 5.0])
def test_an_edge_or_none(lam):
    """Two graphs of two nodes: the edge is dropped with probability 1 / (e^lambda - 1), always below lambda = log 2."""
    universe = universe_of([nx.empty_graph(2), nx.path_graph(2)])
    drop = min(1.0, 1 / np.expm1(lam))
    kept = (1 - drop) / 2
    information = entropy(np.array([kept, 1 - kept])) - entropy(np.array([drop, 1 - drop])) / 2
    family = edge_family(universe)
    best = best_of_all(universe, lam)
    independent, _ = best_independent(family, lam, make_starts(family, [best.law], 4))
    for found in (best, independent, best_uniform(universe, lam)):
        assert found.drop_ratio == pytest.approx(drop / 2, abs=2e-5)
        assert found.information == pytest.approx(information, abs=2e-5)


def test_dropping_is_free_or_forbidden_in_the_limits():
    free, dear = best_of_all(FOUR, 0.0), best_of_all(FOUR, 200.0)
    assert free.information == pytest.approx(0.0, abs=1e-6)
    assert dear.drop_ratio == pytest.approx(0.0, abs=1e-9) and bits(dear.information) == pytest.approx(np.log2(11))
    uniform = best_uniform(FOUR, 0.01)
    assert uniform.drop_ratio == pytest.approx(10 / 11, abs=1e-3) and uniform.information == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("universe", [whole_universe(3), FOUR, TIED], ids=["three", "four", "tied"])
@pytest.mark.parametrize("lam", [0.5, 3.0])
def test_a_general_solver_finds_nothing_better(universe, lam):
    """Minimise over all laws directly: a convex problem, with a softmax for each graph."""
    shape = universe.reachable.shape

    def objective(logits: np.ndarray) -> float:
        law = np.where(universe.reachable, np.exp(logits.reshape(shape)), 0.0)
        return assess(universe, law / law.sum(axis=1, keepdims=True), lam).objective

    best = best_of_all(universe, lam)
    busy = universe.reachable & (best.law > 1e-3)
    start = np.where(busy, 0.0, -30.0).ravel()

    def among_busy(values: np.ndarray) -> float:
        logits = start.copy()
        logits[busy.ravel()] = values
        return objective(logits)

    found = minimize(among_busy, np.zeros(busy.sum()), method="BFGS", options={"maxiter": 400})
    assert best.objective <= found.fun + 1e-6
    assert found.fun >= best.lower - 1e-12, "no law goes below the certificate, not even by a hair"
    assert found.fun == pytest.approx(best.objective, abs=2e-3)


@pytest.mark.parametrize("lam", LAMBDAS)
def test_the_certificate_is_tight_and_no_law_goes_below_it(lam):
    for universe in (FOUR, TIED):
        best = best_of_all(universe, lam)
        assert best.objective >= best.lower - 1e-12
        assert best.to_json()["gap_bits"] < TOLERANCE_BITS
        np.testing.assert_allclose(best.law.sum(axis=1), 1)
        assert not best.law[~universe.reachable].any()
        rng = np.random.default_rng(0)
        for _ in range(20):
            law = np.where(universe.reachable, rng.gamma(0.2, size=best.law.shape) + 1e-12, 0.0)
            assert assess(universe, law / law.sum(axis=1, keepdims=True), lam).objective >= best.lower


def test_graphs_of_one_class_only_become_their_own_subgraphs():
    """Without that limit the hexagon's class could become a path as often as it likes."""
    tie = find_ties(TIED)[0]
    assert tie.graphs.tolist() == [0, 1]
    only_first, only_second = tie.able == 1, tie.able == 2
    assert only_first.any() and only_second.any()
    rng = np.random.default_rng(1)
    for _ in range(50):
        mass = np.where(tie.able > 0, rng.gamma(0.1, size=len(tie.able)) + 1e-9, 0.0)
        law = tie.divided(mass, np.array([0.5, 0.5]))
        np.testing.assert_allclose(law.sum(axis=1), 1, atol=1e-9)
        assert not law[0, only_second].any() and not law[1, only_first].any()
        np.testing.assert_allclose(law.mean(axis=0), tie.factors(mass) * mass, atol=1e-9)


@pytest.mark.parametrize("lam", LAMBDAS)
def test_families_are_nested(lam):
    best, uniform = best_of_all(FOUR, lam), best_uniform(FOUR, lam)
    family = edge_family(FOUR)
    independent, _ = best_independent(family, lam, make_starts(family, [best.law, uniform.law], 4))
    assert best.objective <= independent.objective + 1e-6 <= uniform.objective + 2e-6


def test_uniform_is_the_best_of_a_fine_grid():
    grid = [assess(FOUR, uniform_law(FOUR, keep), 3.0).objective for keep in np.linspace(0, 1, 2001)]
    best = best_uniform(FOUR, 3.0).objective
    assert min(grid) - 1e-5 <= best <= min(grid) + 1e-12


def test_the_family_is_that_of_a_loop_over_subsets():
    universe = whole_universe(4)
    family = edge_family(universe)
    keep = np.random.default_rng(2).uniform(size=family.num_orbits)
    law, first = np.zeros((len(universe), universe.num_targets)), 0
    for row in range(len(universe)):
        orbit, targets = universe.shapes.orbits(row), universe.target_of[universe.subgraphs(row)]
        p = keep[first + orbit] if len(orbit) else np.zeros(0)
        for subset, chosen in enumerate(product((0, 1), repeat=len(orbit))):
            kept = np.array(chosen[::-1], dtype=bool)
            law[row, targets[subset]] += np.prod(np.where(kept, p, 1 - p))
        first += len(set(orbit.tolist()))
    np.testing.assert_allclose(family.law(np.log(keep / (1 - keep))), law, atol=1e-12)


def test_the_gradient_is_that_of_differences():
    for universe in (FOUR, TIED):
        family = edge_family(universe)
        logits = np.random.default_rng(3).normal(size=family.num_orbits)
        value, gradient = family.objective(logits, 2.0)
        assert value == pytest.approx(assess(universe, family.law(logits), 2.0).objective, abs=1e-12)
        for i in range(family.num_orbits):
            step = np.zeros_like(logits)
            step[i] = 1e-5
            slope = (family.objective(logits + step, 2.0)[0] - family.objective(logits - step, 2.0)[0]) / 2e-5
            assert gradient[i] == pytest.approx(slope, abs=1e-7)


def test_equal_logits_are_uniform_dropping():
    family = edge_family(FOUR)
    law = family.law(np.full(family.num_orbits, np.log(0.7 / 0.3)))
    np.testing.assert_allclose(law, uniform_law(FOUR, 0.7), atol=1e-12)
    np.testing.assert_allclose(family.imitate(law), np.log(0.7 / 0.3))
