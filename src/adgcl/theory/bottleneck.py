"""What other principles would choose for the same label: the information bottleneck, InfoMin, and the worst encoder.

All of them need the label. They frame what an augmentation that knows nothing of it can keep or lose.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgcl.theory.information import Floats, Ints, added, bits, conditional_information, entropy, mutual_information
from adgcl.theory.labels import Labelled
from adgcl.theory.optimum import assess
from adgcl.theory.universe import Universe

_BETAS = np.concatenate([np.linspace(1.02, 2.0, 25), np.geomspace(2.0, 200.0, 30)])
_ROUNDS = 500


def bottleneck_curve(labelled: Labelled) -> list[tuple[float, float]]:
    """The most that any representation of `x` bits about the class can know of the label: points `(x, y)` in bits.

    Classes with the same P(Y | G') may be merged without loss (their number is a minimal sufficient statistic), so the
    problem has as many symbols as there are such values: two, unless 1-WL merges graphs with different labels.
    """
    joint = labelled.by_class
    certainty = np.round(joint[1] / joint.sum(axis=0), 12)
    values, symbol = np.unique(certainty, return_inverse=True)
    weight = added(symbol, joint.sum(axis=0))
    given = np.stack([1 - values, values], axis=1)
    points = [(0.0, 0.0), (entropy(weight), mutual_information(weight[:, None] * given))]
    if len(values) > 2:
        points += [_bottleneck(weight, given, float(beta)) for beta in _BETAS]
    return [(bits(x), bits(y)) for x, y in _upper_hull(points)]


def infomin(labelled: Labelled) -> dict[str, Any] | None:
    """The cheapest augmentation that keeps all of the label and nothing else (InfoMin's sweet spot).

    All graphs with one label must become the same thing, which each of them contains, and graphs with another label
    something else. None if the label is not a function of the graph: then nothing but the empty graph is left over.
    """
    universe = labelled.universe
    if (labelled.joint.min(axis=0) > 0).any():
        return None
    label = labelled.joint.argmax(axis=0)
    common = [np.flatnonzero(universe.reachable[label == y].all(axis=0)) for y in (0, 1)]
    choices = [(int(a), int(b)) for a in common[0] for b in common[1] if a != b]
    if not choices:
        return None
    # Common parts have few edges, so there are few choices.
    best = min((assess(universe, _sent(universe, label, pair), 0.0) for pair in choices), key=lambda o: o.drop_ratio)
    drawn = labelled.of_graphs(best.law)
    return {
        "drop_ratio": best.drop_ratio,
        "information_bits": bits(best.information),
        "label_bits": bits(mutual_information(drawn.sum(axis=1))),
        "given_label_bits": bits(conditional_information(drawn)),
    }


def forgetful_encoder(labelled: Labelled) -> dict[str, float]:
    """An encoder that keeps nearly all about the class and nothing at all about the label.

    It sends a class to a pair: one class for each label, its own in its own place and a random one, drawn from the
    classes with the other label, in the other. Given the label the pair reveals the class; alone it says nothing of it.
    """
    joint = labelled.by_class
    marginal = joint.sum(axis=1, keepdims=True)
    given = joint / marginal
    # P(Y, G', other): the place of the other label is filled from its own distribution, whatever G' is.
    first = joint[0][:, None] * given[1]
    second = given[0][:, None] * joint[1]
    # A pair (a, b) comes from class a with label 0, or from class b with label 1.
    pairs = np.stack([first.ravel(), second.ravel()])
    every = entropy(joint.sum(axis=0))
    # Given a pair of two different classes, the class is one of them.
    unsure = ~np.eye(len(first), dtype=bool)
    left_open = entropy(np.stack([first, second])[:, unsure]) - entropy((first + second)[unsure])
    return {
        "information_bits": bits(every - left_open),
        "label_bits": bits(mutual_information(pairs)),
        "all_bits": bits(every),
    }


def _sent(universe: Universe, label: Ints, pair: tuple[int, int]) -> Floats:
    law = np.zeros((len(universe), universe.num_targets))
    law[np.arange(len(universe)), np.array(pair)[label]] = 1.0
    return law


def _bottleneck(weight: Floats, given: Floats, beta: float) -> tuple[float, float]:
    """`I(z; G')` and `I(z; Y)` where `I(z; G') - beta * I(z; Y)` is least, by Tishby's iteration."""
    law = 0.9 * np.eye(len(weight)) + 0.1 / len(weight)
    for _ in range(_ROUNDS):
        marginal = np.maximum(weight @ law, 1e-300)
        label = (weight[:, None] * law).T @ given / marginal[:, None]
        ratio = np.where(given[:, None] > 0, given[:, None] / np.maximum(label, 1e-300), 1.0)
        distance = (given[:, None] * np.log(ratio)).sum(axis=2)
        law = marginal * np.exp(-beta * distance)
        law /= law.sum(axis=1, keepdims=True)
    joint = weight[:, None] * law
    return mutual_information(joint), mutual_information(joint.T @ given)


def _upper_hull(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The concave curve above all points: two representations may be used in turns."""
    hull: list[tuple[float, float]] = []
    for x, y in sorted(points):
        while len(hull) > 1 and _below(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
    return hull


def _below(first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]) -> bool:
    """Whether the middle point lies on or below the line through the others."""
    rise, run = last[1] - first[1], last[0] - first[0]
    return (middle[1] - first[1]) * run <= rise * (middle[0] - first[0])
