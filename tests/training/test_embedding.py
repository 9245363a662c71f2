"""Embeddings of a store: the same rows however it is cut into batches."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.data.families.generated import planted_graphs
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
