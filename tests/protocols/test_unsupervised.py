"""The unsupervised protocol: selection, resume, many processes, Records."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adgcl.core.errors import DataError
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.experiments.presets import preset_for, presets
from adgcl.protocols import unsupervised
from adgcl.protocols.base import PROTOCOLS, make_protocol
from adgcl.protocols.recording import published_figure
from adgcl.protocols.selection import Evaluation, select
from adgcl.protocols.unsupervised import UnsupervisedConfig, judge
from adgcl.training.run_config import resolve
from tests.evaluation_cases import Listener, evaluated, run_seed
from tests.graph_cases import random_store


def evaluation(epoch, valid, test):
    mean = (float(np.mean(valid)), float(np.mean(test)))
    return Evaluation(epoch, "linear", *mean, tuple(valid), tuple(test), ())


HISTORY = [
    evaluation(5, [0.9, 0.1], [0.5, 0.6]),
    evaluation(10, [0.2, 0.7], [0.7, 0.8]),
    evaluation(15, [0.5, 0.5], [0, 0]),
]


def test_published_selection_takes_one_epoch_for_all_folds():
    chosen = select(HISTORY, "as_published", higher_is_better=True)
    assert (chosen.epochs, chosen.test) == ((5,), pytest.approx(0.55))


def test_strict_selection_never_looks_beyond_its_fold():
    chosen = select(HISTORY, "strict", higher_is_better=True)
    assert chosen.epochs == (5, 10)
    assert chosen.test_folds == (0.5, 0.8)
    assert chosen.valid == pytest.approx(0.8)


def test_strict_selection_is_blind_to_test_scores():
    """Whatever happens to the test scores, the same epochs are chosen."""
    worse = [evaluation(e.epoch, e.valid_folds, [1 - t for t in e.test_folds]) for e in HISTORY]
    assert select(worse, "strict", True).epochs == select(HISTORY, "strict", True).epochs


def test_errors_are_minimised():
    history = [evaluation(1, [2.0], [1.0]), evaluation(2, [1.0], [3.0])]
    assert select(history, "strict", higher_is_better=False).epochs == (2,)


def test_the_svm_probe_judges_at_its_own_epochs():
    protocol = UnsupervisedConfig(probes=("linear", "svm"), evaluate_every=5, svm_epochs=(20,))
    asked = {epoch: protocol.probes_at(epoch, epochs=27) for epoch in (3, 5, 20, 27)}
    assert asked == {3: (), 5: ("linear",), 20: ("linear", "svm"), 27: ("linear", "svm")}


def dataset(**changes):
    store = random_store(num_graphs=40, seed=3)
    return Dataset("toy", store, Origin("tu"), **changes)


def config(**training):
    return resolve(
        {
            "encoder": {"hidden_dim": 6, "num_layers": 2},
            "training": {"epochs": 4, "batch_size": 20, "device": "cpu", "checkpoint_seconds": 0.0, **training},
        }
    )


PROTOCOL = UnsupervisedConfig(mode="strict", evaluate_every=2, num_folds=3)


def test_modes_differ_in_their_folds_over_epochs():
    embedding = np.random.default_rng(0).normal(size=(40, 5))
    strict = [judge(embedding, dataset(), PROTOCOL, 0, epoch)[0].test_folds for epoch in (2, 4)]
    assert strict[0] == strict[1]
    published = PROTOCOL.model_copy(update={"mode": "as_published"})
    drawn = [judge(embedding, dataset(), published, 0, epoch)[0].test_folds for epoch in range(2, 12)]
    assert len(set(drawn)) > 1


def test_a_set_without_labels_says_what_to_do():
    data = dataset()
    data = data.with_store(data.store.with_labels(None, Task("none", num_tasks=0)))
    with pytest.raises(DataError, match="no labels") as caught:
        judge(np.zeros((40, 2)), data, PROTOCOL, 0)
    assert "adgcl embed" in caught.value.hint


def test_an_interrupted_seed_goes_on_and_ends_the_same(tmp_path, monkeypatch):
    whole = run_seed(dataset(), config(), PROTOCOL, folder=tmp_path / "whole")
    judged = []

    def fails_late(*arguments, **named):
        judged.append(arguments[-1])
        if arguments[-1] == 4 and len(judged) == 2:
            raise KeyboardInterrupt
        return original(*arguments, **named)

    original = unsupervised.judge
    monkeypatch.setattr(unsupervised, "judge", fails_late)
    with pytest.raises(KeyboardInterrupt):
        run_seed(dataset(), config(), PROTOCOL, folder=tmp_path / "parts")
    parts = run_seed(dataset(), config(), PROTOCOL, folder=tmp_path / "parts")
    assert parts.evaluations == whole.evaluations
    assert judged == [2, 4, 4]
    again = run_seed(dataset(), config(), PROTOCOL, folder=tmp_path / "parts")
    assert again == parts
    assert judged == [2, 4, 4]  # a finished seed is not run again


def test_processes_give_the_numbers_of_one_process(tmp_path):
    alone = evaluated(dataset(), config(), PROTOCOL, [0, 1, 2], jobs=1)
    listener = Listener()
    together = evaluated(dataset(), config(), PROTOCOL, [0, 1, 2], jobs=2, work=tmp_path, watcher=listener)
    assert together[0].values == alone[0].values
    assert {seed for seed, _ in listener.heard} == {0, 1, 2}
    record = together[0]
    assert record.mean == pytest.approx(np.mean(record.values))
    assert record.std == pytest.approx(np.std(record.values, ddof=1), abs=1e-6)
    json.dumps(record.to_json(), allow_nan=False)


def test_a_record_keeps_the_course_that_the_epoch_was_chosen_from():
    record, svm = evaluated(
        dataset(), config(), PROTOCOL.model_copy(update={"mode": "as_published", "probes": ("linear", "svm")}), [0]
    )
    (run,) = record.runs
    course, best = run["course"], int(np.argmax(run["course"]["valid"]))
    assert course["epochs"] == [2, 4]
    assert (course["epochs"][best], course["valid"][best], course["test"][best]) == (
        *run["epochs"],
        run["valid"],
        run["test"],
    )
    assert svm.runs[0]["course"]["test"] != course["test"]


def test_published_figures_are_found_by_probe():
    mutag = Dataset("MUTAG", random_store(), Origin("tu"))
    protocol = make_protocol(PROTOCOL)
    assert published_figure(protocol, mutag, "adgcl", "linear")["table"] == "table1-tu"
    assert published_figure(protocol, mutag, "adgcl", "svm")["table"] == "table-svm"
    assert published_figure(protocol, mutag, "unheard-of", "linear") is None
    assert published_figure(protocol, dataset(), "adgcl", "linear") is None


def test_every_preset_resolves():
    for name, preset in presets().items():
        # Named after its method, or after a base that is.
        rows = {row.rsplit("-", 1)[0] for row in (name, preset.base)}
        assert resolve(preset.settings).method.name in rows
        PROTOCOLS[preset.judged_by].Config(**preset.protocol)


def test_presets_follow_the_family_and_the_mode():
    tu = dataset()
    assert preset_for("adgcl", tu).settings_for(tu, "as_published")["data"]["features"] == "constant"
    assert preset_for("adgcl", tu).settings_for(tu, "strict")["data"]["features"] == "auto"
    molecules = Dataset("mine.csv", random_store(), Origin("smiles"))
    assert preset_for("adgcl", molecules).settings["encoder"]["hidden_dim"] == 300
    for data in (molecules, tu):
        untrained = preset_for("random_init", data).settings
        assert untrained["method"] == {"name": "random_init"} and untrained["training"]["epochs"] == 0
