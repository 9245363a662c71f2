"""What is searched: every range that a method declares holds, and what the user settles is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from adgcl.core.config import build
from adgcl.core.errors import ConfigError
from adgcl.core.ranges import Range, ranges_of
from adgcl.encoders.base import ENCODERS
from adgcl.experiments.planning import Plan, Request, plan
from adgcl.experiments.source import Source
from adgcl.experiments.tuning.space import make_space
from adgcl.methods.base import METHODS
from adgcl.training.run_config import TrainingConfig


def planned(toys: Path, *assignments: str, method: str = "adgcl", **training: object) -> tuple[Plan, Request]:
    request = Request(method, None, {"training": training}, assignments)
    return plan(Source(str(toys)).load(), request), request


@pytest.mark.parametrize(
    "config", [*(METHODS[n].Config for n in METHODS), *(ENCODERS[n].Config for n in ENCODERS), TrainingConfig]
)
def test_every_declared_range_is_allowed(config):
    for name, range_ in ranges_of(config):
        *path, last = name.split(".")
        for value in (*range_.choices, *([] if range_.choices else [range_.low, range_.high])):
            tree = {last: int(value) if range_.integer else value}
            for part in reversed(path):
                tree = {part: tree}
            build(config, tree)


def test_methods_bring_their_own_ranges(toys: Path):
    assert set(make_space(*planned(toys))) == {
        "method.reg_lambda", "method.temperature", "method.encoder_lr", "method.augmenter_lr",
        "encoder.num_layers", "encoder.readout", "encoder.layers", "training.batch_size",
    }  # fmt: skip
    assert {"method.ratio", "method.lr"} <= set(make_space(*planned(toys, method="graphcl")))
    assert set(make_space(*planned(toys, method="statistics"))) == {"method.iterations", "method.buckets"}


def test_what_is_set_is_not_searched(toys: Path, tmp_path: Path):
    space = make_space(*planned(toys, "reg_lambda=2", "num_layers=3", batch_size=64))
    assert not {"method.reg_lambda", "encoder.num_layers", "training.batch_size"} & set(space)
    (tmp_path / "mine.toml").write_text("[method]\ntemperature = 0.4\n")
    request = Request("adgcl", tmp_path / "mine.toml")
    assert "method.temperature" not in make_space(plan(Source(str(toys)).load(), request), request)


def test_the_start_always_belongs_to_the_space(toys: Path):
    found, _ = planned(toys, "temperature=3")
    space = make_space(found, Request("adgcl"))
    assert space["method.temperature"] == Range(0.05, 3.0, log=True)
    own = make_space(found, Request("adgcl"), ("temperature=0.1..0.5",))
    assert own == {"method.temperature": Range(0.1, 0.5, log=True)}, "unless the user wrote it"


def test_only_what_is_asked_for(toys: Path):
    given = planned(toys)
    assert make_space(*given, ("reg_lambda", "encoder.hidden_dim=16,32", "gate.temperature=0.5..2")) == {
        "method.reg_lambda": Range(0.1, 10.0, log=True),
        "encoder.hidden_dim": Range(choices=(16, 32)),
        "method.gate.temperature": Range(0.5, 2.0),
    }


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("reg_lamda", "reg_lambda"),
        ("gate.temperatur=1..2", "temperature"),
        ("hidden_dim", "no range of its own"),
        ("reg_lambda=5..1", "Cannot read the range"),
        ("training.threads.much=1,2", "no setting"),
    ],
)
def test_wrong_wishes(toys: Path, asked: str, says: str):
    with pytest.raises(ConfigError) as caught:
        make_space(*planned(toys), (asked,))
    assert says in str(caught.value)


def test_searched_and_set_is_an_error(toys: Path):
    with pytest.raises(ConfigError, match="searched, and also set"):
        make_space(*planned(toys, "reg_lambda=2"), ("reg_lambda",))


def test_nothing_open_is_an_error(toys: Path):
    with pytest.raises(ConfigError, match="nothing to search"):
        make_space(*planned(toys, method="constant"))
