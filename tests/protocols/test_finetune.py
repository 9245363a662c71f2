"""The fine-tuning protocol: where it starts, which epoch counts, when it stops, and what its Records say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from adgcl.core.errors import ConfigError
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset, Origin
from adgcl.experiments.jobs import Job
from adgcl.experiments.planning import Plan, Request, plan
from adgcl.experiments.source import LoadedSource, Source
from adgcl.protocols.base import make_protocol
from adgcl.protocols.finetune import FinetuneConfig
from adgcl.protocols.fold_training import HEAD, Course
from adgcl.protocols.identity import identity_of
from adgcl.protocols.selection import Evaluation
from adgcl.training.checkpoints import load_checkpoint
from adgcl.training.run_config import RunConfig, resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.start import checksum, encoder_weights
from adgcl.training.trainer import Trainer
from tests.evaluation_cases import evaluated, run_seed
from tests.graph_cases import random_store

SPLIT = {"train": np.arange(24), "valid": np.arange(24, 32), "test": np.arange(32, 40)}
ENCODER = {"hidden_dim": 6, "num_layers": 2}


def dataset(split: Any = SPLIT) -> Dataset:
    store = random_store(num_graphs=40, seed=3)
    y = np.random.default_rng(0).normal(size=(40, 2))
    y[::3, 0] = np.nan
    return Dataset("toy", store.with_labels(y, Task("regression", 2)), Origin("tu"), split=split)


def config(**training: Any) -> RunConfig:
    training = {"epochs": 4, "batch_size": 10, "device": "cpu", "checkpoint_seconds": 0, **training}
    return resolve({"method": "supervised", "encoder": ENCODER, "training": training})


def pretrained(folder: Path, seed: int = 0) -> str:
    training = {"epochs": 1, "batch_size": 10, "device": "cpu", "seed": seed}
    run = resolve({"method": "adgcl", "encoder": ENCODER, "training": training})
    Trainer(
        run, random_store(num_graphs=20, seed=1), folder=RunFolder(folder), data={"name": "corpus", "graphs": 20}
    ).fit()
    return str(folder)


def test_it_starts_from_the_trained_encoder_and_its_record_says_so(tmp_path: Path) -> None:
    start = pretrained(tmp_path / "pre")
    weights = encoder_weights(load_checkpoint(RunFolder(tmp_path / "pre").checkpoint).tensors)
    run_seed(dataset(), config(epochs=0, start_from=start), FinetuneConfig(), folder=tmp_path / "seed")
    begun = encoder_weights(load_checkpoint(RunFolder(tmp_path / "seed" / "fold-0").checkpoint).tensors)
    torch.testing.assert_close(begun, weights, rtol=0, atol=0)
    (record,) = evaluated(dataset(), config(epochs=1, start_from=start), FinetuneConfig(), [0])
    assert record.method == "adgcl", "a table of transfer has a row for each way of pre-training"
    origin = {"checksum": checksum(weights), "method": "adgcl", "epochs": 1, "data": "corpus", "graphs": 20}
    assert record.config["started_from"] == origin
    assert "AD-GCL, 1 epoch on corpus (20 graphs)" in record.notes[0] and origin["checksum"][:12] in record.notes[0]
    (scratch,) = evaluated(dataset(), config(epochs=1), FinetuneConfig(), [0])
    assert scratch.method == "no_pretrain" and "No pre-training" in scratch.notes[0]
    assert identity_of(scratch) != identity_of(record) and scratch.file_name != record.file_name
    json.dumps(record.to_json(), allow_nan=False)


def test_an_encoder_is_known_by_its_weights_and_not_by_its_place(tmp_path: Path) -> None:
    starts = [pretrained(tmp_path / "here"), pretrained(tmp_path / "there"), pretrained(tmp_path / "other", seed=1)]
    data = LoadedSource.of(Source(dataset()))
    requests = [Plan(config(start_from=start), FinetuneConfig()).request for start in starts]
    folders = [Job(request, data, 0, tmp_path / "work").folder for request in requests]
    assert folders[0] == folders[1] != folders[2]


def test_encoder_settings_come_from_where_it_starts(tmp_path: Path) -> None:
    start = pretrained(tmp_path / "pre")
    flags = {"training": {"start_from": start}, "protocol": {"name": "finetune"}}
    planned = plan(dataset(), Request("supervised", flags=flags))
    assert (planned.run.encoder.hidden_dim, planned.run.encoder.num_layers) == (6, 2)
    wider = plan(dataset(), Request("supervised", flags={**flags, "encoder": {"hidden_dim": 9}}))
    assert wider.run.encoder.hidden_dim == 9, "what the user says wins, and the Trainer will object"


def test_methods_without_labels_are_refused() -> None:
    with pytest.raises(ConfigError, match="learns without") as caught:
        plan(dataset(), Request("adgcl", flags={"protocol": {"name": "finetune"}}))
    assert "start_from=RUN" in (caught.value.hint or "")


def test_the_rule_says_which_epoch_counts_and_shares_the_work(tmp_path: Path) -> None:
    best, last = FinetuneConfig(), FinetuneConfig(rule="last_epoch")
    (chosen,) = evaluated(dataset(), config(), best, [0], work=tmp_path)
    (final,) = evaluated(dataset(), config(), last, [0], work=tmp_path)
    assert len(list(tmp_path.glob("toy-*"))) == 1, "the same training serves both rules"
    course = chosen.runs[0]["course"]
    assert final.runs[0]["epochs"] == [4] and final.mean == course["test"][-1]
    place = int(np.argmin(course["valid"]))
    assert chosen.runs[0]["epochs"] == [course["epochs"][place]] and chosen.mean == course["test"][place]
    assert "last epoch" in make_protocol(last).describe(final) and "best" in make_protocol(best).describe(chosen)


def test_test_labels_reach_neither_weights_nor_the_choice(tmp_path: Path) -> None:
    spoiled = dataset()
    assert spoiled.store.y is not None
    spoiled.store.y[SPLIT["test"]] *= -100
    runs = [run_seed(data, config(), FinetuneConfig(patience=2)) for data in (dataset(), spoiled)]
    assert [e.valid for e in runs[0].evaluations] == [e.valid for e in runs[1].evaluations]
    chosen = [make_protocol(FinetuneConfig()).select(run, HEAD, False) for run in runs]
    assert chosen[0].epochs == chosen[1].epochs and chosen[0].test != chosen[1].test


def evaluation(epoch: int, valid: float) -> Evaluation:
    return Evaluation(epoch, HEAD, valid, 0.0, (valid,), (0.0,), ())


def test_patience() -> None:
    course, scores = Course(patience=2), [0.5, 0.7, 0.6, 0.7]
    history = [evaluation(i + 1, score) for i, score in enumerate(scores)]
    assert [course.is_over(history[: i + 1], True) for i in range(4)] == [False, False, False, True]
    assert course.counting(history, True).epoch == 2, "a tie goes to the earlier epoch"
    assert Course(rule="last_epoch").counting(history, True).epoch == 4
    assert course.counting([evaluation(1, np.nan), evaluation(2, np.nan)], True).epoch == 2


def test_a_seed_stops_early_and_does_so_again_after_an_interruption(tmp_path: Path) -> None:
    eager = config(epochs=60)
    impatient = FinetuneConfig(patience=3, num_folds=3)
    run = run_seed(dataset(None), eager, impatient, folder=tmp_path / "a")
    assert run.evaluations[-1].epoch < 60
    lengths = [len((tmp_path / "a" / f"fold-{k}" / "evaluations.jsonl").read_text().splitlines()) for k in range(3)]
    assert max(lengths) == len(run.evaluations)
    # Killed after the last epoch, before the result was written: nothing is trained further.
    (tmp_path / "a" / "result.json").unlink()
    (tmp_path / "a" / "fold-2" / "result.json").unlink()
    again = run_seed(dataset(None), eager, impatient, folder=tmp_path / "a")
    assert again.evaluations == run.evaluations
