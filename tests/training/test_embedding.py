"""Embeddings of a store: the same rows however it is cut into batches."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from adgcl.data.families.generated import planted_graphs
from adgcl.graphs.chem.molecules import molecules_to_store
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.store import GraphStore
from adgcl.methods.base import Method
from adgcl.methods.random_init import RandomInit
from adgcl.training.embedding import embed_store
from adgcl.training.run_config import resolve


@pytest.mark.parametrize("max_nodes", [1, 40, 100, None])
def test_rows_do_not_depend_on_batches(max_nodes: int | None) -> None:
    store = planted_graphs(30)[0].store
    config = resolve({"method": {"name": "random_init"}})
    method = RandomInit(config.method, config.encoder, store.spec, store.task)
    seen: list[int] = []
    rows = embed_store(method, store, 7, lambda done, total: seen.append(done), max_nodes=max_nodes)
    np.testing.assert_allclose(rows, embed_store(method, store, len(store)), rtol=1e-4, atol=1e-4)
    sizes = np.diff([0, *seen])
    assert seen[-1] == len(store) and sizes.min() >= 1 and sizes.max() <= 7
    nodes = np.diff(store.node_ptr[[0, *seen]])
    if max_nodes is not None:
        assert (nodes[sizes > 1] <= max_nodes).all()
    else:
        assert (sizes[:-1] == 7).all()


@pytest.fixture
def wide() -> Iterator[tuple[Method, GraphStore]]:
    """An untrained wide encoder and molecules, on a machine that gives it two threads."""
    store = molecules_to_store(["C" * n + "O" * (n % 3) + "c1ccccc1" for n in range(1, 60)], "hu").store
    config = resolve({"method": {"name": "random_init"}, "encoder": {"name": "hu_gin", "hidden_dim": 64}})
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield RandomInit(config.method, config.encoder, store.spec, store.task), store
    torch.set_num_threads(before)


def test_batches_side_by_side_are_those_of_one_core(wide: tuple[Method, GraphStore]) -> None:
    method, store = wide
    seen: list[int] = []
    rows = embed_store(method, store, 8, lambda done, total: seen.append(done))
    assert seen == [8, 16, 24, 32, 40, 48, 56, 59] and torch.get_num_threads() == 2
    torch.set_num_threads(1)
    assert np.array_equal(rows, embed_store(method, store, 8))


def test_an_error_in_one_batch_ends_the_others(
    wide: tuple[Method, GraphStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    method, store = wide
    taken: list[int] = []

    def embed(batch: GraphBatch) -> torch.Tensor:
        taken.append(batch.num_graphs)
        time.sleep(0.01)
        raise ValueError("no such atom")

    monkeypatch.setattr(method, "embed", embed)
    with pytest.raises(ValueError, match="no such atom"):
        embed_store(method, store, 1)
    assert len(taken) < len(store) and torch.get_num_threads() == 2
