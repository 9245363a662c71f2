"""The network of Hu et al., AttrMasking and fine-tuning as a PyTorch Geometric user would write them."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import MessagePassing, global_mean_pool
from torch_geometric.utils import add_self_loops

from adgcl.encoders.base import Encoder
from adgcl.encoders.hu_gin import LOOP_TYPE

_HIDDEN_ATOM = 119


class PlainLayer(MessagePassing):
    """The sum over neighbours and the node itself of atom plus bond, then a perceptron."""

    def __init__(self, width: int, bond_sizes: tuple[int, ...]) -> None:
        super().__init__(aggr="add")
        self.bonds = nn.ModuleList(nn.Embedding(size, width) for size in bond_sizes)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        edge_index, _ = add_self_loops(edge_index, num_nodes=len(x))
        loops = edge_attr.new_zeros(len(x), 2)
        loops[:, 0] = LOOP_TYPE
        codes = torch.cat([edge_attr, loops])
        bonds = self.bonds[0](codes[:, 0]) + self.bonds[1](codes[:, 1])
        return self.mlp(self.propagate(edge_index, x=x, bonds=bonds))

    def message(self, x_j: Tensor, bonds: Tensor) -> Tensor:
        return x_j + bonds


class PlainHuGIN(nn.Module):
    """Five such layers with batch normalisation."""

    def __init__(self, atom_sizes: tuple[int, ...], bond_sizes: tuple[int, ...], width: int, dropout: float) -> None:
        super().__init__()
        self.atoms = nn.ModuleList(nn.Embedding(size, width) for size in atom_sizes)
        self.layers = nn.ModuleList(PlainLayer(width, bond_sizes) for _ in range(5))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(5))
        self.dropout = dropout

    def forward(self, data: Batch) -> Tensor:
        h = self.atoms[0](data.x[:, 0]) + self.atoms[1](data.x[:, 1])
        for i, (layer, norm) in enumerate(zip(self.layers, self.norms)):
            h = norm(layer(h, data.edge_index, data.edge_attr))
            h = F.dropout(F.relu(h) if i < 4 else h, self.dropout, self.training)
        return h


def plain_copy(encoder: Encoder, dropout: float = 0.0) -> PlainHuGIN:
    """The plain network with the weights of ours."""
    spec = encoder.spec
    plain = PlainHuGIN(spec.node.sizes, spec.edge.sizes, encoder.config.hidden_dim, dropout)
    with torch.no_grad():
        rows = encoder.inputs.codes.table.split(spec.node.sizes)  # type: ignore[union-attr]
        for table, values in zip(plain.atoms, rows):
            table.weight.copy_(values)
        for mine, theirs in zip(encoder.layers, plain.layers):
            theirs.bonds[0].weight.copy_(mine.bonds.kind)
            theirs.bonds[1].weight.copy_(mine.bonds.direction)
            theirs.mlp[0].load_state_dict(mine.first.state_dict())
            theirs.mlp[2].weight.copy_(mine.second.weight)
            # We have no bias before a normalisation, where it has no effect.
            theirs.mlp[2].bias.zero_()
    return plain


class PlainAttrMasking:
    """Hide 15 % of atoms, predict their element."""

    def __init__(self, network: PlainHuGIN, width: int) -> None:
        self.network, self.head = network, nn.Linear(width, _HIDDEN_ATOM)
        both = [*network.parameters(), *self.head.parameters()]
        self.optimizer = torch.optim.Adam(both, lr=1e-3)

    def step(self, data: Batch) -> None:
        hidden = torch.rand(data.num_nodes) < 0.15
        wanted = data.x[hidden, 0]
        data.x[hidden] = torch.tensor([_HIDDEN_ATOM, 0])
        loss = F.cross_entropy(self.head(self.network(data)[hidden]), wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class PlainFinetuning:
    """One binary task: an epoch of training, then the ROC-AUC of two parts."""

    def __init__(self, network: PlainHuGIN, width: int) -> None:
        self.network, self.head = network, nn.Linear(width, 1)
        self.optimizer = torch.optim.Adam([*network.parameters(), *self.head.parameters()], lr=1e-3)

    def outputs(self, data: Batch) -> Tensor:
        return self.head(global_mean_pool(self.network(data), data.batch)).squeeze(1)

    def epoch(self, train: list[Data], parts: tuple[list[Data], ...]) -> list[float]:
        self.network.train()
        for data in DataLoader(train, 32, shuffle=True):
            loss = F.binary_cross_entropy_with_logits(self.outputs(data).double(), data.y[:, 0])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.network.eval()
        return [self._score(part) for part in parts]

    @torch.no_grad()
    def _score(self, part: list[Data]) -> float:
        found = [(data.y[:, 0].numpy(), self.outputs(data).numpy()) for data in DataLoader(part, 128)]
        y, scores = (np.concatenate(column) for column in zip(*found))
        return float(roc_auc_score(y, scores))
