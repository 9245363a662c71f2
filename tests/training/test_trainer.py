"""Training: resume, interruption, bad losses, devices, metrics."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from adgcl.core import files
from adgcl.core.errors import CheckpointError, ConfigError, Interrupted, OutputError, TrainingError
from adgcl.training import checkpoints
from adgcl.training.device import pick_device
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.runs import load_run
from adgcl.training.trainer import Trainer
from tests.graph_cases import random_store

STORE = random_store(num_graphs=20, seed=2)


def config(**training):
    return resolve(
        {
            "encoder": {"hidden_dim": 8, "num_layers": 2, "dropout": 0.2},
            "training": {"epochs": 4, "batch_size": 6, "device": "cpu", "checkpoint_seconds": 0.0, **training},
        }
    )


def train(folder, resume=False, **training):
    return Trainer(config(**training), STORE, folder=RunFolder(folder), resume=resume)


def test_resume_equals_an_uninterrupted_run(tmp_path):
    train(tmp_path / "whole").fit()
    train(tmp_path / "parts", epochs=1).fit()
    train(tmp_path / "parts", resume=True, epochs=3).fit()
    train(tmp_path / "parts", resume=True).fit()
    whole, parts = ((tmp_path / n / "checkpoint.safetensors").read_bytes() for n in ("whole", "parts"))
    assert whole == parts
    rows = [json.loads(line) for line in (tmp_path / "parts" / "metrics.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4]


WORKER = """
import sys
from pathlib import Path
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer
from tests.graph_cases import random_store
config = resolve({"encoder": {"hidden_dim": 8, "num_layers": 2, "dropout": 0.1},
                  "training": {"epochs": 60, "batch_size": 4, "device": "cpu", "threads": 1,
                               "checkpoint_seconds": 0.0}})
folder = RunFolder(Path(sys.argv[1]))
print("ready", flush=True)
Trainer(config, random_store(num_graphs=20, seed=2), folder=folder, resume=True).fit()
"""


def _start(folder):
    process = subprocess.Popen([sys.executable, "-c", WORKER, str(folder)], stdout=subprocess.PIPE)
    process.stdout.readline()
    return process


def test_kill_9_three_times_gives_the_same_bytes(tmp_path):
    """Killed at random moments, also in the middle of an epoch or of writing a checkpoint."""
    whole = _start(tmp_path / "whole")
    assert whole.wait() == 0
    moments = random.Random(time.time_ns())
    for _ in range(3):
        process = _start(tmp_path / "killed")
        path = tmp_path / "killed" / "checkpoint.safetensors"
        while not path.exists():
            time.sleep(0.01)
        time.sleep(moments.uniform(0.0, 0.6))
        process.kill()
        process.wait()
    progress = checkpoints.load_checkpoint(path).position
    assert _start(tmp_path / "killed").wait() == 0
    final = [(tmp_path / n / "checkpoint.safetensors").read_bytes() for n in ("whole", "killed")]
    assert final[0] == final[1], f"differs after resuming from {progress}"


def test_ctrl_c_saves_and_says_how_to_resume(tmp_path):
    trainer = train(tmp_path / "run", epochs=50)

    class Impatient:
        def start(self, epochs, steps, done): ...
        def epoch(self, row): ...
        def stop(self): ...

        def step(self, report):
            if (report.epoch, report.step) == (2, 3):
                os.kill(os.getpid(), signal.SIGINT)

    trainer.trackers = [Impatient()]
    with pytest.raises(Interrupted) as caught:
        trainer.fit()
    assert "--resume" in caught.value.hint
    saved = checkpoints.load_checkpoint(tmp_path / "run" / "checkpoint.safetensors").position
    assert (saved.epoch, saved.step) == (1, 3)
    train(tmp_path / "run", resume=True, epochs=4).fit()
    train(tmp_path / "whole").fit()
    resumed, whole = (checkpoints.load_checkpoint(tmp_path / n / "checkpoint.safetensors") for n in ("run", "whole"))
    torch.testing.assert_close(resumed.tensors, whole.tensors, rtol=0, atol=0)


def test_the_rate_of_a_resumed_epoch_is_that_of_what_was_left_of_it(tmp_path, monkeypatch):
    """Steps of 6, 6, 6 and 2 graphs take a second each; the first two are done when the run stops."""
    seconds = iter(range(1000))

    class Clock:
        def start(self, epochs, steps, done): ...
        def epoch(self, row): ...
        def stop(self): ...

        def step(self, report):
            clock.now = next(seconds)
            if (report.epoch, report.step, clock.stops) == (2, 2, True):
                os.kill(os.getpid(), signal.SIGINT)

    clock = Clock()
    clock.now, clock.stops = next(seconds), True
    monkeypatch.setattr("adgcl.training.trainer.time.monotonic", lambda: clock.now)
    for clock.stops in (True, False):
        trainer = train(tmp_path / "run", resume=not clock.stops, epochs=2)
        trainer.trackers = [clock]
        with pytest.raises(Interrupted) if clock.stops else contextlib.nullcontext():
            trainer.fit()
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [(row["seconds"], row["graphs_per_second"]) for row in rows] == [(4.0, 5.0), (5.0, 4.0)]


def test_ctrl_c_in_the_last_evaluation_stops_what_comes_next(tmp_path):
    """Otherwise the next fold or seed would begin. The finished training is kept."""
    with pytest.raises(Interrupted):
        train(tmp_path / "run").fit(lambda epoch: os.kill(os.getpid(), signal.SIGINT) if epoch == 4 else None)
    train(tmp_path / "whole").fit()
    stopped, whole = (checkpoints.load_checkpoint(tmp_path / n / "checkpoint.safetensors") for n in ("run", "whole"))
    assert stopped.position == whole.position
    torch.testing.assert_close(stopped.tensors, whole.tensors, rtol=0, atol=0)
    train(tmp_path / "run", resume=True).fit()


def test_a_loss_that_is_not_finite_stops_and_keeps_the_last_good_state(tmp_path, monkeypatch):
    trainer = train(tmp_path)
    original = trainer._take_step

    def poisoned(batch, generator):
        metrics = original(batch, generator)
        return {"loss": torch.tensor(float("nan"))} if trainer.position.epoch == 2 else metrics

    monkeypatch.setattr(trainer, "_take_step", poisoned)
    with pytest.raises(TrainingError, match="epoch 3") as caught:
        trainer.fit()
    assert "last good state" in caught.value.hint
    saved = checkpoints.load_checkpoint(tmp_path / "checkpoint.safetensors")
    assert saved.position.epoch == 2
    assert all(torch.isfinite(t).all() for n, t in saved.tensors.items() if n.startswith("network"))


def test_a_full_disk_is_explained_and_loses_nothing(tmp_path, monkeypatch):
    trainer = train(tmp_path, epochs=1)
    trainer.fit()
    before = (tmp_path / "checkpoint.safetensors").read_bytes()

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_write", full)
    with pytest.raises(OutputError, match="No space left") as caught:
        train(tmp_path, resume=True, epochs=2).fit()
    assert "disk is full" in caught.value.hint
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before
    assert not list(tmp_path.glob("*.part")) and not list(tmp_path.glob(".*.part"))


def test_a_run_is_not_overwritten_by_accident(tmp_path):
    train(tmp_path, epochs=1).fit()
    with pytest.raises(OutputError, match="already holds a run"):
        train(tmp_path)


def test_resuming_with_other_settings_is_refused(tmp_path):
    train(tmp_path, epochs=1).fit()
    with pytest.raises(CheckpointError, match="other settings"):
        train(tmp_path, resume=True, batch_size=7)


@pytest.mark.parametrize("damage", ["missing", "garbage", "cut", "version", "foreign"])
def test_wrong_checkpoints_are_named(tmp_path, damage):
    from safetensors.torch import save_file

    train(tmp_path, epochs=1).fit()
    path = tmp_path / "checkpoint.safetensors"
    if damage == "missing":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"not a checkpoint at all")
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "version":
        save_file({"a": torch.zeros(1)}, path, metadata={"adgcl": json.dumps({"format": "adgcl-checkpoint-0"})})
    else:
        save_file({"a": torch.zeros(1)}, path)
    with pytest.raises(CheckpointError) as caught:
        load_run(tmp_path)
    assert caught.value.hint


def test_every_graph_is_seen_once_an_epoch():
    trainer = Trainer(config(), STORE)
    orders = [trainer._order(epoch) for epoch in (1, 2)]
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), np.arange(20))
    assert not np.array_equal(*orders)


def test_devices_are_checked():
    assert pick_device("cpu").type == "cpu"
    with pytest.raises(ConfigError, match="no device"):
        pick_device("abacus")
    if not torch.cuda.is_available():
        with pytest.raises(ConfigError, match="no cuda"):
            pick_device("cuda")


def test_metrics_are_means_over_graphs(tmp_path):
    trainer = train(tmp_path, epochs=1)
    seen = []
    step = trainer._step

    def watched(ids, epoch):
        step(ids, epoch)
        seen.append((len(ids), trainer._tally.latest["loss"]))

    trainer._step = watched
    trainer.fit()
    row = json.loads((tmp_path / "metrics.jsonl").read_text())
    assert row["loss"] == pytest.approx(sum(n * v for n, v in seen) / 20)
    assert [n for n, _ in seen] == [6, 6, 6, 2]


SHORT_RUN = """
import sys
from pathlib import Path
from adgcl.training.run_config import resolve
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer
from tests.graph_cases import random_store
Trainer(resolve({"training": {"epochs": 1}}), random_store(), folder=RunFolder(Path(sys.argv[1]))).fit()
resumed = Trainer(
    resolve({"training": {"epochs": 2}}), random_store(), folder=RunFolder(Path(sys.argv[1])), resume=True
).fit()
print(*(name for name in sys.modules if name in ("torch._dynamo", "torch._inductor", "sympy")))
"""


def test_training_does_not_wait_for_a_compiler_it_never_uses(tmp_path):
    """torch loads its compiler when an optimiser is made: two seconds in every process."""
    done = subprocess.run(
        [sys.executable, "-c", SHORT_RUN, str(tmp_path / "run")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_snapshots_are_the_networks_after_their_epochs(tmp_path):
    train(tmp_path / "kept", snapshots=[2, 4]).fit()
    train(tmp_path / "short", epochs=2).fit()
    # A run that is resumed with snapshots is still the same run.
    train(tmp_path / "later", epochs=2).fit()
    train(tmp_path / "later", resume=True, snapshots=[4]).fit()
    kept, short, later = (RunFolder(tmp_path / name) for name in ("kept", "short", "later"))
    assert sorted(path.name for path in kept.snapshot(1).parent.iterdir()) == [kept.snapshot(e).name for e in (2, 4)]
    pairs = [
        (kept.snapshot(2), short.checkpoint),
        (kept.snapshot(4), kept.checkpoint),
        (later.snapshot(4), kept.checkpoint),
    ]
    for snapshot, checkpoint in pairs:
        ours, theirs = checkpoints.load_checkpoint(snapshot), checkpoints.load_checkpoint(checkpoint)
        networks = {name: value for name, value in theirs.tensors.items() if name.startswith("network/")}
        assert ours.position.epoch == theirs.position.epoch and set(ours.tensors) == set(networks)
        assert all(torch.equal(ours.tensors[name], networks[name]) for name in networks)


def test_a_resumed_run_keeps_its_number_of_threads(tmp_path):
    before = torch.get_num_threads()
    try:
        train(tmp_path, epochs=1, threads=2).fit()
        resumed = train(tmp_path, epochs=2, threads=1, resume=True)
        assert torch.get_num_threads() == 2 and "2 threads" in resumed.remark
        resumed.fit()
        saved = checkpoints.load_checkpoint(tmp_path / "checkpoint.safetensors")
        assert saved.data["threads"] == 2
        assert train(tmp_path, epochs=2, threads=2, resume=True).remark == ""
    finally:
        torch.set_num_threads(before)
