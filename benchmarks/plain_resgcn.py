"""ResGCN, AD-GCL on it, and learning from few labels as a PyTorch Geometric user would write them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_add_pool

from adgcl.encoders.resgcn import ResGCN
from adgcl.graphs.convert import to_pyg
from adgcl.graphs.store.store import GraphStore
from benchmarks.plain_adgcl import PlainADGCL


class PlainResGCN(nn.Module):
    """The published network, layer by layer."""

    def __init__(self, inputs: int, width: int, layers: int) -> None:
        super().__init__()
        self.input_norm, self.input_map = nn.BatchNorm1d(inputs), nn.Linear(inputs, width, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(layers))
        self.convs = nn.ModuleList(GCNConv(width, width) for _ in range(layers))
        self.graph_norm, self.graph_map = nn.BatchNorm1d(width), nn.Linear(width, width)
        self.last_norm = nn.BatchNorm1d(width)

    def forward(self, data: Batch, edge_weight: Tensor | None = None) -> tuple[Tensor, Tensor]:
        x = F.relu(self.input_map(self.input_norm(data.x)))
        for norm, conv in zip(self.norms, self.convs):
            x = F.relu(conv(norm(x), data.edge_index, edge_weight))
        pooled = global_add_pool(x, data.batch, data.num_graphs)
        return x, self.last_norm(F.relu(self.graph_map(self.graph_norm(pooled))))


def plain_copy(encoder: ResGCN) -> PlainResGCN:
    """The plain network with our weights."""
    plain = PlainResGCN(encoder.input_map.in_features, encoder.config.hidden_dim, len(encoder.layers))
    pairs = [(plain.input_map, encoder.input_map), (plain.graph_map, encoder.graph_map)]
    names = ("input_norm", "graph_norm", "last_norm")
    pairs += [(getattr(plain, name), getattr(encoder, name)) for name in names]
    for i, layer in enumerate(encoder.layers):
        pairs.append((plain.norms[i], layer.norm))
        with torch.no_grad():
            plain.convs[i].lin.weight.copy_(layer.linear.weight)  # type: ignore[union-attr, arg-type]
            plain.convs[i].bias.copy_(layer.linear.bias)  # type: ignore[union-attr, arg-type]
    for theirs, ours in pairs:
        theirs.load_state_dict(ours.state_dict())
    return plain


class PlainResGCNADGCL(PlainADGCL):
    """The authors' alternating update with this encoder in both players."""

    def __init__(self, inputs: int, width: int, layers: int) -> None:
        nn.Module.__init__(self)
        self.encoder, self.augmenter = (PlainResGCN(inputs, width, layers) for _ in range(2))
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.edge_mlp = nn.Sequential(nn.Linear(2 * width, 64), nn.ReLU(), nn.Linear(64, 1))
        learner = nn.ModuleList([self.encoder, self.head])
        spoiler = nn.ModuleList([self.augmenter, self.edge_mlp])
        self.encoder_optimizer = torch.optim.Adam(learner.parameters(), lr=1e-3)
        self.augmenter_optimizer = torch.optim.Adam(spoiler.parameters(), lr=1e-3)


def to_plain(store: GraphStore) -> list[Data]:
    """PyG graphs whose features are the plain columns that a TU user has."""
    graphs = to_pyg(store)
    ptr = store.node_ptr
    columns = [] if store.x_num is None else [np.asarray(store.x_num)]
    for codes, size in zip([] if store.x is None else store.x.T, store.spec.node.sizes):
        columns.append(np.eye(size, dtype=np.float32)[codes])
    x = torch.from_numpy(np.concatenate(columns, axis=1).astype(np.float32))
    assert store.y is not None
    for i, graph in enumerate(graphs):
        graph.x, graph.y = x[ptr[i] : ptr[i + 1]], torch.tensor([int(store.y[i, 0])])
        for name in ("x_num", "edge_attr", "edge_num"):
            if name in graph:
                del graph[name]
    return graphs


def plain_fold(graphs: Sequence[Data], train: Sequence[int], test: Sequence[int], width: int, epochs: int) -> float:
    """One fold: train on its labels, score its test part after every epoch; the best of these scores."""
    classes = 1 + max(int(graph.y) for graph in graphs)
    network, head = PlainResGCN(graphs[0].x.shape[1], width, 3), nn.Linear(width, classes)
    optimizer = torch.optim.Adam([*network.parameters(), *head.parameters()], lr=1e-3)
    loader = DataLoader([graphs[i] for i in train], 128, shuffle=True)
    tests, best = DataLoader([graphs[i] for i in test], 128), 0.0
    for _ in range(epochs):
        network.train()
        for data in loader:
            optimizer.zero_grad()
            F.cross_entropy(head(network(data)[1]), data.y).backward()
            optimizer.step()
        network.eval()
        with torch.no_grad():
            right = sum(int((head(network(data)[1]).argmax(1) == data.y).sum()) for data in tests)
        best = max(best, right / len(test))
    return best
