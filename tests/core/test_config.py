"""Settings: files, overrides, bounds, and errors that help."""

from __future__ import annotations

import pickle

import pytest

from adgcl.core.config import merged, read_toml
from adgcl.core.errors import ConfigError, UnknownNameError, did_you_mean
from adgcl.core.registry import Registry
from adgcl.core.seeds import derived_rng, derived_seed
from adgcl.training.run_config import resolve


def test_later_settings_win_and_siblings_stay():
    tree = merged({"a": {"x": 1, "y": 2}, "b": 3}, {"a": {"y": 5}}, {"b": 4})
    assert tree == {"a": {"x": 1, "y": 5}, "b": 4}


def test_overrides_find_their_section():
    config = resolve(
        {"method": "adgcl"}, ["reg_lambda=2", "encoder.hidden_dim=64", "gate.hard=true", "directions=one", "epochs=7"]
    )
    assert (config.method.reg_lambda, config.encoder.hidden_dim) == (2.0, 64)
    assert (config.method.gate.hard, config.method.directions, config.training.epochs) == (True, "one", 7)


@pytest.mark.parametrize(
    ("settings", "overrides", "message", "hint"),
    [
        ({}, ["reg_lamda=2"], "reg_lamda", "reg_lambda"),
        ({}, ["encoder.hiden_dim=2"], "hiden_dim", "hidden_dim"),
        ({"encoder": {"hiden_dim": 2}}, [], "hiden_dim", "hidden_dim"),
        ({"trainin": {}}, [], "trainin", "training"),
        ({}, ["hidden_dim=0"], "greater than or equal to 1", "adgcl settings"),
        ({}, ["temperature=-1"], "greater than or equal to 0.005", "adgcl settings"),
        ({}, ["epochs=many"], "many", "adgcl settings"),
        ({}, ["nonsense"], "nonsense", "key=value"),
        ({"method": "adgc"}, [], "adgc", "adgcl"),
        ({"encoder": {"name": "auto", "readout": "median"}}, [], "median", "settings"),
    ],
)
def test_wrong_settings_are_explained(settings, overrides, message, hint):
    with pytest.raises(ConfigError) as caught:
        resolve(settings, overrides)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_settings_survive_a_round_trip():
    config = resolve({"method": {"name": "adgcl", "reg_lambda": 0.3}}, ["gate.tied=true"])
    assert resolve(config.to_tree()) == config


def test_toml_files_are_checked(tmp_path):
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text("[encoder]\nhidden_dim = 5\n")
    bad.write_text("[encoder\nhidden_dim = 5\n")
    assert read_toml(good) == {"encoder": {"hidden_dim": 5}}
    with pytest.raises(ConfigError, match="not valid TOML"):
        read_toml(bad)
    with pytest.raises(ConfigError, match="Cannot read"):
        read_toml(tmp_path / "missing.toml")


def test_registry_knows_its_folder_and_names_the_nearest():
    registry: Registry[type] = Registry("method", "adgcl.objectives")
    registry.register("infograph")(int)
    assert registry["infograph"] is int
    assert list(registry) == ["infograph"]
    with pytest.raises(UnknownNameError, match="infograf") as caught:
        registry["infograf"]
    assert "infograph" in caught.value.hint
    with pytest.raises(ValueError, match="two methods"):
        registry.register("infograph")(str)


def test_hints_fall_back_to_everything_known():
    assert did_you_mean("zzz", ["b", "a"]) == "Known: a, b."


def test_seeds_of_different_places_share_nothing():
    seeds = {derived_seed(s, *p) for s in range(20) for p in (("order", 1), ("order", 2), ("noise",), ("order", "12"))}
    assert len(seeds) == 80
    assert derived_rng(1, "a").integers(1 << 30) == derived_rng(1, "a").integers(1 << 30)


def test_errors_survive_the_way_between_processes():
    for error in (ConfigError("wrong", "do this"), UnknownNameError("method", "adgc", ["adgcl"])):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), copy.message, copy.hint) == (type(error), error.message, error.hint)
