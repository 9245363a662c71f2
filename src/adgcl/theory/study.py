"""A study of one universe: the three optima for any lambda, and what they leave of the labels."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from adgcl.core.errors import ConfigError
from adgcl.core.progress import Progress
from adgcl.theory.any_channel import best_of_all
from adgcl.theory.independent import EdgeFamily, best_independent, edge_family, make_starts
from adgcl.theory.information import Floats, bits
from adgcl.theory.labels import TITLES, Labelled
from adgcl.theory.optimum import Optimum
from adgcl.theory.size import MOST_NODES, check_size
from adgcl.theory.uniform import best_uniform
from adgcl.theory.universe import Weights, whole_universe

FAMILIES = ("any", "independent", "uniform")
LAMBDAS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 14.0, 20.0, 28.0, 40.0)
_STARTS, _FEW_STARTS = 8, 1


class Study:
    """One universe, made when it is first needed and used for every lambda.

    With `starts` the paper's family is optimised from that many points; further ones come from the last lambda solved.
    """

    def __init__(
        self,
        nodes: int,
        weights: Weights = "uniform",
        num_colours: int = 1,
        starts: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        check_size(nodes, num_colours)
        if starts is not None and starts < 1:
            raise ConfigError(f"{starts} starts are too few.", "Use at least 1.")
        self.nodes, self.num_colours, self.weights, self.progress = nodes, num_colours, weights, progress
        # With 7 nodes a start takes minutes.
        self.starts = starts or (_STARTS if nodes < MOST_NODES else _FEW_STARTS)
        self.universe = whole_universe(nodes, weights, num_colours)
        self._last: list[Floats] = []

    @cached_property
    def family(self) -> EdgeFamily:
        return edge_family(self.universe, self._count("group subsets of edges"))

    @cached_property
    def labels(self) -> dict[str, Labelled]:
        return {name: Labelled.named(self.universe, name) for name in TITLES}

    def optima(self, lam: float) -> dict[str, Optimum]:
        """The best of all laws, of the paper's family and of uniform dropping."""
        if not (np.isfinite(lam) and lam >= 0):
            raise ConfigError(f"lambda is {lam}.", "It is a price and must be at least 0.")
        best = best_of_all(self.universe, lam)
        uniform = best_uniform(self.universe, lam, best.lower)
        starts = [*make_starts(self.family, [best.law, uniform.law], self.starts), *self._last]
        independent, logits = best_independent(
            self.family, lam, starts, best.lower, self._count(f"optimise edges, lambda {lam:g}")
        )
        self._last = [logits]
        return {"any": best, "independent": independent, "uniform": uniform}

    def solve(self, lam: float) -> dict[str, Any]:
        """Everything about one lambda, as `adgcl theory --json` prints it."""
        optima = self.optima(lam)
        return {
            "nodes": self.nodes,
            **({"colours": self.num_colours} if self.num_colours > 1 else {}),
            "graphs": len(self.universe),
            "classes": self.universe.num_classes,
            "lambda": lam,
            "weights": self.weights,
            **{name: optimum.to_json() for name, optimum in optima.items()},
            "labels": {name: _label_report(labelled, optima) for name, labelled in self.labels.items()},
        }

    def train(self, lam: float, seed: int = 0) -> dict[str, Any]:
        """AD-GCL trained on the universe, with a network and with free logits."""
        from adgcl.theory.trained import CHOOSERS, train  # torch is not needed for anything else

        if self.weights != "uniform":
            raise ConfigError("Training weighs all graphs equally.", "Use --weights uniform.")
        found: dict[str, Any] = {}
        for chooser in CHOOSERS:
            count = self._count(f"train ({chooser}), lambda {lam:g}")
            found[chooser] = asdict(train(self.family, lam, chooser, seed=seed, progress=count))
            del found[chooser]["chooser"]
        return found

    def _count(self, what: str) -> Any:
        """Progress for work that only counts."""
        report = self.progress
        return None if report is None else lambda done, total: report(what, done, total)


def _label_report(labelled: Labelled, optima: dict[str, Optimum]) -> dict[str, Any]:
    """What the best law knows of a label, what an encoder could, and what the other families know."""
    reports = {name: labelled.report(optimum.law) for name, optimum in optima.items()}
    return {
        **reports.pop("any"),
        "encoder_bits": bits(labelled.encoder_information),
        "entropy_bits": bits(labelled.entropy),
        **reports,
    }
