"""Theorem 1: the identity, the counterexample, labels and what other principles choose."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from adgcl.theory.any_channel import best_of_all
from adgcl.theory.bottleneck import bottleneck_curve, forgetful_encoder, infomin
from adgcl.theory.information import bits, conditional_information, entropy, mutual_information
from adgcl.theory.labels import TITLES, Labelled
from adgcl.theory.statements import EXACT, check_statements, counterexample, tied_pairs
from adgcl.theory.uniform import uniform_law
from adgcl.theory.universe import whole_universe

FIVE, SIX = whole_universe(5), whole_universe(6)


def random_law(universe, seed: int):
    law = np.where(universe.reachable, np.random.default_rng(seed).gamma(0.3, size=universe.reachable.shape), 0.0)
    law += 1e-9 * universe.reachable
    return law / law.sum(axis=1, keepdims=True)


def test_information_of_known_joints():
    assert mutual_information(np.eye(4) / 4) == pytest.approx(np.log(4))
    assert mutual_information(np.full((3, 5), 1 / 15)) == pytest.approx(0)
    noisy = np.array([[0.45, 0.05], [0.05, 0.45]])
    assert bits(mutual_information(noisy)) == pytest.approx(1 - entropy(np.array([0.1, 0.9])) / np.log(2))
    assert conditional_information(np.stack([np.eye(2), np.full((2, 2), 0.5)]) / 4) == pytest.approx(np.log(2) / 2)


@pytest.mark.parametrize("name", TITLES)
def test_with_classes_statement_1_is_the_chain_rule(name):
    labelled = Labelled.named(SIX, name)
    for law in (random_law(SIX, 1), uniform_law(SIX, 0.6), best_of_all(SIX, 5.0).law):
        joint = labelled.of_classes(law)
        whole, label = mutual_information(joint.sum(axis=0)), mutual_information(joint.sum(axis=1))
        assert conditional_information(joint) == pytest.approx(whole - label, abs=EXACT)
        checked = check_statements(labelled, law)
        assert checked["identity"] and checked["second_holds"]


@pytest.mark.parametrize("name", TITLES)
def test_without_confused_graphs_the_printed_form_holds(name):
    checked = check_statements(Labelled.named(FIVE, name), random_law(FIVE, 2))
    assert checked["printed_holds"] and checked["second_step_holds"] and checked["averaging_step_holds"]
    assert checked["printed_given_label_bits"] == pytest.approx(checked["given_label_bits"], abs=1e-9)


def test_with_confused_graphs_the_printed_form_fails():
    checked = check_statements(Labelled.named(SIX, "coin"), best_of_all(SIX, 5.0).law)
    assert checked["identity"] and not checked["printed_holds"]


def test_drawing_given_the_class_can_say_more_about_the_label():
    """The second step of the proof, which the data processing inequality does not give."""
    checked = check_statements(Labelled.named(SIX, "random"), best_of_all(SIX, 5.0).law)
    assert checked["second_holds"] and not checked["averaging_step_holds"]
    assert checked["label_bits"] > checked["drawn_label_bits"] + 1e-4


@pytest.mark.parametrize("keep", [0.9, 0.5, 0.2])
def test_the_counterexample_is_that_of_a_loop_over_subsets(keep):
    """The hexagon and two triangles, with NetworkX's colour refinement."""
    laws = []
    for graph in (nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))):
        law: Counter[str] = Counter()
        for kept in range(7):
            for edges in combinations(graph.edges, kept):
                part = nx.empty_graph(6)
                part.add_edges_from(edges)
                law[nx.weisfeiler_lehman_graph_hash(part, iterations=6)] += keep**kept * (1 - keep) ** (6 - kept)
        laws.append(law)
    joint = np.array([[law[name] / 2 for name in {**laws[0], **laws[1]}] for law in laws])
    found = counterexample(keep)
    assert found["printed_given_label_bits"] == pytest.approx(bits(mutual_information(joint)), abs=1e-12)
    assert found["bound_bits"] == pytest.approx(0, abs=1e-12) and found["identity"] and not found["printed_holds"]
    shape = counterexample(keep, "triangle")
    assert shape["encoder_bits"] == pytest.approx(0, abs=1e-12) and shape["second_holds"]
    assert shape["drawn_label_bits"] == pytest.approx(bits(mutual_information(joint)))
    assert not shape["second_step_holds"]


def test_nothing_fails_if_nothing_or_everything_is_dropped():
    assert counterexample(1.0)["printed_holds"] and counterexample(0.0)["printed_holds"]


def test_every_confused_pair_is_told_apart_by_one_dropped_edge():
    pairs = tied_pairs(SIX)
    assert len(pairs) == 4 and all(pair["first_drop"] == 1 for pair in pairs)
    first, second = pairs[0]["graphs"]
    law = uniform_law(SIX, 0.8)
    assert pairs[0]["distance"] == pytest.approx(np.abs(law[first] - law[second]).sum() / 2)


def test_labels_are_what_they_say():
    joint = {name: Labelled.named(FIVE, name).joint for name in TITLES}
    assert joint["connected"][1].sum() * 34 == pytest.approx(21)  # connected graphs of five nodes
    assert joint["triangle"][0].sum() * 34 == pytest.approx(14)  # triangle-free graphs of five nodes
    np.testing.assert_allclose(joint["coin"], 1 / 68)
    for i in range(34):
        degree = max(d for _, d in FIVE.graph(i).degree)
        assert (joint["degree"][1, i] > 0) == (degree >= 3)


def test_the_bottleneck_of_a_function_of_the_class_is_a_line():
    labelled = Labelled.named(FIVE, "triangle")
    whole = bits(labelled.entropy)
    np.testing.assert_allclose(bottleneck_curve(labelled), [(0, 0), (whole, whole)])


def test_the_bottleneck_is_concave_and_above_every_augmentation():
    labelled = Labelled.named(SIX, "triangle")
    curve = np.array(bottleneck_curve(labelled))
    assert (np.diff(np.diff(curve[:, 1]) / np.diff(curve[:, 0])) <= 1e-9).all()
    assert curve[-1, 1] == pytest.approx(bits(labelled.encoder_information))
    assert labelled.encoder_information < labelled.entropy
    for seed in range(5):
        joint = labelled.of_classes(random_law(SIX, seed))
        known, label = bits(mutual_information(joint.sum(axis=0))), bits(mutual_information(joint.sum(axis=1)))
        assert label <= np.interp(known, curve[:, 0], curve[:, 1]) + 1e-9


@pytest.mark.parametrize("name", ["triangle", "connected", "degree", "random"])
def test_infomin_keeps_the_label_and_nothing_else(name):
    labelled = Labelled.named(SIX, name)
    found = infomin(labelled)
    assert found["label_bits"] == pytest.approx(bits(labelled.entropy)) and found["given_label_bits"] < 1e-9


def test_infomin_sends_graphs_with_a_triangle_to_a_triangle():
    found = infomin(Labelled.named(FIVE, "triangle"))
    edges, triangle = FIVE.edges, Labelled.named(FIVE, "triangle").joint[1] > 0
    left = np.where(triangle, 3, 0)
    drop = np.where(edges > 0, (edges - left) / np.maximum(edges, 1), 0)
    assert found["drop_ratio"] == pytest.approx(drop.mean())
    assert infomin(Labelled.named(FIVE, "coin")) is None


def test_an_encoder_can_keep_all_but_the_label():
    labelled = Labelled.named(FIVE, "triangle")
    found = forgetful_encoder(labelled)
    assert found["label_bits"] == pytest.approx(0, abs=1e-9)
    assert found["all_bits"] == pytest.approx(np.log2(34))
    assert found["information_bits"] == pytest.approx(np.log2(34) - bits(labelled.entropy), abs=1e-9)


def test_the_pairs_of_that_encoder_are_those_of_a_loop():
    """Labels that are no function of the class too, for which the pair may name the class twice."""
    labelled = Labelled.named(SIX, "triangle")
    joint = labelled.by_class
    table: dict[tuple[int, int], np.ndarray] = {}
    for own in range(SIX.num_classes):
        for other in range(SIX.num_classes):
            for pair, p in (
                ((own, other), joint[0, own] * joint[1, other] / joint[1].sum()),
                ((other, own), joint[1, own] * joint[0, other] / joint[0].sum()),
            ):
                if p > 0:
                    table.setdefault(pair, np.zeros(2))[int(own != pair[0])] += p
    posterior = np.array(list(table.values()))
    left_open = entropy(posterior) - entropy(posterior.sum(axis=1))
    found = forgetful_encoder(labelled)
    assert found["information_bits"] == pytest.approx(found["all_bits"] - bits(left_open), abs=1e-9)
