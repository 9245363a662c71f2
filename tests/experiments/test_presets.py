"""Presets are rows of tables: methods, or experiments with names of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adgcl.core.config import merged
from adgcl.core.errors import ConfigError, UnknownNameError
from adgcl.data.features import choose_features
from adgcl.data.load import load_dataset
from adgcl.experiments.planning import Request, plan
from adgcl.experiments.presets import Preset, _on_its_base, is_row, presets
from adgcl.experiments.tables.rows import datasets_of, rows_of
from adgcl.methods.base import METHODS
from adgcl.published import layout, layouts
from adgcl.training.run_config import resolve, sections_of
from adgcl.training.run_folder import RunFolder
from adgcl.training.trainer import Trainer, build_method
from tests.ppi_arrays import ppi_arrays, write_ppi


@pytest.mark.parametrize("name", sorted(presets()))
def test_every_preset_names_a_method_with_settings_that_it_has(name):
    preset = presets()[name]
    settings = {**preset.settings["method"], **preset.as_published.get("method", {})}
    METHODS[preset.method].Config.model_validate(settings)
    for key in (*preset.tune, *preset.take):
        section, _, field = key.partition(".")
        assert field in sections_of(preset.settings)[section].model_fields


@pytest.mark.parametrize("name", sorted(presets()))
def test_every_preset_resolves_to_settings_that_are_there(name):
    """As they stand in the file: nothing in it is passed over as unknown."""
    settings = presets()[name].settings
    run = resolve(settings).to_tree()
    for section, values in settings.items():
        assert {key: run[section][key] for key in values} == values


def test_a_preset_by_name_is_taken_whatever_the_data(toys):
    dataset = load_dataset(toys)
    chosen = plan(dataset, Request(preset="adgcl-transfer", assignments=("training.epochs=3",)))
    expected = resolve(presets()["adgcl-transfer"].settings, ("training.epochs=3",))
    assert chosen.run == expected and chosen.row == "adgcl"
    assert chosen.run.encoder.message == "relu" and chosen.run.method.directions == "one"
    assert plan(dataset, chosen.request).run == chosen.run
    assert plan(dataset, Request(preset="adgcl-best-tu")).row == "adgcl-best"
    with pytest.raises(UnknownNameError, match="Did you mean 'adgcl-transfer'"):
        plan(dataset, Request(preset="adgcl-transfr"))
    with pytest.raises(ConfigError, match="is for adgcl, not graphcl"):
        plan(dataset, Request("graphcl", preset="adgcl-transfer"))


def test_few_labels_have_presets_of_their_own_for_graphs(toys, tmp_path):
    """The documented `adgcl evaluate --method supervised --protocol semi_supervised` runs what the tables run."""
    dataset, judged = load_dataset(toys), {"protocol": {"name": "semi_supervised"}}
    start = tmp_path / "start"
    pretrained = plan(dataset, Request(preset="adgcl-semi", assignments=("training.epochs=0", "encoder.hidden_dim=8")))
    store = choose_features(dataset.store, pretrained.run.data.features)
    Trainer(pretrained.run, store, folder=RunFolder(start)).fit()
    for about in ({"training": {"start_from": str(start)}}, {"encoder": {"hidden_dim": 8}}):
        for mode in ("as_published", "strict"):
            request = Request("supervised", flags=merged(judged, {"protocol": {"mode": mode}}, about))
            chosen = plan(dataset, request)
            assert chosen == plan(dataset, replace(request, preset="supervised-semi"))
            run = chosen.run
            assert (run.training.batch_size, run.training.merge_single) == (128, True)
            assert (run.encoder.name, run.encoder.dropout) == ("resgcn", 0.0)
            assert chosen.judging.shared_head == (mode == "as_published") and plan(dataset, chosen.request) == chosen
    named = plan(dataset, Request("supervised", assignments=("protocol.name=semi_supervised",)))
    assert named.run.encoder.name == "resgcn"
    assert plan(dataset, Request("supervised")).run.encoder.name == "gin"
    molecules = load_dataset(["CCO", "CCN", "c1ccccc1"])
    assert plan(molecules, Request("supervised", flags=judged)).run.encoder.name == "gine"


def test_a_budget_is_the_same_network_with_another_balance(toys):
    for dataset in (load_dataset(toys), load_dataset(["CCO", "CCN", "c1ccccc1"])):
        fixed, budget = plan(dataset, Request()), plan(dataset, Request("adgcl-budget"))
        assert (fixed.row, fixed.run.method.drop_budget) == ("adgcl", None)
        assert (budget.row, budget.run.method.name, budget.run.method.drop_budget) == ("adgcl-budget", "adgcl", 0.5)
        assert budget.run.encoder == fixed.run.encoder and plan(dataset, budget.request) == budget


def test_another_encoder_takes_from_a_preset_what_fits_it(toys):
    request = Request(preset="adgcl-transfer", assignments=("encoder.name=gine",))
    encoder = plan(load_dataset(toys), request).run.encoder
    assert (encoder.name, encoder.hidden_dim, encoder.readout) == ("gine", 300, "mean")
    with pytest.raises(ConfigError, match="message"):
        plan(load_dataset(toys), replace(request, assignments=("encoder.name=gine", "encoder.message=relu")))


def test_protein_interactions_have_a_preset_of_their_own(tmp_path):
    write_ppi(tmp_path, ppi_arrays(labelled=False), labelled=False)
    dataset = load_dataset("PPI-306K", data_dir=tmp_path, cache=False)
    for method in ("adgcl", "graphcl"):
        run = plan(dataset, Request(method)).run
        assert (run.method.name, run.encoder.name, run.training.batch_size) == (method, "ppi_gin", 256)
    build_method(plan(dataset, Request(assignments=("encoder.hidden_dim=8",))).run, dataset.store.spec, dataset.task)


def test_a_row_with_a_base_differs_from_it_only_where_it_says():
    trees = {
        "a-tu": {"settings": {"method": {"name": "adgcl", "lr": 1}}, "tune": {"x": [1]}, "title": "A"},
        "b-tu": {"base": "a-tu", "settings": {"method": {"lr": 2}}},
    }
    preset = Preset("b-tu", **_on_its_base(trees["b-tu"], trees))
    assert preset.settings == {"method": {"name": "adgcl", "lr": 2}} and preset.tune == {} and preset.method == "adgcl"


def test_a_tuned_row_is_planned_only_with_a_value(toys):
    dataset = load_dataset(toys)
    with pytest.raises(ConfigError, match="validation"):
        plan(dataset, Request("adgcl-opt"))
    chosen = plan(dataset, Request("adgcl-opt", assignments=("reg_lambda=5.0",)))
    assert chosen.run == plan(dataset, Request("adgcl")).run and chosen.row == "adgcl-opt"


def test_tables_are_those_of_the_paper():
    unsupervised = {"table1-tu", "table1-ogb", "table-svm", "table-joao-linear", "table-joao-svm"}
    few_labels = {"table3", "table-joao-semi"}
    assert set(layouts()) == unsupervised | {"table2", "table-joao-transfer"} | few_labels
    assert layout("table3").methods == ("no_pretrain", "ss_gcn_a", "gae", "infograph", "graphcl", "adgcl")
    assert layout("table-joao-transfer").methods == ("joao", "joaov2", "adgcl")
    assert layout("table-svm").probe == "svm" and layout("table-joao-svm").methods == ("joao", "joaov2", "adgcl")
    with pytest.raises(UnknownNameError, match="table-svn"):
        layout("table-svn")


def test_rows_and_data_sets_go_by_any_of_their_names():
    table = layout("table1-tu")
    assert [row.name for row in rows_of(table, ["AD-GCL-OPT", "random_init", "RU-GIN"])] == ["adgcl-opt", "random_init"]
    assert datasets_of(table, ["mutag", "IMDB-B", "./own"]) == ("MUTAG", "IMDB-BINARY", "./own")
    assert [row.name for row in rows_of(table)][: len(table.methods)] == list(table.methods)
    assert is_row("adgcl-opt") and not is_row("nothing")
