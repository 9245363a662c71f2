"""The presets of pre-training for transfer: one encoder, one schedule, and each author's own settings."""

from __future__ import annotations

import pytest

from adgcl.experiments.presets import presets
from adgcl.methods.base import METHODS
from adgcl.published import paper_method, results

PRETEXTS = ("edge_pred", "attr_masking", "context_pred", "graphmae")
RIVALS = ("graphcl", "infograph", "joao", "joaov2")


@pytest.mark.parametrize("method", PRETEXTS + RIVALS)
def test_all_train_the_encoder_of_hu_et_al_on_their_features(method):
    preset = presets()[f"{method}-transfer"]
    shape = {"name": "hu_gin", "message": "sum", "hidden_dim": 300, "num_layers": 5, "readout": "mean"}
    # Pretext methods start as torch does whatever the encoder says.
    start = {"initial_weights": "torch"} if method in RIVALS else {}
    assert preset.method == method and preset.settings["encoder"] == {**shape, **start}
    assert preset.settings["data"] == {"atom_features": "hu"}
    assert preset.settings["training"] == {"batch_size": 256, "epochs": 80 if method == "graphcl" else 100}
    assert METHODS[method].Config.model_validate(preset.settings["method"]).lr == 0.001


@pytest.mark.parametrize("method", [*PRETEXTS[:3], *RIVALS])
def test_each_fills_a_row_of_its_table(method):
    label = paper_method(method)
    assert label in {cell.method for cell in results(presets()[f"{method}-transfer"].table)}


@pytest.mark.parametrize("method", PRETEXTS)
def test_the_defaults_of_pretext_methods_are_the_published_settings(method):
    config = METHODS[method].Config
    assert config.model_validate(presets()[f"{method}-transfer"].settings["method"]) == config()


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("supervised-moleculenet", "torch"),
        ("no_pretrain-moleculenet", "torch"),
        ("supervised-ppi", "torch"),
        ("adgcl-transfer", "xavier"),
        ("adgcl-ppi", "xavier"),
    ],
)
def test_linear_layers_start_as_the_authors_start_them(name, start):
    assert presets()[name].settings["encoder"].get("initial_weights", "xavier") == start


def test_faults_are_for_published_figures_only():
    graphcl, joaov2 = presets()["graphcl-transfer"], presets()["joaov2-transfer"]
    assert graphcl.as_published == {"method": {"star_subgraph": True}}
    assert "star_subgraph" not in graphcl.settings["method"]
    assert joaov2.as_published == {"method": {"head_per": "epoch"}}
