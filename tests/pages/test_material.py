"""What a report knows about a run: where its data is, and how to repeat it."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

import pytest

from adgcl.experiments.planning import Request, plan
from adgcl.experiments.pretraining import pretrain
from adgcl.experiments.source import Source
from adgcl.pages.material import gather
from adgcl.pages.repeating import pretrain_command
from tests.insight_cases import MOLECULES, finished_run

SETTINGS = ("encoder.hidden_dim=8", "encoder.num_layers=2", 'pool=["random_edge_drop"]', "ratio=0.3")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "freesolv.csv"
    path.write_text("smiles\n" + "\n".join(MOLECULES) + "\n")
    return path


def test_the_user_s_own_file_is_not_the_known_set_of_its_name(table, tmp_path):
    request = Request("adgcl", flags={"training": {"epochs": 1}}, assignments=SETTINGS[:2])
    pretrain(Source(str(table)), tmp_path / "run", request)
    (run,) = gather([tmp_path / "run"]).runs
    assert (run.data, Path(run.source)) == ("freesolv", table)
    (in_memory,) = gather([finished_run()]).runs
    assert in_memory.source == ""


def test_the_command_repeats_the_run(table, tmp_path):
    flags = {"training": {"epochs": 1, "batch_size": 7, "seed": 3}}
    pretrain(Source(str(table)), tmp_path / "run", Request("graphcl", flags=flags, assignments=SETTINGS))
    (run,) = gather([tmp_path / "run"]).runs
    words = shlex.split(pretrain_command(run))
    assert words[:5] == ["adgcl", "pretrain", str(table), "--method", "graphcl"]
    value = {flag: words[words.index(flag) + 1] for flag in ("--epochs", "--batch-size", "--seed")}
    again = {name.removeprefix("--").replace("-", "_"): int(number) for name, number in value.items()}
    settings = tuple(word for before, word in itertools.pairwise(words) if before == "--set")
    planned = plan(Source(str(table)).load(), Request("graphcl", flags={"training": again}, assignments=settings))
    assert planned.run.essence() == run.checkpoint.config.essence()
