"""Importance: how much a fine-tuned model's prediction changes if one bond is taken away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from adgcl.core.progress import Count
from adgcl.experiments.model.ensemble import answered
from adgcl.graphs.store.store import GraphStore
from adgcl.graphs.store.view import View
from adgcl.insight.bonds import Bonds, Floats
from adgcl.methods.supervised import Supervised

# Up to this many bonds each is taken away in turn; in larger graphs the slope at the whole graph has to do.
EXACT = 256
_EDGES_AT_A_TIME = 200_000


@dataclass(frozen=True, eq=False)
class Importance:
    """`change [bonds]`: the prediction with a bond minus the one without it; `prediction [graphs]`: that with all.

    `column` is what was predicted: a label, or for classes the most probable class of each graph.
    """

    prediction: Floats
    change: Floats
    column: str


def bond_importance(
    members: Sequence[Supervised],
    store: GraphStore,
    bonds: Bonds,
    column: int = 0,
    name: str = "",
    progress: Count | None = None,
) -> Importance:
    """Take away one bond at a time, both directions together, and let every member look again."""
    prediction, change = np.empty(len(store)), np.zeros(len(bonds))
    costs = store.edge_counts * np.maximum(bonds.counts, 1)
    start = 0
    while start < len(store):
        stop = start + 1
        while stop < len(store) and costs[start : stop + 1].sum() <= _EDGES_AT_A_TIME:
            stop += 1
        ids = np.arange(start, stop)
        whole = _answers(members, store, ids, None)
        classes = members[0].task.kind == "multiclass"
        chosen = whole.argmax(axis=1) if classes else np.full(len(ids), column)
        prediction[ids] = whole[np.arange(len(ids)), chosen]
        small = ids[bonds.counts[ids] <= EXACT]
        change[_bonds_of(bonds, small)] = _taken_away(members, store, bonds, small, prediction, chosen[small - start])
        for graph in ids[bonds.counts[ids] > EXACT]:
            change[bonds.of(graph)] = _slopes(members, store, bonds, int(graph), int(chosen[graph - start]))
        start = stop
        if progress is not None:
            progress(stop, len(store))
    return Importance(prediction, change, name)


def _bonds_of(bonds: Bonds, graphs: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.isin(bonds.graph, graphs))


def _taken_away(
    members: Sequence[Supervised],
    store: GraphStore,
    bonds: Bonds,
    graphs: np.ndarray,
    prediction: Floats,
    chosen: np.ndarray,
) -> Floats:
    """The exact changes: a copy of a graph for each of its bonds, without that bond."""
    which = _bonds_of(bonds, graphs)
    if not len(which):
        return np.empty(0)
    copies = bonds.graph[which]
    ends = np.concatenate([[0], np.cumsum(store.edge_counts[copies])])
    keep = torch.ones(int(ends[-1]))
    for edge in (bonds.forth, bonds.back):
        keep[torch.from_numpy(ends[:-1] + edge[which] - store.edge_ptr[copies])] = 0.0
    without = _answers(members, store, copies, keep)
    column = np.repeat(chosen, bonds.counts[graphs])
    return prediction[copies] - without[np.arange(len(copies)), column]


def _answers(members: Sequence[Supervised], store: GraphStore, ids: np.ndarray, keep: Tensor | None) -> Floats:
    """The mean prediction of all members, as values or probabilities."""
    device = members[0].target_mean.device
    batch = store.batch(ids).to(device)
    view = View() if keep is None else View(edge_keep=keep.to(device))
    with torch.no_grad():
        made = [answered(member.predict_from(_embedded(member, batch, view)), member.task) for member in members]
    mean: Floats = np.mean(made, axis=0)
    return mean


def _slopes(members: Sequence[Supervised], store: GraphStore, bonds: Bonds, graph: int, column: int) -> Floats:
    """The first-order estimate: the slope of the mean prediction in the weight of every edge."""
    device = members[0].target_mean.device
    batch = store.batch([graph]).to(device)
    keep = torch.ones(batch.num_edges, device=device, requires_grad=True)
    total = torch.zeros((), device=device)
    for member in members:
        outputs = member.head(_embedded(member, batch, View(edge_keep=keep))).float()
        kind = member.task.kind
        if kind == "regression":
            outputs = outputs * member.target_scale
        outputs = outputs.sigmoid() if kind == "binary" else outputs.softmax(1) if kind == "multiclass" else outputs
        total = total + outputs[0, column] / len(members)
    (slope,) = torch.autograd.grad(total, keep)
    per_edge = slope.double().cpu().numpy()
    own, first = bonds.of(graph), store.edge_ptr[graph]
    forth, back = bonds.forth[own] - first, bonds.back[own] - first
    both: Floats = per_edge[forth] + np.where(forth == back, 0.0, per_edge[back])
    return both


def _embedded(member: Supervised, batch: object, view: View) -> Tensor:
    member.encoder.eval()
    graph_emb: Tensor = member.encoder(batch, view).graph_emb
    return graph_emb.float()
