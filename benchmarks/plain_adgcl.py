"""AD-GCL as an experienced PyTorch Geometric user would write it: MessagePassing, DataLoader, alternating updates."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.data import Batch
from torch_geometric.nn import MessagePassing, global_add_pool
from torch_geometric.utils import scatter


class WeightedGINConv(MessagePassing):
    """GIN's sum with a weight per edge."""

    def __init__(self, mlp: nn.Module) -> None:
        super().__init__(aggr="add")
        self.mlp = mlp

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, edge_attr: Tensor | None = None
    ) -> Tensor:
        return self.mlp(x + self.propagate(edge_index, x=x, edge_weight=edge_weight))

    def message(self, x_j: Tensor, edge_weight: Tensor | None) -> Tensor:
        return x_j if edge_weight is None else x_j * edge_weight.view(-1, 1)


class WeightedGINEConv(MessagePassing):
    """GINE's sum with a weight per edge."""

    def __init__(self, mlp: nn.Module) -> None:
        super().__init__(aggr="add")
        self.mlp = mlp

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, edge_attr: Tensor | None = None
    ) -> Tensor:
        return self.mlp(x + self.propagate(edge_index, x=x, edge_weight=edge_weight, edge_attr=edge_attr))

    def message(self, x_j: Tensor, edge_attr: Tensor, edge_weight: Tensor | None) -> Tensor:
        message = F.relu(x_j + edge_attr)
        return message if edge_weight is None else message * edge_weight.view(-1, 1)


class PlainEncoder(nn.Module):
    """The paper's encoder: GIN on constant features, or GINE with summed category embeddings."""

    def __init__(
        self, width: int, layers: int, node_sizes: tuple[int, ...] = (), edge_sizes: tuple[int, ...] = ()
    ) -> None:
        super().__init__()
        self.atoms = nn.ModuleList(nn.Embedding(s, width) for s in node_sizes)
        self.bonds = nn.ModuleList(nn.Embedding(s, width) for s in edge_sizes)
        self.convs, self.norms = nn.ModuleList(), nn.ModuleList()
        for i in range(layers):
            if edge_sizes:
                inner = [nn.Linear(width, 2 * width), nn.BatchNorm1d(2 * width), nn.ReLU(), nn.Linear(2 * width, width)]
                self.convs.append(WeightedGINEConv(nn.Sequential(*inner)))
            else:
                inner = [nn.Linear(width if i else 1, width), nn.ReLU(), nn.Linear(width, width)]
                self.convs.append(WeightedGINConv(nn.Sequential(*inner)))
            self.norms.append(nn.BatchNorm1d(width))

    def forward(self, data: Batch, edge_weight: Tensor | None = None) -> tuple[Tensor, Tensor]:
        x = sum(table(data.x[:, i]) for i, table in enumerate(self.atoms)) if self.atoms else data.x
        edge_attr = sum(table(data.edge_attr[:, i]) for i, table in enumerate(self.bonds)) if self.bonds else None
        for i, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            x = norm(conv(x, data.edge_index, edge_weight, edge_attr))
            if i < len(self.convs) - 1:
                x = F.relu(x)
        return x, global_add_pool(x, data.batch, data.num_graphs)


class PlainADGCL(nn.Module):
    """Encoder, head and augmenter with the authors' alternating update."""

    def __init__(
        self, width: int, layers: int, node_sizes: tuple[int, ...] = (), edge_sizes: tuple[int, ...] = ()
    ) -> None:
        super().__init__()
        self.encoder = PlainEncoder(width, layers, node_sizes, edge_sizes)
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.augmenter = PlainEncoder(width, layers, node_sizes, edge_sizes)
        self.edge_mlp = nn.Sequential(nn.Linear(2 * width, 64), nn.ReLU(), nn.Linear(64, 1))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        learner = nn.ModuleList([self.encoder, self.head])
        spoiler = nn.ModuleList([self.augmenter, self.edge_mlp])
        self.encoder_optimizer = torch.optim.Adam(learner.parameters(), lr=1e-3)
        self.augmenter_optimizer = torch.optim.Adam(spoiler.parameters(), lr=1e-3)

    def edge_weights(self, data: Batch, noise: Tensor | None = None) -> Tensor:
        node_emb, _ = self.augmenter(data)
        source, target = data.edge_index
        logits = self.edge_mlp(torch.cat([node_emb[source], node_emb[target]], dim=1)).squeeze(1)
        uniform = torch.rand_like(logits) * (1 - 2e-4) + 1e-4 if noise is None else noise
        return torch.sigmoid(torch.log(uniform) - torch.log(1 - uniform) + logits)

    def loss(self, data: Batch, edge_weight: Tensor) -> Tensor:
        z = self.head(self.encoder(data)[1])
        z_view = self.head(self.encoder(data, edge_weight)[1])
        return contrast(z, z_view)

    def step(self, data: Batch, reg_lambda: float = 5.0) -> tuple[float, float]:
        """One alternating update; returns the encoder's loss and the drop ratio."""
        self.encoder.eval()
        self.head.eval()
        self.augmenter.train()
        self.augmenter_optimizer.zero_grad()
        weights = self.edge_weights(data)
        drop = drop_ratio(weights, data)
        (reg_lambda * drop - self.loss(data, weights)).backward()
        self.augmenter_optimizer.step()

        self.encoder.train()
        self.head.train()
        self.augmenter.eval()
        self.encoder_optimizer.zero_grad()
        loss = self.loss(data, self.edge_weights(data).detach())
        loss.backward()
        self.encoder_optimizer.step()
        return loss.item(), drop.item()


def contrast(z: Tensor, z_view: Tensor, temperature: float = 0.2) -> Tensor:
    """The symmetric contrastive loss, positive pair outside the denominator."""
    similarity = torch.exp(F.normalize(z) @ F.normalize(z_view).t() / temperature)
    positive = similarity.diagonal()
    rows = -torch.log(positive / (similarity.sum(1) - positive)).mean()
    columns = -torch.log(positive / (similarity.sum(0) - positive)).mean()
    return (rows + columns) / 2


def drop_ratio(weights: Tensor, data: Batch) -> Tensor:
    """Mean over graphs with edges of the mean of 1 - weight."""
    graph = data.batch[data.edge_index[0]]
    counts = scatter(torch.ones_like(weights), graph, dim_size=data.num_graphs)
    means = scatter(1 - weights, graph, dim_size=data.num_graphs) / counts.clamp(min=1)
    return means.sum() / (counts > 0).sum()
