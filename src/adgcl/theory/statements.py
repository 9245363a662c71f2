"""Both statements of Theorem 1, in numbers, in the form that holds and in the form that is printed.

Statement 1 bounds what the representation of t knows of the graph beyond the label. With G' on the left it is the chain
rule, an equality. Printed is G, and there it can fail: t(G) may tell graphs of one class apart, which the right side,
written in G', does not count. Statement 2 bounds from below what f(G) knows of the label. It holds for t'(G'), drawn
given the class; its proof goes by way of t(G), and either step of it can fail for the same graphs.
"""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np

from adgcl.theory.information import Floats, bits, conditional_information, mutual_information
from adgcl.theory.labels import Labelled
from adgcl.theory.uniform import uniform_law
from adgcl.theory.universe import Universe, universe_of

# Identities hold to this many nats.
EXACT = 1e-9


def check_statements(labelled: Labelled, law: Floats) -> dict[str, Any]:
    """All sides of both statements in bits, for f as powerful as the 1-WL test; `law` is in the place of T*."""
    classes, graphs = labelled.of_classes(law), labelled.of_graphs(law)
    of_label = mutual_information(classes.sum(axis=1))
    right = mutual_information(classes.sum(axis=0)) - of_label
    left, printed_left = conditional_information(classes), conditional_information(graphs)
    encoder, drawn = labelled.encoder_information, mutual_information(graphs.sum(axis=1))
    return {
        "given_label_bits": bits(left),
        "bound_bits": bits(right),
        "identity": abs(left - right) <= EXACT,
        "printed_given_label_bits": bits(printed_left),
        "printed_holds": printed_left <= right + EXACT,
        "encoder_bits": bits(encoder),
        "label_bits": bits(of_label),
        "second_holds": encoder >= of_label - EXACT,
        "drawn_label_bits": bits(drawn),
        # The two steps of the proof: f(G), then t(G), then t'(G').
        "second_step_holds": encoder >= drawn - EXACT,
        "averaging_step_holds": drawn >= of_label - EXACT,
    }


def counterexample(keep: float, label: str = "coin") -> dict[str, Any]:
    """The statements on the hexagon and two triangles, which 1-WL cannot tell apart, under uniform dropping.

    There is one class, so `I(t'; G') = 0` whatever T is: every T in the family is optimal, this one included.
    """
    hexagon = networkx.cycle_graph(6)
    triangles = networkx.disjoint_union(networkx.cycle_graph(3), networkx.cycle_graph(3))
    universe = universe_of([hexagon, triangles])
    return {"keep": keep, **check_statements(Labelled.named(universe, label), uniform_law(universe, keep))}


def tied_pairs(universe: Universe, keep: float = 0.8) -> list[dict[str, Any]]:
    """Every pair of graphs that share a class: do they still look alike when edges are dropped?

    `first_drop` is the fewest dropped edges after which the classes of what remains are distributed differently;
    `distance` is the total variation between the two laws under uniform dropping.
    """
    law = uniform_law(universe, keep)
    found = []
    for first in range(len(universe)):
        for second in np.flatnonzero(universe.class_of[first + 1 :] == universe.class_of[first]) + first + 1:
            differ = universe.copies[first] != universe.copies[second]
            drops = universe.edges[first] - universe.target_edges[differ]
            found.append(
                {
                    "graphs": [int(first), int(second)],
                    "edges": int(universe.edges[first]),
                    "first_drop": int(drops.min()) if len(drops) else None,
                    "distance": float(np.abs(law[first] - law[second]).sum() / 2),
                }
            )
    return found
