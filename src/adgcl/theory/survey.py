"""Everything that docs/theory.md shows, as one tree of numbers."""

from __future__ import annotations

from typing import Any

from adgcl.core.progress import Progress
from adgcl.theory.any_channel import best_of_all
from adgcl.theory.bottleneck import bottleneck_curve, forgetful_encoder, infomin
from adgcl.theory.labels import TITLES, Labelled
from adgcl.theory.statements import check_statements, counterexample, tied_pairs
from adgcl.theory.study import LAMBDAS, Study
from adgcl.theory.trained import PATIENCE, STEPS, WARM_UP
from adgcl.theory.universe import whole_universe

NODES = (4, 5, 6)
# The price at which statements are checked: the paper's own.
LAMBDA = 5.0
_TRAINED = (0.1, 0.3, 1.0, 3.0, 10.0)
_KEEPS = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.1)
_FRAMED = tuple(name for name in TITLES if name != "coin")


def survey(progress: Progress | None = None) -> dict[str, Any]:
    """Curves, trained augmenters, labels, both statements and the graphs that 1-WL confuses."""
    studies = {count: Study(count, progress=progress) for count in NODES}
    smallest, largest = min(NODES), max(NODES)
    return {
        "steps": dict(STEPS),
        "warm_up": WARM_UP,
        "patience": PATIENCE,
        "lambda": LAMBDA,
        "universes": {str(count): _curves(study) for count, study in studies.items()},
        "others": [
            Study(largest, "labelled", progress=progress).solve(LAMBDA),
            Study(smallest, num_colours=2, progress=progress).solve(LAMBDA),
        ],
        "frames": {name: _frame(studies[largest].labels[name]) for name in _FRAMED},
        "statements": {str(count): _statements(count) for count in (*NODES, largest + 1)},
        "counterexample": [{**counterexample(k), "triangle": counterexample(k, "triangle")} for k in _KEEPS],
        "pairs": {str(count): _pairs(count) for count in (largest, largest + 1)},
    }


def _curves(study: Study) -> dict[str, Any]:
    # From high prices to low ones: each optimum is a start for the next.
    points = [study.solve(lam) for lam in reversed(LAMBDAS)]
    return {
        "points": points[::-1],
        "trained": [{"lambda": lam, **study.train(lam)} for lam in _TRAINED],
    }


def _frame(labelled: Labelled) -> dict[str, Any]:
    """What principles that know the label could do with it."""
    return {
        "bottleneck": [list(point) for point in bottleneck_curve(labelled)],
        "infomin": infomin(labelled),
        "forgetful": forgetful_encoder(labelled),
    }


def _statements(nodes: int) -> dict[str, Any]:
    universe = whole_universe(nodes)
    law = best_of_all(universe, LAMBDA).law
    return {name: check_statements(Labelled.named(universe, name), law) for name in TITLES}


def _pairs(nodes: int) -> list[dict[str, Any]]:
    """The pairs that 1-WL confuses, with the edges of both graphs."""
    universe = whole_universe(nodes)
    pairs = tied_pairs(universe)
    for pair in pairs:
        pair["graphs"] = [sorted(map(list, universe.graph(index).edges)) for index in pair["graphs"]]
    return pairs
