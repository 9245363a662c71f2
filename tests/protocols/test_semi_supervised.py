"""Learning from few labels: what chooses the epoch, what a Record says, and what needs no network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.methods.supervised import Supervised
from adgcl.protocols.probes import probe_parts
from adgcl.protocols.recording import make_record
from adgcl.protocols.selection import Evaluation, select
from adgcl.protocols.semi_supervised import SemiSupervised, SemiSupervisedConfig
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.start import encoder_weights
from adgcl.training.trainer import Trainer
from tests.graph_cases import random_store


def dataset(count: int = 90) -> Dataset:
    return Dataset("toy", random_store(num_graphs=count, seed=3), Origin("own"))


def config(method: str = "supervised", **training: Any) -> Any:
    training = {"epochs": 3, "batch_size": 16, "device": "cpu", **training}
    return resolve({"method": method, "encoder": {"name": "resgcn", "hidden_dim": 6}, "training": training})


def protocol(mode: str, **settings: Any) -> SemiSupervised:
    return SemiSupervised(SemiSupervisedConfig(**{"mode": mode, "label_rate": 0.5, "num_folds": 3, **settings}))


def test_as_published_the_test_folds_choose_and_the_record_says_so():
    made = protocol("as_published")
    run = made.run_seed(dataset(), config())
    assert all(e.valid_folds == e.test_folds for e in run.evaluations)
    chosen = made.select(run, "head", True)
    assert chosen.test == max(e.test for e in run.evaluations)
    record = make_record(made, dataset(), config(), "head", [run])
    assert any(note.startswith("Leaky:") for note in record.notes)
    assert SemiSupervised.describe(record) == "50 % of labels, epoch chosen on test folds (leaky)"
    assert any("Spread over the folds" in note for note in record.notes)
    json.dumps(record.to_json(), allow_nan=False)


def test_strict_the_validation_fold_chooses_for_each_fold():
    made = protocol("strict")
    run = made.run_seed(dataset(), config())
    assert any(e.valid_folds != e.test_folds for e in run.evaluations)
    chosen = made.select(run, "head", True)
    for fold, epoch in enumerate(chosen.epochs):
        valid = [e.valid_folds[fold] for e in run.evaluations]
        assert valid[epoch - 1] == max(valid) and chosen.test_folds[fold] == run.evaluations[epoch - 1].test_folds[fold]
    record = make_record(made, dataset(), config(), "head", [run, made.run_seed(dataset(), config(seed=1))])
    assert not any(note.startswith("Leaky:") for note in record.notes)
    folds = [np.std(row["folds"], ddof=1) for row in record.runs]
    assert f"± {np.mean(folds):.4g}" in record.notes[-1] and record.std is not None


def start(tmp_path: Path) -> str:
    Trainer(config("adgcl", epochs=1), dataset().store, folder=RunFolder(tmp_path / "start")).fit()
    return str(tmp_path / "start")


def first_state(folder: Path, fold: int) -> tuple[Any, Any, int]:
    checkpoint = load_checkpoint(RunFolder(folder / f"fold-{fold}").checkpoint)
    tensors = checkpoint.tensors
    return tensors["network/head.weight"], encoder_weights(tensors), checkpoint.config.training.seed


@pytest.mark.parametrize(("shared", "started"), [(True, True), (False, True), (True, False)])
def test_folds_share_the_untrained_head_only_of_a_checkpoint(tmp_path, shared, started):
    made = protocol("as_published", shared_head=shared)
    run = config(epochs=0, start_from=start(tmp_path) if started else "")
    for seed in (0, 1):
        made.run_seed(dataset(), run.with_training(seed=seed), folder=tmp_path / str(seed))
    states = [first_state(tmp_path / str(seed), fold) for seed in (0, 1) for fold in range(3)]
    same = [torch.equal(states[0][0], head) for head, _, _ in states[1:]]
    assert same == [shared and started] * 2 + [False] * 3, "another seed has another head"
    weights = [torch.cat([value.flatten().double() for value in encoder.values()]) for _, encoder, _ in states]
    assert all(torch.equal(weights[0], other) for other in weights[1:]) == started
    assert len({seed for *_, seed in states}) == 6, "the order of graphs and the noise stay those of each fold"


def test_a_record_names_the_class_that_some_fold_could_not_learn():
    y = np.r_[np.zeros(45), np.ones(44), 2.0][:, None]
    data = Dataset("toy", dataset().store.with_labels(y, Task("multiclass", num_classes=3)), Origin("own"))
    made = protocol("strict", label_rate=1.0)
    record = make_record(made, data, config(epochs=1), "head", [made.run_seed(data, config(epochs=1))])
    assert "Class 2 has 1 labelled graph: no label of it was shown in 2 of 3 folds." in record.notes


def test_published_figures_stand_only_beside_the_published_rate():
    assert protocol("as_published", label_rate=0.1).comparable and not protocol("as_published").comparable


def test_few_labels_that_choose_no_epoch_leave_it_to_the_last():
    made = protocol("strict", validation="labels", label_rate=0.2)
    run = made.run_seed(dataset(), config())
    assert all(np.isnan(e.valid) for e in run.evaluations)
    assert set(made.select(run, "head", True).epochs) == {3}
    none, some = (np.nan, np.nan), (0.5, 0.7)
    evaluations = [Evaluation(1, "head", 0.0, 0.0, (a, none[0]), (0.1, 0.2), ()) for a in some]
    assert select(evaluations, "strict", True).epochs == (1, 1)
    assert select(evaluations, "strict", True).test_folds == (0.1, 0.2)


@pytest.mark.parametrize("mode", ["as_published", "strict"])
def test_what_is_computed_gets_a_probe_on_the_same_labels(mode):
    made = protocol(mode)
    run = made.run_seed(dataset(), config("statistics", epochs=0))
    (evaluation,) = run.evaluations
    assert len(evaluation.test_folds) == 3 and 0 <= evaluation.test <= 1
    # Estimates learn from ratios to this: nothing may be thought to take no time at all.
    assert made.seconds(config("statistics", epochs=0), dataset().store) > 1e-3
    record = make_record(made, dataset(), config("statistics", epochs=0), "head", [run])
    assert not any("Leaky" in note for note in record.notes) and record.method == "statistics"
    assert "(leaky)" not in SemiSupervised.describe(record)


def test_the_probe_is_scikit_learns_with_the_penalty_that_inner_folds_choose():
    random = np.random.default_rng(0)
    x = random.normal(size=(120, 5))
    y = (x @ random.normal(size=5) + random.normal(size=120) > 0).astype(float)
    train, test = np.arange(60), np.arange(60, 120)
    found = probe_parts(x, y, Task("binary", metric="rocauc"), [(train, test)], seed=0)
    scaled = (x - x[train].mean(0)) / x[train].std(0)
    model = LogisticRegression(C=found.chosen[0], max_iter=5000).fit(scaled[train], y[train])
    score = model.decision_function(scaled[test])
    better = (score[y[test] == 1][:, None] > score[y[test] == 0]).mean()
    assert found.test == pytest.approx(better, abs=2e-3)


def test_two_labels_are_enough_for_a_probe():
    x = np.r_[np.zeros((5, 2)), np.ones((5, 2))]
    y = np.r_[np.zeros(5), np.ones(5)]
    found = probe_parts(x, y, Task("multiclass", num_classes=2), [(np.array([0, 9]), np.arange(1, 9))], seed=0)
    assert found.test == 1.0


def test_a_last_batch_of_one_graph_joins_the_one_before():
    store = random_store(num_graphs=17, seed=3)
    sizes: dict[bool, list[int]] = {True: [], False: []}
    for merged, seen in sizes.items():
        trainer = Trainer(config(epochs=1, merge_single=merged), store)
        step = trainer._step
        trainer._step = lambda ids, epoch, seen=seen, step=step: (seen.append(len(ids)), step(ids, epoch))  # type: ignore[method-assign]
        trainer.fit()
    assert sizes == {True: [17], False: [16, 1]}
    assert Trainer(config(epochs=1, merge_single=True), store.select([0])).steps == 1


def test_augmented_copies_count_as_much_as_their_originals():
    store = random_store(num_graphs=8, seed=3)
    run = config("ss_gcn_a")
    run = run.model_copy(update={"method": run.method.model_copy(update={"pool": ("identity",)})})
    trainer = Trainer(run, store)
    assert isinstance(trainer.method, Supervised)
    batch = store.batch(np.arange(8))
    plain = Supervised.label_loss(trainer.method, batch, batch.y, torch.Generator())
    torch.testing.assert_close(trainer.method.label_loss(batch, batch.y, torch.Generator()), plain)
    changed = Trainer(config("ss_gcn_a"), store).method.label_loss(batch, batch.y, torch.Generator())
    assert not torch.isclose(changed, plain)
