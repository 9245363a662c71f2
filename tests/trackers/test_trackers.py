"""Trackers: TensorBoard's files read back; wandb, trackio and mlflow by stand-ins with their interface."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from adgcl.cli.main import main
from adgcl.core.errors import ConfigError
from adgcl.core.extras import MissingExtraError
from adgcl.trackers.base import TRACKERS, Curves, make_trackers
from adgcl.training.run_config import resolve
from adgcl.training.trackers import StepReport
from tests.cli.conftest import SMALL, write_molecules, write_tu

SETTINGS = {"method": {"name": "adgcl", "gate": {"hard": False}}, "training": {"seed": 3}}


def follow(tracker: Curves, first: int = 1, last: int = 2, steps: int = 4) -> None:
    """A run of some epochs, from the first of them on."""
    tracker.start(last, steps, (first - 1) * steps)
    for epoch in range(first, last + 1):
        for step in range(1, steps + 1):
            tracker.step(StepReport(epoch, last, step, steps, 8, {"loss": 1 / (epoch * step)}))
        tracker.epoch({"epoch": epoch, "loss": 1.0 / epoch, "advice": "drop less", "bad": float("nan")})
        tracker.evaluated(epoch, {"linear": 0.5 + epoch / 10})
    tracker.stop()


def scalars(folder: Path) -> dict[str, dict[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder))
    found.Reload()
    return {tag: {e.step: e.value for e in found.Scalars(tag)} for tag in found.Tags()["scalars"]}


def test_tensorboard_files_read_back(tmp_path: Path):
    (tracker,) = make_trackers(["tensorboard"], tmp_path, SETTINGS)
    follow(tracker)
    found = scalars(tmp_path / "tensorboard")
    assert found["step/loss"] == pytest.approx({e * 4 - 4 + s: 1 / (e * s) for e in (1, 2) for s in (1, 2, 3, 4)})
    assert found["epoch/loss"] == pytest.approx({4: 1.0, 8: 0.5})
    assert found["valid/linear"] == pytest.approx({4: 0.6, 8: 0.7})
    assert set(found) == {"step/loss", "epoch/loss", "epoch/epoch", "valid/linear"}, "neither text nor NaN"


def test_a_resumed_run_continues_its_curves(tmp_path: Path):
    for first, last in ((1, 3), (3, 4)):  # the third epoch was lost, and is trained again
        (tracker,) = make_trackers(["tensorboard"], tmp_path, SETTINGS)
        follow(tracker, first, last)
    assert scalars(tmp_path / "tensorboard")["epoch/loss"] == pytest.approx({4: 1.0, 8: 0.5, 12: 1 / 3, 16: 0.25})


def test_long_epochs_have_few_points(tmp_path: Path):
    kept: list[int] = []

    class Kept(Curves):
        def open(self, done: int) -> None: ...
        def log(self, numbers: Any, step: int) -> None:
            kept.append(step)

        def close(self) -> None: ...

    tracker = Kept(tmp_path, "run", {})
    tracker.start(1, 1000, 0)
    for step in range(1, 1001):
        tracker.step(StepReport(1, 1, step, 1000, 8, {"loss": 0.0}))
    assert len(kept) == 20


class FakeRun:
    """The part of a run of Weights & Biases that is used."""

    def __init__(self, **given: Any) -> None:
        self.given, self.logged, self.finished = given, [], False

    def log(self, data: dict[str, Any], step: int | None = None) -> None:
        assert not self.finished
        self.logged.append((step, data))

    def finish(self) -> None:
        self.finished = True


def fake_wandb(monkeypatch: pytest.MonkeyPatch, name: str) -> list[FakeRun]:
    runs: list[FakeRun] = []
    module = ModuleType(name)

    def init(**given: Any) -> FakeRun:
        print("a greeting on stdout")
        runs.append(FakeRun(**given))
        return runs[-1]

    module.init = init  # type: ignore[attr-defined]
    module.finish = lambda: runs[-1].finish()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, name, module)
    return runs


def test_wandb_is_offline_unless_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any):
    monkeypatch.delenv("WANDB_MODE", raising=False)
    runs = fake_wandb(monkeypatch, "wandb")
    for _ in range(2):
        follow(*make_trackers(["wandb"], tmp_path / "runs" / "mine", SETTINGS))
    given = runs[0].given
    assert (given["mode"], given["project"], given["name"]) == ("offline", "adgcl", "runs/mine")
    assert given["config"] == SETTINGS and given["resume"] == "allow" and runs[0].finished
    assert given["id"] == runs[1].given["id"], "a resumed run finds its curves"
    assert (4, {"valid/linear": 0.6}) in runs[0].logged and capfd.readouterr().out == ""
    monkeypatch.setenv("WANDB_MODE", "online")
    follow(*make_trackers(["wandb"], tmp_path / "other", SETTINGS))
    assert runs[2].given["mode"] == "online" and runs[2].given["id"] != given["id"]


def test_trackio_has_the_same_interface(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    runs = fake_wandb(monkeypatch, "trackio")
    follow(*make_trackers(["trackio"], tmp_path / "runs" / "mine", SETTINGS))
    known = {"project", "name", "config", "resume"}
    assert set(runs[0].given) == known and len(runs[0].logged) == 8 + 2 + 2 and runs[0].finished


class FakeMLflow(ModuleType):
    """The part of MLflow that is used."""

    def __init__(self) -> None:
        super().__init__("mlflow")
        self.calls: list[tuple[Any, ...]] = []

    def set_experiment(self, experiment_name: str) -> None:
        self.calls.append(("experiment", experiment_name))

    def start_run(self, run_id: str | None = None, run_name: str | None = None) -> Any:
        self.calls.append(("start", run_id, run_name))
        return SimpleNamespace(info=SimpleNamespace(run_id=run_id or "abc"))

    def log_params(self, params: dict[str, Any]) -> None:
        self.calls.append(("params", params))

    def log_metrics(self, metrics: dict[str, float], step: int | None = None, run_id: str | None = None) -> None:
        self.calls.append(("metrics", metrics, step, run_id))

    def end_run(self) -> None:
        self.calls.append(("end",))


def test_mlflow_keeps_settings_and_curves_and_continues_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake = FakeMLflow()
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    follow(*make_trackers(["mlflow"], tmp_path / "runs" / "mine", SETTINGS))
    assert fake.calls[:2] == [("experiment", "adgcl"), ("start", None, "runs/mine")]
    assert fake.calls[2] == ("params", {"method.name": "adgcl", "method.gate.hard": "False", "training.seed": "3"})
    assert ("metrics", {"valid/linear": 0.6}, 4, "abc") in fake.calls and fake.calls[-1] == ("end",)
    follow(*make_trackers(["mlflow"], tmp_path / "runs" / "mine", SETTINGS), first=2)
    assert ("start", "abc", None) in fake.calls and sum(call[0] == "params" for call in fake.calls) == 1


def test_a_tracker_that_breaks_ends_its_curves_and_not_the_run(tmp_path: Path, capfd: Any):
    class Broken(Curves):
        name = "broken"

        def open(self, done: int) -> None: ...
        def log(self, numbers: Any, step: int) -> None:
            raise ConnectionError("the network is gone")

        def close(self) -> None:
            raise AssertionError("it was given up")

    follow(Broken(tmp_path, "run", {}))
    assert capfd.readouterr().err.count("the network is gone") == 1


@pytest.mark.parametrize("name", sorted(TRACKERS))
def test_what_is_not_installed_says_which_extra_brings_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=f"needs the package {name}") as caught:
        make_trackers([name], tmp_path, {})
    assert f"adgcl[{name}]" in str(caught.value.hint)


def test_unknown_names_are_errors_and_settings_stay_the_same():
    with pytest.raises(ConfigError, match="no tracker called 'tensorbord'"):
        resolve({"training": {"trackers": ["tensorbord"]}})
    with_one = resolve({}, ["training.trackers=tensorboard"])
    assert with_one.training.trackers == ("tensorboard",) and with_one.essence() == resolve({}).essence()


def test_commands_that_train_keep_curves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "packed"))
    molecules, toys = write_molecules(tmp_path / "m.csv"), write_tu(tmp_path / "TOYS")
    quick = ("--epochs", "2", *SMALL, "--quiet", "--tracker", "tensorboard")
    assert main(["pretrain", str(molecules), "--out", "run", *quick]) == 0
    assert set(scalars(tmp_path / "run/tensorboard")["epoch/loss"]) == {1, 2}
    words = ["evaluate", str(toys), "--seeds", "1", "--jobs", "1", "--set", "num_folds=2", "--set", "evaluate_every=1"]
    capfd.readouterr()
    assert main([*words, *quick, "--json"]) == 0
    record = json.loads(capfd.readouterr().out)["records"][0]
    (events,) = Path("runs").glob("*/seed-0/tensorboard")
    kept = scalars(events)["valid/linear"]
    assert [round(100 * value, 3) for value in kept.values()] == pytest.approx(
        [round(value, 3) for value in record["runs"][0]["course"]["valid"]], abs=1e-3
    )
    assert not list(Path().rglob("*test*")), "test scores are nobody's curve"
