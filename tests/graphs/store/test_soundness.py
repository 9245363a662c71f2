"""A packed file is what was packed, or it is refused: no compiled loop sees a number that nobody checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adgcl.core.errors import DataError
from adgcl.core.schema import Task
from adgcl.graphs.store.soundness import fault
from adgcl.graphs.store.storage import open_store, save_store
from adgcl.graphs.store.store import GraphStore
from tests.graph_cases import random_store


@pytest.fixture
def store() -> GraphStore:
    return random_store(20, node_sizes=(3, 2), edge_sizes=(4,), num_dim=2)


def _slowly_sound(store: GraphStore) -> bool:
    """The same question, one node and one edge at a time."""
    for g in range(len(store)):
        nodes, edges = store.node_counts[g], store.edge_counts[g]
        first_node, first_edge = store.node_ptr[g], store.edge_ptr[g]
        degrees = store.in_degree[first_node : first_node + nodes].tolist()
        if sum(degrees) != edges:
            return False
        target = [node for node, degree in enumerate(degrees) for _ in range(degree)]
        source = store.edge_source[first_edge : first_edge + edges].tolist()
        if any(s >= nodes for s in source):
            return False
        reverse = [] if store.edge_reverse is None else store.edge_reverse[first_edge : first_edge + edges].tolist()
        for e, r in enumerate(reverse):
            if r >= edges or reverse[r] != e or (source[r], target[r]) != (target[e], source[e]):
                return False
    codes = ((store.x, store.spec.node), (store.edge_attr, store.spec.edge))
    return all(code < size for rows, f in codes for row in rows for code, size in zip(row.tolist(), f.sizes))


@pytest.mark.parametrize("directed", [False, True])
def test_any_changed_number_is_judged_as_the_slow_check_does(directed: bool) -> None:
    store = random_store(20, directed=directed, node_sizes=(3, 2), edge_sizes=(4,))
    assert fault(store) == "" and _slowly_sound(store)
    rng, verdicts = np.random.default_rng(0), []
    for name in ("in_degree", "edge_source", "edge_reverse", "x", "edge_attr"):
        for _ in range(60 if getattr(store, name) is not None else 0):
            changed = np.array(getattr(store, name))
            changed.flat[rng.integers(changed.size)] = rng.integers(0, rng.choice([3, 256]))
            damaged = replace(store, **{name: changed})
            verdicts.append(_slowly_sound(damaged))
            assert (fault(damaged) == "") == verdicts[-1], name
    assert {True, False} <= set(verdicts)


@pytest.mark.parametrize(
    "change",
    [
        {"in_degree": lambda a: np.roll(a, 1)},
        {"edge_source": lambda a: a[:-1]},
        {"node_ptr": lambda a: a[::-1].copy()},
        {"node_ptr": lambda a: np.r_[0, np.full(len(a) - 2, -(2**62)), a[-1]]},
        {"node_ptr": lambda a: a.astype(np.int32)},
        {"edge_ptr": lambda a: np.r_[a[:-2], a[-1]]},
        {"edge_source": lambda a: a.astype(np.int8)},
        {"x": lambda a: a.reshape(-1)},
        {"x": lambda a: None},
        {"x_num": lambda a: np.full_like(a, np.nan)},
        {"x_num": lambda a: a.astype(np.float64)},
        {"y": lambda a: a + 7},
        {"y": lambda a: a + 0.5},
        {"y": lambda a: np.full_like(a, np.inf)},
        {"y": lambda a: np.c_[a, a]},
    ],
)
def test_arrays_that_do_not_fit_are_refused(store: GraphStore, change: dict[str, Any], tmp_path: Any) -> None:
    ((name, alter),) = change.items()
    damaged = replace(store, **{name: alter(getattr(store, name))})
    save_store(damaged, tmp_path / "a.graphs")
    with pytest.raises(DataError, match="damaged"):
        open_store(tmp_path / "a.graphs")


@pytest.mark.parametrize("y", [[[0.0], [np.nan], [1.0]], [[1.0], [1.0], [0.0]]])
def test_missing_labels_are_sound(y: list[list[float]]) -> None:
    store = random_store(3).with_labels(np.array(y), Task("binary"))
    assert fault(store) == ""


def test_any_damaged_byte_is_noticed(store: GraphStore, tmp_path: Any) -> None:
    path = tmp_path / "a.graphs"
    save_store(store, path, {"made": "here"})
    content = path.read_bytes()
    rng = np.random.default_rng(1)
    for place in rng.integers(8, len(content), 200):
        broken = bytearray(content)
        broken[place] ^= 1 << rng.integers(8)
        path.write_bytes(broken)
        with pytest.raises(DataError):
            open_store(path)


def test_a_file_of_an_earlier_version_has_no_checksum_and_is_checked_all_the_same(
    store: GraphStore, tmp_path: Any
) -> None:
    from safetensors import safe_open
    from safetensors.numpy import save_file

    path = tmp_path / "a.graphs"
    save_store(store, path)
    with safe_open(path, "numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = {k: v for k, v in file.metadata().items() if k != "checksum"}
    save_file(arrays, path, metadata=metadata)
    assert open_store(path).batch([0, 1]).num_graphs == 2
    arrays["edge_source"][0] = 200
    save_file(arrays, path, metadata=metadata)
    with pytest.raises(DataError, match="a node that its graph does not have"):
        open_store(path)
