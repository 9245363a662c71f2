"""Inputs: what nodes (all, or those of a list) and edges carry -> the first rows a network sees."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from adgcl.core.schema import Features
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch

# Up to this many combinations of edge categories, a table of all of them beats embedding edge by edge.
_TABLE_LIMIT = 1024


class RawInputs(nn.Module):
    """Node features as plain columns: one-hot codes beside real values; the constant 1 where there are none."""

    shifts: Tensor

    def __init__(self, features: Features) -> None:
        super().__init__()
        self.sizes = features.sizes
        self.width = sum(features.sizes) + features.num_dim or 1
        self.register_buffer("shifts", _shifts(features.sizes), persistent=False)
        self.mask = nn.Parameter(torch.zeros(self.width))

    def forward(self, batch: GraphBatch, feature_keep: Tensor | None = None, nodes: Tensor | None = None) -> Tensor:
        codes, reals, count = _carried(batch, nodes)
        columns = []
        if self.sizes:
            assert codes is not None
            columns.append(_one_hot(codes + self.shifts, sum(self.sizes)))
        if reals is not None:
            columns.append(reals)
        if not columns:
            columns.append(torch.ones(count, 1, device=batch.device))
        h = columns[0] if len(columns) == 1 else torch.cat(columns, dim=1)
        return _faded(h, self.mask, feature_keep)


class EmbeddedInputs(nn.Module):
    """A sum of one learned row per category, plus a linear map of real values."""

    def __init__(self, features: Features, width: int) -> None:
        super().__init__()
        self.width = width
        self.codes = _CodeEmbedding(features.sizes, width) if features.sizes else None
        self.reals = nn.Linear(features.num_dim, width) if features.num_dim else None
        self.constant = nn.Parameter(torch.randn(width) / math.sqrt(width)) if features.empty else None
        self.mask = nn.Parameter(torch.zeros(width))

    def forward(self, batch: GraphBatch, feature_keep: Tensor | None = None, nodes: Tensor | None = None) -> Tensor:
        codes, reals, count = _carried(batch, nodes)
        h: Tensor | None = None
        if self.codes is not None:
            assert codes is not None
            h = self.codes(codes)
        if self.reals is not None:
            assert reals is not None
            mapped = self.reals(reals)
            h = mapped if h is None else h + mapped
        if h is None:
            assert self.constant is not None
            h = self.constant.expand(count, -1)
        return _faded(h, self.mask, feature_keep)


class EdgeInputs(nn.Module):
    """Edge features as `(table, code)`: row `table[code[e]]` describes edge e.

    Categories combine into few distinct edges, so the table holds every combination once.
    """

    grid: Tensor
    strides: Tensor

    def __init__(self, features: Features, width: int) -> None:
        super().__init__()
        self.width = width
        self.codes = _CodeEmbedding(features.sizes, width) if features.sizes else None
        self.reals = nn.Linear(features.num_dim, width) if features.num_dim else None
        self.use_table = self.reals is None and math.prod(features.sizes) <= _TABLE_LIMIT
        if self.use_table and features.sizes:
            grid = torch.cartesian_prod(*(torch.arange(s) for s in features.sizes)).reshape(-1, len(features.sizes))
            strides = [math.prod(features.sizes[i + 1 :]) for i in range(len(features.sizes))]
            self.register_buffer("grid", grid, persistent=False)
            self.register_buffer("strides", torch.tensor(strides), persistent=False)

    def forward(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        if self.codes is None and self.reals is None:
            code = torch.zeros(batch.num_edges, dtype=torch.long, device=batch.device)
            return torch.zeros(1, self.width, device=batch.device), code
        if self.use_table:
            assert batch.edge_attr is not None and self.codes is not None
            return self.codes(self.grid), (batch.edge_attr * self.strides).sum(1)
        return self._edge_by_edge(batch), torch.arange(batch.num_edges, device=batch.device)

    def _edge_by_edge(self, batch: GraphBatch) -> Tensor:
        parts = []
        if self.codes is not None:
            assert batch.edge_attr is not None
            parts.append(self.codes(batch.edge_attr))
        if self.reals is not None:
            assert batch.edge_num is not None
            parts.append(self.reals(batch.edge_num))
        return torch.stack(parts).sum(0)


class _CodeEmbedding(nn.Module):
    """One embedding per categorical column, kept in one table and summed in one kernel."""

    shifts: Tensor

    def __init__(self, sizes: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(sum(sizes), width))
        self.register_buffer("shifts", _shifts(sizes), persistent=False)
        with torch.no_grad():
            for part in self.table.split(list(sizes)):
                nn.init.xavier_uniform_(part)

    def forward(self, codes: Tensor) -> Tensor:
        if codes.shape[1] == 1:
            return rows(self.table, codes[:, 0])
        return F.embedding_bag(codes + self.shifts, self.table, mode="sum")


def _carried(batch: GraphBatch, nodes: Tensor | None) -> tuple[Tensor | None, Tensor | None, int]:
    """The categories and real values of all nodes, or only of the given ones, and the number of nodes."""
    if nodes is None:
        return batch.x, batch.x_num, batch.num_nodes
    codes, reals = (None if column is None else rows(column, nodes) for column in (batch.x, batch.x_num))
    return codes, reals, len(nodes)


def _shifts(sizes: tuple[int, ...]) -> Tensor:
    return torch.tensor([0, *sizes[:-1]], dtype=torch.long).cumsum(0)[: len(sizes)]


def _one_hot(codes: Tensor, width: int) -> Tensor:
    return torch.zeros(len(codes), width, device=codes.device).scatter_(1, codes, 1.0)


def _faded(h: Tensor, mask: Tensor, feature_keep: Tensor | None) -> Tensor:
    """Fade rows towards the learned mask where `feature_keep` is below 1."""
    return h if feature_keep is None else mask.lerp(h, feature_keep.unsqueeze(1))
