"""What every protocol must satisfy, whoever wrote it: the suite runs over the registry."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from adgcl.core.errors import AdgclError, DataError
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.methods.base import METHODS
from adgcl.protocols.base import PROTOCOLS, Protocol
from adgcl.protocols.recording import make_records
from adgcl.protocols.seed_run import SeedRun
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.trackers import StepReport
from tests.evaluation_cases import evaluated
from tests.graph_cases import random_store

TRAINING = [name for name in PROTOCOLS if PROTOCOLS[name].trains]
EVALUATING = [name for name in PROTOCOLS if PROTOCOLS[name].evaluates]


def dataset(labels: bool = True) -> Dataset:
    store = random_store(num_graphs=40, seed=3)
    return Dataset("toy", store if labels else store.with_labels(None, Task("none", num_tasks=0)), Origin("tu"))


def run_for(name: str, seed: int = 0) -> RunConfig:
    """A small run of a method that the protocol can evaluate."""
    method = next((m for m in METHODS if name in (METHODS[m].protocol, *METHODS[m].other_protocols)), "adgcl")
    training = {"epochs": 3, "batch_size": 10, "device": "cpu", "seed": seed, "checkpoint_seconds": 0}
    return resolve({"method": method, "encoder": {"hidden_dim": 6, "num_layers": 2}, "training": training})


def protocol(name: str, mode: str = "strict") -> Protocol:
    kind = PROTOCOLS[name]
    quick = {"evaluate_every": 1, "num_folds": 3, "label_rate": 0.5}
    known = {key: value for key, value in quick.items() if key in kind.Config.model_fields}
    return kind(kind.Config(mode=mode, **known))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_it_says_what_it_is(name: str) -> None:
    kind = PROTOCOLS[name]
    assert kind.name == name and kind.title and kind.Config().name == name
    assert all(field.description for key, field in kind.Config.model_fields.items() if key != "name")
    made = protocol(name)
    assert bool(made.scores) == kind.evaluates and made.seconds(run_for(name), dataset().store) > 0
    assert set(made.essence()) >= {"name", "mode"}
    for score in made.scores:
        assert set(made.essence(score)) <= set(made.essence())


@pytest.mark.parametrize("mode", ["as_published", "strict"])
@pytest.mark.parametrize("name", [name for name in TRAINING if name in EVALUATING])
def test_a_seed_gives_every_score_and_the_same_numbers_again(name: str, mode: str) -> None:
    made = protocol(name, mode)
    first, second = (made.run_seed(dataset(), run_for(name)) for _ in range(2))
    assert {e.probe for e in first.evaluations} == set(made.scores)
    assert first.evaluations == second.evaluations and first.seed == 0
    other = made.run_seed(dataset(), run_for(name, seed=1))
    assert other.evaluations != first.evaluations
    for record in make_records(made, dataset(), run_for(name), [first, other]):
        assert record.protocol == name and record.mode == mode and record.seeds == [0, 1]
        assert record.mean == pytest.approx(np.mean(record.values), abs=1e-5)
        assert PROTOCOLS[name].describe(record)
        json.dumps(record.to_json(), allow_nan=False)


class _Interrupting:
    """A Tracker that stops the run once, in the middle."""

    def __init__(self, at: int) -> None:
        self.at, self.seen = at, 0

    def start(self, epochs: int, steps: int, done: int) -> None: ...

    def step(self, report: StepReport) -> None:
        self.seen += 1
        if self.seen == self.at:
            raise KeyboardInterrupt

    def epoch(self, row: object) -> None: ...

    def stop(self) -> None: ...


@pytest.mark.parametrize("name", TRAINING)
def test_an_interrupted_seed_ends_like_one_that_was_not(name: str, tmp_path: Path) -> None:
    made = protocol(name)
    whole = made.run_seed(dataset(), run_for(name), folder=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        made.run_seed(dataset(), run_for(name), folder=tmp_path / "parts", trackers=[_Interrupting(6)])
    parts = made.run_seed(dataset(), run_for(name), folder=tmp_path / "parts")
    assert parts.evaluations == whole.evaluations and parts.training == whole.training
    assert SeedRun.load(tmp_path / "parts") == parts, "a finished seed is kept"
    assert made.run_seed(dataset(), run_for(name), folder=tmp_path / "parts") == parts, "and only read again"


@pytest.mark.parametrize("name", EVALUATING)
def test_data_without_labels_is_refused_before_training(name: str) -> None:
    with pytest.raises(DataError, match="no labels"):
        protocol(name).check_data(dataset(labels=False))


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if not PROTOCOLS[name].evaluates])
def test_one_that_evaluates_nothing_is_no_way_to_evaluate(name: str) -> None:
    with pytest.raises(AdgclError, match="evaluates nothing"):
        evaluated(dataset(), run_for(name), protocol(name).config, [0])


@pytest.mark.parametrize("name", [name for name in TRAINING if name in EVALUATING])
def test_it_runs_as_a_job(name: str, tmp_path: Path) -> None:
    made = protocol(name)
    records = evaluated(dataset(), run_for(name), made.config, [0, 1], work=tmp_path)
    assert [record.probe for record in records] == list(made.scores)


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if not PROTOCOLS[name].trains])
def test_one_that_trains_nothing_says_what_to_do(name: str) -> None:
    with pytest.raises(AdgclError) as caught:
        protocol(name).run_seed(dataset(), run_for(name))
    assert "adgcl evaluate RUN DATA" in (caught.value.hint or "")
