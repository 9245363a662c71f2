"""Judging: who predicts which graphs, what bands are fitted on, and what checks them, against a slow loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.data.splits import divided
from adgcl.experiments.model.calibration import brier, calibrate
from adgcl.experiments.model.conformal import fit_intervals
from adgcl.experiments.model.judging import judge_model
from adgcl.experiments.model.members import Roster, enrol
from adgcl.methods.supervised import Supervised
from adgcl.training.run_config import resolve
from adgcl.training.trainer import Trainer
from tests.graph_cases import random_store

COUNT = 300
ALONE = np.arange(COUNT)


def toys(kind: str) -> Dataset:
    """Graphs whose labels have little to do with them."""
    random = np.random.default_rng(0)
    y = random.normal(size=(COUNT, 1)) if kind == "regression" else random.integers(0, 2, (COUNT, 1)).astype(float)
    task = Task(kind)  # type: ignore[arg-type]
    store = random_store(num_graphs=COUNT, seed=3, node_sizes=(4,), edge_sizes=(3,)).with_labels(y, task)
    return Dataset("toys", store, Origin("own"))


def networks(dataset: Dataset, count: int) -> list[Supervised]:
    """Untrained, so that each says something else."""
    made = []
    for seed in range(count):
        settings = {
            "method": "supervised",
            "encoder": {"name": "gine", "hidden_dim": 8, "num_layers": 2},
            "training": {"device": "cpu", "seed": seed},
        }
        method = Trainer(resolve(settings), dataset.store).method
        assert isinstance(method, Supervised)
        made.append(method)
    return made


def said(member: Supervised, dataset: Dataset, graph: int) -> float:
    """What one network says about one graph."""
    answer = member.predict(dataset.store.batch(np.array([graph])))
    return float((answer.sigmoid() if dataset.task.kind == "binary" else answer).double())


def by_loop(members: Sequence[Supervised], dataset: Dataset, graphs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and spreads of all networks, graph by graph."""
    each = np.array([[said(member, dataset, graph) for member in members] for graph in graphs])
    return each.mean(axis=1), each.std(axis=1, ddof=1)


def shared(dataset: Dataset) -> tuple[Dataset, Roster]:
    dataset = divided(dataset, "random")
    return dataset, enrol(dataset, "random", 3, None)


def test_bands_of_shared_parts_come_from_validation_graphs_and_are_checked_on_test_graphs() -> None:
    dataset, roster = shared(toys("regression"))
    members = networks(dataset, 3)
    judged = judge_model(dataset, roster, members)
    part, y = roster.members[0].part, dataset.store.y
    assert y is not None
    distance = {}
    for which in ("valid", "test"):
        batch = dataset.store.batch(getattr(part, which))
        distance[which] = judged.domain.distances(members[0].embed(batch).numpy())
    mean, spread = by_loop(members, dataset, part.valid)
    bands = fit_intervals(y[part.valid, 0], mean, spread, distance["valid"], ALONE[part.valid])
    (found,) = judged.calibration["intervals"]
    assert found["by"] == bands.by and (found["floor"] or 0.0) == pytest.approx(bands.floor or 0.0, rel=1e-3)
    np.testing.assert_allclose(found["scores"], bands.scores, rtol=1e-3)
    mean, spread = by_loop(members, dataset, part.test)
    inside = np.abs(y[part.test, 0] - mean) <= bands.half_width(0.9, spread, distance["test"])
    (checked,) = judged.calibration["checked"]
    assert checked["labels"] == len(part.test)
    assert checked["coverage"] == pytest.approx(inside.mean(), abs=1e-4)


def test_with_folds_every_graph_is_judged_by_the_member_that_did_not_see_it() -> None:
    dataset = toys("binary")
    roster = enrol(dataset, None, None, 3)
    members = networks(dataset, 3)
    judged = judge_model(dataset, roster, members)
    y = dataset.store.y
    assert y is not None
    p = np.concatenate(
        [[said(m, dataset, graph) for graph in one.part.test] for m, one in zip(members, roster.members)]
    )
    ids = np.concatenate([one.part.test for one in roster.members])
    assert sorted(ids.tolist()) == list(range(COUNT))
    checked = judged.calibration["checked"]
    assert checked["brier_before"] == pytest.approx(brier(p[:, None], y[ids]), abs=1e-5)
    (all_of_them,) = calibrate(p[:, None], y[ids])
    (found,) = judged.calibration["probabilities"]
    assert found["kind"] == all_of_them.kind and found["labels"] == COUNT
    assert found["temperature"] == pytest.approx(all_of_them.temperature, rel=0.01)


def test_labels_of_the_test_part_set_nothing() -> None:
    dataset, roster = shared(toys("regression"))
    members = networks(dataset, 3)
    before = judge_model(dataset, roster, members)
    assert dataset.store.y is not None
    y = dataset.store.y.copy()
    y[roster.members[0].part.test] += 1000
    after = judge_model(dataset.with_store(dataset.store.with_labels(y, dataset.task)), roster, members)
    assert after.calibration["intervals"] == before.calibration["intervals"]
    assert after.scores["valid"] == before.scores["valid"]
    assert after.calibration["checked"][0]["coverage"] == 0.0


def test_the_domain_is_that_of_the_training_graphs() -> None:
    dataset, roster = shared(toys("regression"))
    members = networks(dataset, 3)
    judged = judge_model(dataset, roster, members)
    part = roster.members[0].part
    seen, unseen = (
        judged.domain.distances(members[0].embed(dataset.store.batch(ids)).numpy()) for ids in (part.train, part.test)
    )
    assert seen.max() < 0.05 < np.median(unseen)
