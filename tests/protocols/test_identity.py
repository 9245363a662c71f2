"""Work of an earlier version keeps counting when a setting is added, and never counts for other settings."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from adgcl.core.config import HARMLESS
from adgcl.core.errors import CheckpointError
from adgcl.experiments.evaluation import Work, evaluate
from adgcl.experiments.jobs import Job
from adgcl.experiments.planning import Request
from adgcl.experiments.pretraining import pretrain
from adgcl.experiments.source import LoadedSource, Source
from adgcl.graphs.store.fingerprint import fingerprint
from adgcl.methods.adgcl import ADGCL, ADGCLConfig
from adgcl.protocols import identity
from adgcl.protocols.record_folder import current, keep
from adgcl.protocols.unsupervised import Unsupervised, UnsupervisedConfig
from adgcl.training import run_config
from adgcl.training.run_config import TrainingConfig
from tests.cli.conftest import write_tu
from tests.record_cases import a_record

SMALL = ("encoder.hidden_dim=8", "encoder.num_layers=2", "training.epochs=2", "num_folds=2", "evaluate_every=1")
REQUEST = Request("adgcl", assignments=SMALL)


class LaterTraining(TrainingConfig):
    warmup: int = Field(0, description="a setting that did not exist before")


class LaterMethod(ADGCLConfig):
    margin: float = Field(0.0, description="a setting that did not exist before")


class LaterProtocol(UnsupervisedConfig):
    repeats: int = Field(1, description="a setting that did not exist before")


SECTIONS = ("training.warmup", "method.margin", "protocol.repeats")


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "packed"))
    return Source(str(write_tu(tmp_path / "TOYS")))


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call it to be in a version with one more setting in three sections."""

    def grow() -> None:
        monkeypatch.setattr(run_config, "TrainingConfig", LaterTraining)
        monkeypatch.setattr(ADGCL, "Config", LaterMethod)
        monkeypatch.setattr(Unsupervised, "Config", LaterProtocol)
        identity._record_identity.cache_clear()

    yield grow
    identity._record_identity.cache_clear()


def job(source: Source, work: Path, *assignments: str) -> Job:
    return Job(Request("adgcl", assignments=(*SMALL, *assignments)), LoadedSource.of(source), 0, work)


def test_seeds_still_count_after_a_setting_is_added(toys, tmp_path, later):
    evaluate(toys, REQUEST, [0], Work(tmp_path / "runs", jobs=1))
    later()
    assert job(toys, tmp_path / "runs").result() is not None
    for key in SECTIONS:
        assert job(toys, tmp_path / "runs", f"{key}=3").result() is None, key


def test_records_of_both_versions_are_one_cell(toys, tmp_path, later):
    (old,) = evaluate(toys, REQUEST, [0], Work(tmp_path / "runs", jobs=1)).records
    keep(old, tmp_path / "results")
    later()
    (new,) = evaluate(toys, REQUEST, [0, 1], Work(tmp_path / "runs", jobs=1)).records
    assert "warmup" in new.config["training"] and "warmup" not in old.config["training"]
    assert identity.identity_of(old) == identity.identity_of(new)
    assert current([new, old]) == [new]
    place = keep(new, tmp_path / "results")
    assert list((tmp_path / "results").glob("*.json")) == [place], "the poorer Record is gone"
    other = Request("adgcl", assignments=(*SMALL, "training.warmup=3"))
    (third,) = evaluate(toys, other, [0], Work(tmp_path / "runs", jobs=1)).records
    assert identity.identity_of(third) != identity.identity_of(new)


def test_a_run_of_the_earlier_version_resumes_and_other_settings_are_refused(toys, tmp_path, later):
    folder = tmp_path / "run"
    pretrain(toys, folder, Request("adgcl", assignments=(*SMALL, "training.epochs=1")))
    later()
    longer = Request("adgcl", assignments=("training.epochs=2",))
    done = pretrain(toys, folder, longer, resume=True)
    assert (done.started_at, done.run.training.epochs) == (1, 2)
    for wrong in ("training.warmup=3", "reg_lambda=3"):
        with pytest.raises(CheckpointError, match=f"other settings .*{wrong.partition('=')[0]}: .* -> 3"):
            pretrain(toys, folder, Request("adgcl", assignments=(wrong,)), resume=True)


def test_a_finished_run_refuses_other_settings_too(toys, tmp_path):
    pretrain(toys, tmp_path / "run", Request("adgcl", assignments=SMALL))
    with pytest.raises(CheckpointError, match=r"method\.reg_lambda: 5\.0 -> 3\.0"):
        pretrain(toys, tmp_path / "run", Request("adgcl", assignments=(*SMALL, "reg_lambda=3")), resume=True)
    assert pretrain(toys, tmp_path / "run", Request("adgcl", assignments=SMALL), resume=True).finished_before


def test_folders_that_version_0_3_0_made_are_found(toys, tmp_path):
    """They are named by a digest of all settings, and do not say how their seeds were evaluated."""
    work = tmp_path / "runs"
    mine = job(toys, work)
    evaluate(toys, REQUEST, [0], Work(work, jobs=1))
    run, judging = mine.plan.run.to_tree(), mine.plan.judging.model_dump(mode="json")
    config = json.loads((mine.folder / "config.json").read_text())
    for later_setting in ("start_from", "step"):
        run["training"].pop(later_setting)
        config["training"].pop(later_setting)
    (mine.folder / "config.json").write_text(json.dumps(config))
    for harmless in ("seed", "threads", "checkpoint_seconds", "device"):
        run["training"].pop(harmless)
    judging.pop("name")
    text = json.dumps([run, judging, fingerprint(mine.dataset.store)], sort_keys=True)
    old = work / f"TOYS-adgcl-strict-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    (mine.folder.parent / "settings.json").unlink()
    mine.folder.parent.rename(old)
    assert job(toys, work).folder.parent == old and job(toys, work).result() is not None
    assert job(toys, work, "evaluate_every=2").result() is None, "other settings of the protocol"
    assert job(toys, work, "reg_lambda=1").result() is None


def test_data_divided_otherwise_is_other_work(toys, tmp_path):
    """The same graphs and settings: only the user's word says that the test part is another."""
    plain, divided = job(toys, tmp_path), job(replace(toys, split="random"), tmp_path)
    assert plain.folder != divided.folder
    record = a_record()
    other = replace(record, data={**record.data, "split": "random"})
    assert identity.identity_of(record) != identity.identity_of(other) and record.file_name != other.file_name


def test_harmless_settings_make_no_difference(toys, tmp_path):
    harmless = (
        "threads=2", "checkpoint_seconds=1", "device=cpu", "step=plain", "snapshots=[1]", "trackers=tensorboard",
    )  # fmt: skip
    plain, other = job(toys, tmp_path), job(toys, tmp_path, *harmless)
    assert plain.folder == other.folder
    fields = TrainingConfig.model_fields
    assert {name for name, field in fields.items() if field.json_schema_extra == HARMLESS} == {
        "device", "threads", "checkpoint_seconds", "step", "snapshots", "trackers",
    }  # fmt: skip


def test_a_linear_score_does_not_depend_on_the_epochs_of_the_svm(toys, tmp_path):
    linear = evaluate(toys, REQUEST, [0], Work(tmp_path, jobs=1)).records[0]
    both = Request("adgcl", assignments=(*SMALL, 'probes=["linear", "svm"]', "svm_epochs=[2]"))
    same, svm = evaluate(toys, both, [0], Work(tmp_path, jobs=1)).records
    assert identity.identity_of(same) == identity.identity_of(linear) and same.values == linear.values
    every = Request("adgcl", assignments=(*SMALL, 'probes=["svm"]'))
    (other,) = evaluate(toys, every, [0], Work(tmp_path, jobs=1)).records
    assert identity.identity_of(other) != identity.identity_of(svm)


def test_a_record_of_a_method_that_is_not_here_is_compared_as_it_stands(toys, tmp_path):
    from dataclasses import replace

    (record,) = evaluate(toys, REQUEST, [0], Work(tmp_path, jobs=1)).records
    foreign = replace(record, config={**record.config, "method": {"name": "elsewhere", "x": 1}})
    changed = replace(record, config={**record.config, "method": {"name": "elsewhere", "x": 2}})
    assert identity.identity_of(foreign) == identity.identity_of(replace(foreign, seeds=[5]))
    assert identity.identity_of(foreign) != identity.identity_of(changed)
