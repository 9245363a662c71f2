"""The supervised protocol: parts without overlap, blindness to test labels, resume, Records."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from adgcl.core.errors import DataError
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.graphs.store.batch import cut_batch
from adgcl.graphs.store.store import GraphStore
from adgcl.protocols import fold_training
from adgcl.protocols.base import make_protocol
from adgcl.protocols.finished_run import FinishedRunConfig
from adgcl.protocols.fold_training import HEAD, KeptBatches, part_scores
from adgcl.protocols.metrics import score
from adgcl.protocols.parts import fold_parts
from adgcl.protocols.probes.checks import check_labelled
from adgcl.protocols.probes.folds import cross_validation, fold_seed
from adgcl.protocols.recording import make_record, published_figure
from adgcl.protocols.selection import Evaluation, select
from adgcl.protocols.supervised import SupervisedProtocolConfig
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import build_method
from tests.evaluation_cases import Listener, evaluated, run_seed
from tests.graph_cases import random_store

SPLIT = {"train": np.arange(24), "valid": np.arange(24, 32), "test": np.arange(32, 40)}
STRICT = SupervisedProtocolConfig(mode="strict", evaluate_every=2, num_folds=3)
PUBLISHED = STRICT.model_copy(update={"mode": "as_published"})
MODES = [STRICT, PUBLISHED]


def dataset(split=None, y=None, task=None, name="toy"):
    store = random_store(num_graphs=40, seed=3)
    if y is not None:
        store = store.with_labels(np.asarray(y, dtype=np.float64).reshape(40, -1), task)
    return Dataset(name, store, Origin("tu"), split=split)


def config(**training):
    return resolve(
        {
            "method": "supervised",
            "encoder": {"hidden_dim": 6, "num_layers": 2},
            "training": {"epochs": 4, "batch_size": 10, "device": "cpu", **training},
        }
    )


def by_mode(protocol):
    return protocol.mode


@pytest.mark.parametrize("protocol", MODES, ids=by_mode)
def test_folds_are_those_of_the_probes(protocol):
    data = dataset()
    parts = fold_parts(data, protocol.mode, 7, 3)
    probes = cross_validation(
        check_labelled(np.zeros((40, 1)), data.store.y, data.task), protocol.mode, fold_seed(7, protocol.mode), 3
    )
    assert [list(p.test) for p in parts] == [list(np.flatnonzero(mask)) for mask in probes.test]
    assert sorted(np.concatenate([p.test for p in parts])) == list(range(40))
    for part in parts:
        assert sorted(np.concatenate(part)) == list(range(40))  # no graph has two roles
        assert len(part.valid) == pytest.approx(0.2 * (len(part.train) + len(part.valid)), abs=1)


def test_a_split_of_its_own_is_one_fold_without_unlabelled_graphs():
    y = np.arange(40) % 2.0
    y[[0, 25, 39]] = np.nan
    (part,) = fold_parts(dataset(SPLIT, y, Task("binary")), "strict", 0, 10)
    assert list(part.train) == list(range(1, 24))
    assert list(part.valid) == [24, *range(26, 32)]
    assert list(part.test) == list(range(32, 39))


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.arange(40) % 3, Task("multiclass", num_classes=3)),
        (np.arange(40) % 2, Task("binary")),
        (np.arange(40) % 2, Task("binary", metric="accuracy")),
        (np.arange(40) ** 1.5, Task("regression", metric="mae")),
    ],
    ids=["classes", "rocauc", "binary-accuracy", "mae"],
)
def test_scores_are_the_tasks_metric(y, task):
    data = dataset(SPLIT, y, task)
    method = build_method(config(), data.store.spec, task)
    valid, test = part_scores(method, data.store, (SPLIT["valid"], SPLIT["test"]))
    outputs = method.predict(data.store.batch(SPLIT["test"])).double().numpy()
    if task.kind == "multiclass":
        outputs = np.array([[max(range(3), key=lambda c: row[c])] for row in outputs])
    elif task.metric == "accuracy":
        outputs = np.round(1 / (1 + np.exp(-outputs)))
    assert test == pytest.approx(score(task.metric, data.store.y[SPLIT["test"]], outputs))
    assert valid >= 0


def test_batches_are_made_once_while_they_are_small(monkeypatch):
    store, made = dataset().store, []
    monkeypatch.setattr(GraphStore, "batch", lambda self, ids: made.append(len(ids)) or cut_batch(self, ids))
    few, many = np.arange(2), np.arange(2, 40)
    monkeypatch.setattr(fold_training, "_KEPT_EDGES", int(store.edge_counts[:2].sum()))
    batches = KeptBatches(store)
    for _ in range(3):
        assert batches(few).num_graphs == 2 and batches(many).num_graphs == 38
    assert made == [2, 38, 38, 38]


@pytest.mark.parametrize("protocol", MODES, ids=by_mode)
def test_test_labels_reach_neither_weights_nor_the_choice_of_epoch(protocol, tmp_path):
    y = np.random.default_rng(0).normal(size=40)
    spoiled = y.copy()
    spoiled[SPLIT["test"]] = 1e3 * spoiled[SPLIT["test"][::-1]]
    runs, weights = [], []
    for i, labels in enumerate((y, spoiled)):
        data = dataset(SPLIT, labels, Task("regression"))
        runs.append(run_seed(data, config(), protocol, folder=tmp_path / str(i)))
        weights.append(load_checkpoint(RunFolder(tmp_path / str(i) / "fold-0").checkpoint).tensors)
    torch.testing.assert_close(weights[0], weights[1], rtol=0, atol=0)
    chosen = [run.selected(HEAD, protocol.mode, higher_is_better=False) for run in runs]
    assert chosen[0].epochs == chosen[1].epochs
    assert chosen[0].valid == chosen[1].valid
    assert chosen[0].test != chosen[1].test


def test_validation_labels_reach_no_weight(tmp_path):
    weights = []
    for i, sign in enumerate((1, -1)):
        y = np.sin(np.arange(40.0))
        y[SPLIT["valid"]] *= sign
        run_seed(dataset(SPLIT, y, Task("regression")), config(), STRICT, folder=tmp_path / str(i))
        weights.append(load_checkpoint(RunFolder(tmp_path / str(i) / "fold-0").checkpoint).tensors)
    torch.testing.assert_close(weights[0], weights[1], rtol=0, atol=0)


def test_every_fold_has_a_fresh_model_of_its_own(tmp_path):
    run_seed(dataset(), config(epochs=0), STRICT, folder=tmp_path)
    heads = [
        load_checkpoint(RunFolder(tmp_path / f"fold-{k}").checkpoint).tensors["network/head.weight"] for k in "012"
    ]
    assert not torch.equal(heads[0], heads[1])
    assert not torch.equal(heads[1], heads[2])


def test_an_interrupted_seed_trains_no_finished_fold_again_and_ends_the_same(tmp_path, monkeypatch):
    """Stopped in the middle of the second fold, with a checkpoint after every epoch, as dropout makes noise matter."""
    noisy = config(checkpoint_seconds=0.0).model_copy(
        update={"encoder": config().encoder.model_copy(update={"dropout": 0.5})}
    )
    whole = run_seed(dataset(), noisy, STRICT, folder=tmp_path / "whole")
    scored = []

    def dies_late(*arguments):
        scored.append(len(scored))
        if len(scored) == 4:
            raise KeyboardInterrupt
        return part_scores(*arguments)

    monkeypatch.setattr(fold_training, "part_scores", dies_late)
    with pytest.raises(KeyboardInterrupt):
        run_seed(dataset(), noisy, STRICT, folder=tmp_path / "parts")
    parts = run_seed(dataset(), noisy, STRICT, folder=tmp_path / "parts")
    assert parts.evaluations == whole.evaluations
    assert parts.training == whole.training
    assert len(scored) == 4 + 3  # two evaluations a fold: the second one's last, and the third fold's
    for k in range(3):
        files = [(tmp_path / name / f"fold-{k}" / "checkpoint.safetensors").read_bytes() for name in ("whole", "parts")]
        assert files[0] == files[1]
    assert run_seed(dataset(), noisy, STRICT, folder=tmp_path / "parts") == parts
    assert len(scored) == 7


def test_a_record_is_made_of_the_head_alone(tmp_path):
    listener = Listener()
    (record,) = evaluated(dataset(), config(), STRICT, [0, 1], work=tmp_path, watcher=listener)
    assert (record.protocol, record.probe, record.metric) == ("supervised", "head", "accuracy")
    assert "probes" not in record.config["protocol"]
    assert len(record.runs[0]["folds"]) == len(record.runs[0]["epochs"]) == 3
    json.dumps(record.to_json(), allow_nan=False)
    # Progress runs over all folds and reaches its end once, at the end of the last one.
    first = [report for seed, report in listener.heard if seed == 0]
    assert [m.done for m in first] == sorted(m.done for m in first)
    assert first[0].total >= 4 * 2 * 3
    assert [m.done == m.total for m in first].count(True) == 1
    assert first[-1].done == first[-1].total


def test_published_mode_chooses_one_epoch_for_all_folds():
    (record,) = evaluated(dataset(), config(), PUBLISHED, [0])
    assert len(record.runs[0]["epochs"]) == 1
    assert len(record.runs[0]["folds"]) == 3


def test_the_papers_figure_stands_beside_the_head_and_no_probe():
    mutag = dataset(name="MUTAG")
    protocol = make_protocol(STRICT)
    assert published_figure(protocol, mutag, "supervised", HEAD)["method"] == "F-GIN"
    esol = dataset(name="ogbg-molesol")
    assert published_figure(protocol, esol, "supervised", HEAD)["table"] == "table1-ogb"
    finished = make_protocol(FinishedRunConfig(num_folds=3))
    seed = finished.judge_seed(np.random.default_rng(0).normal(size=(40, 3)), mutag, 0)
    record = make_record(finished, mutag, config(), "linear", [seed])
    assert record.published is None
    assert "trained with labels" in record.notes[0]


def test_one_class_in_training_is_a_result_not_a_crash():
    y = np.zeros(40)
    y[[24, 28, 32, 36]] = 1
    for task in (Task("multiclass", num_classes=2), Task("binary")):
        (record,) = evaluated(dataset(SPLIT, y, task), config(), STRICT, [0])
        assert 0 <= record.mean <= 100


def test_folds_without_a_score_are_left_out():
    """Three positives in 40 graphs, folds at random: some parts have one class, and no ROC-AUC."""
    y = np.zeros(40)
    y[:3] = 1
    ten = PUBLISHED.model_copy(update={"num_folds": 10})
    (record,) = evaluated(dataset(None, y, Task("binary")), config(epochs=1), ten, [0])
    folds = record.runs[0]["folds"]
    assert None in folds
    assert record.mean == pytest.approx(np.mean([f for f in folds if f is not None]), abs=1e-4)
    json.dumps(record.to_json(), allow_nan=False)


def test_labels_that_cannot_be_scored_are_refused_before_training():
    y = np.zeros(40)
    y[0] = 1
    with pytest.raises(DataError, match="ROC-AUC is undefined"):
        fold_parts(dataset(SPLIT, y, Task("binary")), "strict", 0, 10)
    with pytest.raises(DataError, match="no labels"):
        fold_parts(dataset(None, np.zeros(40), Task("none", num_tasks=0)), "strict", 0, 10)


def test_undefined_scores_survive_json_and_selection():
    nan = float("nan")
    history = [
        Evaluation(2, HEAD, 0.5, 0.6, (0.5, nan), (0.6, nan), ()),
        Evaluation(4, HEAD, 0.7, 0.4, (0.7, nan), (0.4, nan), ()),
    ]
    text = json.dumps([e.to_json() for e in history], allow_nan=False)
    again = [Evaluation.from_json(tree) for tree in json.loads(text)]
    chosen = select(again, "strict", higher_is_better=True)
    assert (chosen.test, chosen.valid) == (0.4, 0.7)
    assert np.isnan(chosen.test_folds[1])
