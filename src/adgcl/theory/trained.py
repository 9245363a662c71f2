"""AD-GCL itself, trained on a universe, and the exact information of the augmenter it ends with.

All graphs form one batch, so graphs are not sampled. Gates are hard and tied: then an edge is kept, in both directions,
with exactly the probability `sigmoid(logit)`, and the augmenter is a member of the paper's family.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from adgcl.augmentations.base import Augmented
from adgcl.augmentations.edge_drop import EdgeDrop
from adgcl.augmentations.learnable import Learnable
from adgcl.core.progress import Count
from adgcl.core.schema import FeatureSpec
from adgcl.core.seeds import derived_seed
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.adgcl import ADGCL
from adgcl.methods.base import Metrics
from adgcl.objectives.info_nce import info_nce
from adgcl.theory.independent import EdgeFamily
from adgcl.theory.information import NATS_PER_BIT, Ints, added, bits
from adgcl.theory.optimum import assess
from adgcl.theory.shapes import edge_list
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.trainer import build_method

# Who chooses the logits: a GNN, as in the paper, or nobody: then each edge orbit has one of its own.
Chooser = Literal["network", "free"]
CHOOSERS: tuple[Chooser, ...] = get_args(Chooser)
# Steps of the augmenter.
STEPS: dict[Chooser, int] = {"network": 600, "free": 200}
# With free logits the encoder learns this long before the augmenter moves, and this often for each of its moves.
WARM_UP, PATIENCE = 200, 5
_FREE_LRS = {"augmenter_lr": 0.02, "encoder_lr": 5e-3}
# Draws of the final augmenter over which the estimates are averaged.
_DRAWS = 50


class FreeEdgeDrop(EdgeDrop):
    """Edge dropping with a logit for each edge orbit in place of a network: as free as the paper's family."""

    def __init__(self, like: EdgeDrop, config: RunConfig, spec: FeatureSpec, orbit: Ints, num_orbits: int) -> None:
        Learnable.__init__(self, config.encoder, like.gate, spec, guest=True)
        self.orbit = torch.from_numpy(orbit)
        self.logits = nn.Parameter(torch.ones(num_orbits))

    def edge_logits(self, batch: GraphBatch, node_emb: Tensor | None = None) -> Tensor:
        return self.logits[self.orbit]

    def forward(self, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        return self.draw(self.logits, batch, generator)


class PatientADGCL(ADGCL):
    """AD-GCL whose encoder stays near its optimum, as the theory assumes."""

    warm = False

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        for _ in range(0 if self.warm else WARM_UP):
            self._encoder_step(batch, generator)
        self.warm = True
        spoiling = self._augmenter_step(batch, generator)
        for _ in range(PATIENCE):
            learning = self._encoder_step(batch, generator)
        return {**learning, **spoiling}


@dataclass(frozen=True)
class Trained:
    """Where training ended: the exact costs of the augmenter, and what its loss says about the information.

    `seen_bits` is `log(N - 1) - loss` with the loss that is trained, whose denominator lacks the positive pair.
    `bound_bits` has it, `log N - loss`: InfoNCE as usual, on average a lower bound on the information.
    """

    chooser: str
    drop_ratio: float
    information_bits: float
    seen_bits: float
    bound_bits: float


def train(
    family: EdgeFamily,
    lam: float,
    chooser: Chooser = "network",
    *,
    steps: int | None = None,
    seed: int = 0,
    progress: Count | None = None,
) -> Trained:
    """Train AD-GCL on all graphs of a universe at once, each as likely as any other, and assess its augmenter.

    With a network it is AD-GCL as it is. With free logits everything is done for the optimum: the encoder is ahead.
    """
    universe = family.universe
    store = universe.store()
    batch = store.batch(np.arange(len(store)))
    orbit = orbit_of_edges(family, batch)
    # The method averages drop ratios over the graphs that have edges, the theory over all.
    config = _settings(lam * float((universe.edges > 0).mean()), chooser, seed)
    method = build_method(config, store.spec, store.task, PatientADGCL if chooser == "free" else None)
    assert isinstance(method, ADGCL) and isinstance(method.augmenter, EdgeDrop)
    if chooser == "free":
        method.augmenter = FreeEdgeDrop(method.augmenter, config, store.spec, orbit, family.num_orbits)
        method.optimizers = method.make_optimizers()
    generator = torch.Generator().manual_seed(derived_seed(seed, "theory", "noise"))
    steps = STEPS[chooser] if steps is None else steps
    for step in range(steps):
        method.step(batch, generator)
        if progress is not None:
            progress(step + 1, steps)
    method.eval()
    with torch.no_grad():
        ended = method.augmenter.edge_logits(batch).double().numpy()
        seen, bound = _estimates(method, batch, generator)
    logits = added(orbit, ended, family.num_orbits) / np.bincount(orbit, minlength=family.num_orbits)
    found = assess(universe, family.law(logits), lam)
    return Trained(chooser, found.drop_ratio, bits(found.information), seen, bound)


def orbit_of_edges(family: EdgeFamily, batch: GraphBatch) -> Ints:
    """Which of the family's parameters each directed edge of a batch of the whole universe belongs to."""
    universe, nodes = family.universe, family.universe.shapes.nodes
    number = np.zeros((nodes, nodes), dtype=np.int64)
    for bit, (a, b) in enumerate(edge_list(nodes)):
        number[a, b] = number[b, a] = bit
    table = np.zeros((len(universe), len(edge_list(nodes))), dtype=np.int64)
    first = np.searchsorted(family.graph, np.arange(len(universe)))
    for row, shape in enumerate(universe.members.tolist()):
        table[row, universe.shapes.bits(shape)] = first[row] + universe.shapes.orbits(shape)
    graph = batch.batch.numpy()[batch.target.numpy()]
    orbit: Ints = table[graph, number[batch.col.numpy() - graph * nodes, batch.target.numpy() - graph * nodes]]
    return orbit


def _settings(lam: float, chooser: Chooser, seed: int) -> RunConfig:
    method: dict[str, Any] = {"name": "adgcl", "reg_lambda": lam, "gate": {"hard": True, "tied": True}}
    if chooser == "free":
        method |= _FREE_LRS
    return resolve({"method": method, "encoder": {"name": "gin"}, "training": {"seed": seed, "device": "cpu"}})


def _estimates(method: ADGCL, batch: GraphBatch, generator: torch.Generator) -> tuple[float, float]:
    """`seen_bits` and `bound_bits`, as means over many draws."""
    config, losses = method.config, []
    for _ in range(_DRAWS):
        z, z_view = method.project_pair(batch, method.augmenter(batch, generator).view)
        scores = F.normalize(z, dim=1) @ F.normalize(z_view, dim=1).t() / config.temperature
        usual = (scores.logsumexp(1).mean() + scores.logsumexp(0).mean()) / 2 - scores.diagonal().mean()
        losses.append((float(info_nce(z, z_view, config.temperature, config.directions)), float(usual)))
    ours, usual_loss = np.mean(losses, axis=0)
    count = batch.num_graphs
    return float(np.log(count - 1) - ours) / NATS_PER_BIT, float(np.log(count) - usual_loss) / NATS_PER_BIT
