"""A protocol and an encoder of another package, one file each, go through evaluate, reproduce, Records and report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import write_tu

PROTOCOL = '''
"""Nearest neighbour: a graph gets the class of the graph whose embedding is nearest."""

import time

import numpy as np
from pydantic import Field

from adgcl.protocols.base import PROTOCOLS, Protocol, ProtocolConfig
from adgcl.protocols.parts import fold_parts, score_part
from adgcl.protocols.seed_run import SeedRun, last_metrics
from adgcl.protocols.selection import Evaluation
from adgcl.training.embedding import embed_dataset
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer


class NearestConfig(ProtocolConfig):
    name: str = "nearest"
    num_folds: int = Field(3, ge=2, description="folds where the data has no split of its own")


@PROTOCOLS.register("nearest")
class Nearest(Protocol):
    Config = NearestConfig
    title = "nearest neighbour"

    @property
    def scores(self):
        return ("1-nn",)

    @classmethod
    def describe(cls, record):
        return "nearest neighbour"

    @classmethod
    def fills(cls, table, score):
        return table.name == "table1-tu"

    def run_seed(self, dataset, run, *, folder=None, trackers=()):
        if (finished := SeedRun.load(folder)) is not None:
            return finished
        started = time.monotonic()
        files = RunFolder(folder) if folder else None
        trainer = Trainer(run, dataset.store, folder=files, trackers=trackers, resume=folder is not None)
        rows = embed_dataset(trainer.fit(), dataset)
        near = lambda ids, train: train[((rows[ids, None] - rows[train]) ** 2).sum(-1).argmin(1)]
        y, task, valid, test = dataset.store.y, dataset.task, [], []
        for part in fold_parts(dataset, self.config.mode, run.training.seed, self.config.num_folds):
            for ids, scores in ((part.valid, valid), (part.test, test)):
                scores.append(score_part(task, y[ids], y[near(ids, part.train)]))
        means = float(np.mean(valid)), float(np.mean(test))
        evaluation = Evaluation(run.training.epochs, "1-nn", *means, tuple(valid), tuple(test), ())
        result = SeedRun(run.training.seed, (evaluation,), last_metrics(trainer), time.monotonic() - started)
        result.save(folder)
        return result
'''
ENCODER = '''
"""A mean of neighbours with a setting of its own: how many hops it looks."""

import torch
from pydantic import Field
from torch import nn

from adgcl.encoders.base import ENCODERS, Encoder, EncoderConfig
from adgcl.encoders.inputs import RawInputs
from adgcl.graphs.kernels.ops import neighbour_sum


class HopsConfig(EncoderConfig):
    name: str = "hops"
    hops: int = Field(1, ge=1, le=8, description="how far a layer looks")


class HopsLayer(nn.Module):
    def __init__(self, width, config):
        super().__init__()
        self.hops, self.map = config.hops, nn.Linear(width, config.hidden_dim)

    def forward(self, h, batch, stack, edges):
        for _ in range(self.hops):
            parts = [neighbour_sum(p, batch, keep) for p, keep in zip(h.chunk(stack.copies), stack.edge_keeps)]
            h = h + torch.cat(parts)
        return torch.tanh(self.map(h))


@ENCODERS.register("hops")
class Hops(Encoder):
    Config = HopsConfig

    def __init__(self, config, spec):
        super().__init__(config, spec)
        self.inputs = RawInputs(spec.node)
        widths = [self.inputs.width] + [config.hidden_dim] * (config.num_layers - 1)
        self.layers = nn.ModuleList(HopsLayer(width, config) for width in widths)
'''


@pytest.fixture
def plugin(tmp_path: Path) -> dict[str, str]:
    """A package with two entry points on the path; the environment of commands that see it."""
    place = tmp_path / "site"
    about = place / "throwaway-1.0.dist-info"
    about.mkdir(parents=True)
    (place / "nearest_protocol.py").write_text(PROTOCOL)
    (place / "hops_encoder.py").write_text(ENCODER)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: throwaway\nVersion: 1.0\n")
    points = "[adgcl.protocols]\nnearest = nearest_protocol\n[adgcl.encoders]\nhops = hops_encoder\n"
    (about / "entry_points.txt").write_text(points)
    path = os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "ADGCL_CACHE": str(tmp_path / "packed")}


def test_two_files_and_nothing_else(plugin: dict[str, str], tmp_path: Path) -> None:
    write_tu(tmp_path / "TOYS")

    def adgcl(*arguments: str) -> str:
        command = [sys.executable, "-m", "adgcl", *arguments]
        made = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=plugin, check=False)
        assert made.returncode == 0, made.stderr
        return made.stdout

    listed = json.loads(adgcl("methods", "--json"))
    assert "nearest" in [row["name"] for row in listed["protocols"]] and listed["broken"] == {}
    assert "hops" in [row["name"] for row in listed["encoders"]]
    small = [
        item
        for pair in ("encoder.name=hops", "hops=2", "hidden_dim=8", "num_layers=2", "epochs=2", "protocol.name=nearest")
        for item in ("--set", pair)
    ]
    judged = json.loads(adgcl("evaluate", "TOYS", "--seeds", "2", "--mode", "as_published", *small, "--json"))
    (record,) = judged["records"]
    assert (record["protocol"], record["probe"], record["config"]["encoder"]["hops"]) == ("nearest", "1-nn", 2)
    table = json.loads(
        adgcl("reproduce", "table1-tu", "--datasets", "./TOYS", "--methods", "adgcl", "--seeds", "3", *small, "--json")
    )
    (cell,) = table["cells"]
    assert (cell["seeds"], cell["status"]) == (3, "complete")
    (kept,) = [json.loads(path.read_text()) for path in (tmp_path / "results").glob("TOYS--*.json")]
    assert kept["values"][:2] == record["values"], "reproduce found the seeds of evaluate"
    page = adgcl("report", "results", "--out", "report.md") and (tmp_path / "report.md").read_text()
    assert "nearest neighbour" in page and f"{kept['mean']:.2f}" in page
