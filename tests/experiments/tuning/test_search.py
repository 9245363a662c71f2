"""A search: as many trials as asked for, each once, whoever dies; validation data alone decides."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adgcl.core.errors import AdgclError, ConfigError, Interrupted
from adgcl.core.locks import locked_file
from adgcl.experiments.planning import Request, plan
from adgcl.experiments.source import Source
from adgcl.experiments.tuning import trials as trial_module
from adgcl.experiments.tuning.choice import best_of, final_scores, importance, rows_of, settings_file
from adgcl.experiments.tuning.running import run_search
from adgcl.experiments.tuning.search import Search, open_search
from adgcl.experiments.tuning.storage import StorageError, open_storage, public_address
from adgcl.experiments.tuning.trials import News, run_trials
from adgcl.protocols.unsupervised import Unsupervised
from tests.experiments.tuning.conftest import Wanted


def states(search: Search) -> list[str]:
    return [trial.state.name for trial in search.trials]


def silent(news: News) -> None:
    pass


def test_it_makes_as_many_trials_as_asked_for_and_more_later(wanted: Wanted):
    search = open_search(wanted(trials=2))
    run_search(search, jobs=1)
    assert states(search) == ["COMPLETE"] * 2
    again = open_search(wanted(trials=4))
    run_search(again, jobs=1)
    assert states(again) == ["COMPLETE"] * 4
    values = [tuple(trial.params.values()) for trial in again.trials]
    assert len(set(values)) == 4 and values[0] == (5.0, 0.001), "the first has the settings of the preset"
    run_search(open_search(wanted(trials=3)), jobs=1)
    assert len(again.trials) == 4, "fewer than there are adds none"


def test_one_process_tries_the_same_again(wanted: Wanted, tmp_path: Path):
    found = []
    for place in ("one", "two"):
        search = open_search(wanted(out=tmp_path / place, work=tmp_path / place / "runs", seed=3))
        run_search(search, jobs=1)
        found.append([(trial.params, trial.value) for trial in search.trials])
    assert found[0] == found[1]


def test_the_value_of_a_trial_is_its_validation_score(wanted: Wanted, monkeypatch: pytest.MonkeyPatch):
    """Test scores that would reverse every choice change nothing."""
    run_seed = Unsupervised.run_seed

    def spoiled(self: Unsupervised, *given: Any, **options: Any) -> Any:
        result = run_seed(self, *given, **options)
        return replace(
            result, evaluations=tuple(replace(e, test=1 - e.valid, test_folds=(0.0,) * 2) for e in result.evaluations)
        )

    monkeypatch.setattr(Unsupervised, "run_seed", spoiled)
    search = open_search(wanted())
    run_search(search, jobs=1)
    for trial in search.trials:
        result = search.job(trial.params).result()
        folds = np.array([e.valid_folds for e in result.evaluations]).max(0)
        assert trial.value == pytest.approx(folds.mean())
        assert max(trial.intermediate_values.values()) == pytest.approx(max(e.valid for e in result.evaluations))
    assert best_of(search).valid == max(trial.value for trial in search.trials)


def test_test_labels_do_not_reach_a_search(wanted: Wanted, toys: Path, tmp_path: Path):
    """Two data sets that differ in the labels of the test part alone lead to the same trials."""
    found = []
    for flip in (False, True):
        whole = Source(str(toys), split="random").load()
        y = whole.store.y.copy()
        if flip:
            test = whole.split["test"]
            y[test] = 1 - y[test]
        data = replace(whole, store=whole.store.with_labels(y, whole.task))
        place = tmp_path / str(flip)
        search = open_search(wanted(source=Source(data), out=place / "out", work=place / "runs"))
        run_search(search, jobs=1)
        found.append([(trial.params, trial.value) for trial in search.trials])
    assert found[0] == found[1]


def test_a_trial_whose_process_died_is_taken_up_again(wanted: Wanted):
    request = wanted(trials=2)
    dying = open_search(request)
    with dying.claimed() as (trial, values):
        number = trial.number
    # Its claim is free and it is still running, as if its process had been killed.
    assert states(dying) == ["RUNNING"]
    search = open_search(request)
    run_search(search, jobs=1)
    assert states(search) == ["COMPLETE"] * 2 and search.trials[number].params == values


def test_a_trial_that_was_killed_before_it_had_values_gets_them(wanted: Wanted):
    request = wanted(trials=1)
    search = open_search(request)
    search.study.ask()
    assert search.trials[0].params == {}
    run_search(open_search(request), jobs=1)
    assert states(search) == ["COMPLETE"] and len(search.trials[0].params) == 2


def test_a_trial_that_another_process_runs_is_waited_for(wanted: Wanted):
    request = wanted(trials=1)
    search, other = open_search(request), open_search(request)
    begun = threading.Event()

    def hold() -> None:
        with other.claimed() as (trial, _):
            begun.set()
            event.wait(20)
            other.end(trial, "COMPLETE", 0.5)

    event, thread = threading.Event(), threading.Thread(target=hold)
    thread.start()
    assert begun.wait(20)
    with search.claimed() as found:
        assert found is None and search.running() == (1, 0)
    threading.Timer(0.3, event.set).start()
    run_trials(search, silent)
    thread.join()
    assert states(search) == ["COMPLETE"] and search.trials[0].value == 0.5


def test_a_training_that_was_stopped_goes_on_where_it_was(wanted: Wanted, monkeypatch: pytest.MonkeyPatch):
    request = wanted("training.checkpoint_seconds=0", trials=1)
    search = open_search(request)
    pruning = trial_module.Pruning.evaluated

    def stop(self: Any, step: int, scores: Any) -> None:
        pruning(self, step, scores)
        if step == 2:
            raise Interrupted("Stopped.")

    monkeypatch.setattr(trial_module.Pruning, "evaluated", stop)
    with pytest.raises(Interrupted, match="Finished trials are kept"):
        run_search(search, jobs=1)
    monkeypatch.setattr(trial_module.Pruning, "evaluated", pruning)
    assert states(search) == ["RUNNING"]
    told: list[int] = []

    def listen(news: News) -> None:
        if news.report is not None and news.report.steps:
            told.append(news.report.epoch)

    run_search(open_search(request), jobs=1, on_news=listen)
    assert states(search) == ["COMPLETE"] and min(told) == 2, "the first epoch is not trained again"


def test_a_failing_trial_is_kept_with_its_reason(wanted: Wanted, monkeypatch: pytest.MonkeyPatch):
    run_seed = Unsupervised.run_seed

    def failing(self: Unsupervised, dataset: Any, run: Any, **options: Any) -> Any:
        if run.method.reg_lambda == 5.0:
            raise RuntimeError("the loss exploded\nin step 7")
        return run_seed(self, dataset, run, **options)

    monkeypatch.setattr(Unsupervised, "run_seed", failing)
    search = open_search(wanted())
    run_search(search, jobs=1)
    rows = rows_of(search)
    assert [row["status"] for row in rows] == ["failed", "finished", "finished"]
    assert rows[0]["reason"] == "RuntimeError: the loss exploded" and best_of(search).number > 0


def test_nothing_to_choose_from_is_an_error(wanted: Wanted, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Unsupervised, "run_seed", lambda *given, **options: 1 / 0)
    search = open_search(wanted(trials=1))
    run_search(search, jobs=1)
    with pytest.raises(AdgclError, match=r"No trial has finished.*ZeroDivisionError"):
        best_of(search)


def test_poor_trials_are_pruned(wanted: Wanted, monkeypatch: pytest.MonkeyPatch):
    """After five finished trials the median decides: scores here fall with the number of the trial."""
    search = open_search(wanted(trials=8))
    report, now = trial_module.Pruning.evaluated, [0]

    def falling(self: Any, step: int, scores: Any) -> None:
        now[0] += 1
        report(self, step, {"linear": 0.9 - 0.05 * self.trial.number})

    monkeypatch.setattr(trial_module.Pruning, "evaluated", falling)
    run_search(search, jobs=1)
    assert states(search) == ["COMPLETE"] * 5 + ["PRUNED"] * 3
    assert [trial.last_step for trial in search.trials[5:]] == [1] * 3 and now[0] == 5 * 2 + 3


def test_hyperband_lets_groups_compete(wanted: Wanted):
    search = open_search(wanted("training.epochs=3", trials=6, pruner="hyperband"))
    run_search(search, jobs=1)
    assert len(search.trials) == 6 and {"COMPLETE"} <= set(states(search)) <= {"COMPLETE", "PRUNED"}
    assert len({tuple(trial.params.values()) for trial in search.trials}) == 6


def test_folds_that_train_their_own_networks_are_pruned_fold_by_fold(wanted: Wanted):
    request = wanted(method="supervised", searched=("lr",), trials=1)
    search = open_search(request)
    run_search(search, jobs=1)
    assert list(search.trials[0].intermediate_values) == [1, 2], "one value for each of two folds"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"searched": ("reg_lambda",)}, "ranges.method.encoder_lr"),
        ({"searched": ("reg_lambda=1..20", "encoder_lr")}, "reg_lambda: 0.1 to 10 (log) -> 1 to 20 (log)"),
        ({"method": "nadgcl", "searched": ("drop_ratio",)}, "(method: adgcl -> nadgcl; "),
        ({"seed": 4}, "seed: 0 -> 4"),
        ({"pruner": "none"}, "pruner: median -> none"),
    ],
)
def test_another_search_is_refused_and_says_what_differs(wanted: Wanted, changes: dict, says: str):
    open_search(wanted())
    with pytest.raises(ConfigError, match="holds another search") as caught:
        open_search(wanted(**changes))
    assert says in str(caught.value)


def test_a_search_of_an_earlier_version_goes_on(wanted: Wanted):
    """It lacks settings that came later: they have their defaults. Another value still is another search."""
    search = open_search(wanted())
    known = dict(search.study.user_attrs["adgcl"])
    del known["settings"]["data"]["keep_largest_fragment"], known["settings"]["encoder"]["initial_weights"]
    search.study.set_user_attr("adgcl", known)
    assert open_search(wanted()).trials == []
    known["settings"]["encoder"]["initial_weights"] = "torch"
    search.study.set_user_attr("adgcl", known)
    with pytest.raises(ConfigError, match="initial_weights: torch -> xavier"):
        open_search(wanted())


def test_other_data_is_refused(wanted: Wanted, tmp_path: Path):
    from tests.cli.conftest import write_tu

    open_search(wanted())
    with pytest.raises(ConfigError, match=r"data.fingerprint: .*; data.name: TOYS -> OTHER"):
        open_search(wanted(data=write_tu(tmp_path / "OTHER", "OTHER", graphs=30)))
    assert open_search(wanted(study="second", data=tmp_path / "OTHER")).trials == []


@pytest.mark.parametrize(("changes", "says"), [({"trials": 0}, "at least one"), ({"pruner": "axe"}, "no pruner")])
def test_wrong_wishes(wanted: Wanted, changes: dict, says: str):
    with pytest.raises(ConfigError, match=says):
        wanted(**changes)


def test_only_strict_mode_is_searched(wanted: Wanted):
    with pytest.raises(ConfigError, match="strict mode"):
        open_search(wanted("protocol.mode=as_published"))


def test_a_database_counts_trials_of_other_places(wanted: Wanted, tmp_path: Path):
    """Two folders that know nothing of each other share a database: neither takes up what the other runs."""
    address = f"sqlite:///{tmp_path / 'trials.db'}"
    one = open_search(wanted(trials=2, storage=address))
    two = open_search(wanted(trials=2, storage=address, out=tmp_path / "elsewhere"))
    with one.claimed() as (trial, _):
        with two.claimed() as (another, _):
            assert (trial.number, another.number) == (0, 1)
            assert one.running() == two.running() == (1, 1)
        two.end(another, "COMPLETE", 0.5)
        run_trials(two, silent)  # nothing is left for it, and it does not wait for what it cannot see
        one.end(trial, "COMPLETE", 0.6)
    assert states(two) == ["COMPLETE"] * 2


def test_storages_that_cannot_be_used(tmp_path: Path):
    with pytest.raises(StorageError, match="cannot be used") as caught:
        open_storage("sqlite:////no/such/folder/at/all.db", tmp_path)
    assert "Check the address" in str(caught.value)
    (tmp_path / "journal.log").write_text("this is\nno journal\nat all\n")
    with pytest.raises(StorageError, match="damaged"):
        open_storage(str(tmp_path / "journal.log"), tmp_path)
    assert public_address("mysql://me:secret@host/db") == "mysql://me:...@host/db"


def test_a_claim_is_one_processs_alone(wanted: Wanted):
    search = open_search(wanted())
    with search.claimed() as (trial, _), pytest.raises(AdgclError):
        locked_file(search.storage.claims / f"trial-{trial.number}").__enter__()


def test_the_best_settings_lead_to_the_same_run(wanted: Wanted, toys: Path, tmp_path: Path):
    search = open_search(wanted(trials=4))
    run_search(search, jobs=1)
    best = best_of(search)
    text = settings_file(search, best)
    (tmp_path / "best.toml").write_text(text)
    read = plan(Source(str(toys)).load(), Request(config=tmp_path / "best.toml"))
    assert read.run.essence_without("seed") == best.plan.run.essence_without("seed")
    assert f"trial {best.number} of 4" in text
    assert set(importance(search)) == {"method.reg_lambda", "method.encoder_lr"} or not importance(search)


def test_the_final_score_is_about_hidden_graphs(wanted: Wanted):
    search = open_search(wanted(trials=2))
    run_search(search, jobs=1)
    records = final_scores(search, best_of(search), seeds=2, jobs=1)
    assert [record.method for record in records] == ["adgcl-tuned", "adgcl-start"]
    assert all(record.mode == "strict" and len(record.values) == 2 for record in records)
    assert f"the {search.data.test_size} graphs tested here took no part in it" in records[0].notes[-1]
    assert records[0].config["tune"]["trials"] == 2 and json.dumps(records[0].to_json())
