"""Lookalikes: pairs against a loop, and ceilings that no function of the classes can beat."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.load import load_dataset
from adgcl.protocols.lookalikes import _differing, ceiling, find_lookalikes
from adgcl.protocols.metrics import score
from tests.graph_cases import random_store


def slow_differing(y: np.ndarray, classes: np.ndarray) -> int:
    """Every pair, one by one."""
    return sum(
        any(a != b for a, b in zip(y[i], y[j]) if not (np.isnan(a) or np.isnan(b)))
        for i, j in combinations(range(len(y)), 2)
        if classes[i] == classes[j]
    )


@pytest.mark.parametrize("tasks", [1, 3])
def test_differing_pairs_are_those_of_a_loop(tasks):
    rng = np.random.default_rng(tasks)
    y, classes = rng.integers(0, 2, (60, tasks)).astype(float), rng.integers(0, 12, 60)
    assert _differing(y, classes) == slow_differing(y, classes) > 0
    y[rng.uniform(size=y.shape) < 0.4] = np.nan
    assert _differing(y, classes) == slow_differing(y, classes)


@pytest.mark.parametrize(
    ("kind", "metric"),
    [("multiclass", "accuracy"), ("binary", "rocauc"), ("regression", "rmse"), ("regression", "mae")],
)
def test_no_function_of_the_classes_beats_the_ceiling(kind, metric):
    rng = np.random.default_rng(0)
    classes = np.concatenate((np.arange(9), rng.integers(0, 9, 41)))
    y = rng.normal(size=(50, 1)) if kind == "regression" else rng.integers(0, 2, (50, 1)).astype(float)
    y[::11] = np.nan
    task = Task(kind, num_classes=2 if kind == "multiclass" else 0, metric=metric)
    best, sign = ceiling(task, y, classes), 1 if task.higher_is_better else -1
    tries = []
    for _ in range(3000):
        values = rng.integers(0, 2, 9) if kind == "multiclass" else rng.normal(size=9)
        tries.append(sign * score(metric, y, values[classes][:, None].astype(float)))
    assert max(tries) <= sign * best + 1e-12
    # The best of many tries comes near, so the ceiling is not too high either.
    assert max(tries) >= sign * best - 0.35


def test_the_ceiling_by_hand():
    classes = np.array([0, 0, 0, 1])
    labels = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert ceiling(Task("multiclass", num_classes=2), labels, classes) == 0.75
    assert ceiling(Task("binary"), labels, classes) == pytest.approx(0.75)
    assert ceiling(Task("regression"), labels, classes) == pytest.approx(np.sqrt((2 * (1 / 3) ** 2 + (2 / 3) ** 2) / 4))
    assert ceiling(Task("regression", metric="mae"), labels, classes) == pytest.approx(0.25)


def test_more_features_tell_more_graphs_apart():
    store = random_store(num_graphs=300, seed=4, node_sizes=(2,), edge_sizes=(2,), num_dim=1)
    found = find_lookalikes(Dataset("toys", store, Origin("own")))
    assert [view.sees for view in found] == ["structure", "node labels", "node and edge labels", "all features"]
    pairs = [view.pairs for view in found]
    assert pairs == sorted(pairs, reverse=True) and pairs[0] > pairs[1] > pairs[2]
    for view in found:
        assert view.classes <= view.graphs == 300 and view.differing <= view.pairs
        assert 0.5 <= view.ceiling <= 1


def test_without_labels_there_is_no_ceiling():
    store = replace(random_store(num_graphs=20), y=None, task=Task("none", num_tasks=0))
    found = find_lookalikes(Dataset("toys", store, Origin("own")))
    assert [(view.differing, view.ceiling) for view in found] == [(None, None)]


def test_mutag(data_dir):
    """With structure alone, as in the published runs, a few graphs of MUTAG cannot be told apart."""
    structure, nodes, edges = find_lookalikes(load_dataset("MUTAG", data_dir=data_dir))
    assert (structure.alike, structure.pairs, structure.differing) == (79, 86, 13)
    assert structure.ceiling == pytest.approx(182 / 188)
    assert nodes.alike == 24 and nodes.ceiling == 1 and edges.alike == 0
