"""Presets are rows of tables: methods, or experiments with names of their own."""

from __future__ import annotations

import pytest

from adgcl.core.errors import ConfigError, UnknownNameError
from adgcl.data.load import load_dataset
from adgcl.experiments.planning import Request, plan
from adgcl.experiments.presets import Preset, _on_its_base, is_row, presets
from adgcl.experiments.tables.rows import datasets_of, rows_of
from adgcl.methods.base import METHODS
from adgcl.published import layout, layouts


@pytest.mark.parametrize("name", sorted(presets()))
def test_every_preset_names_a_method_with_settings_that_it_has(name):
    preset = presets()[name]
    settings = {**preset.settings["method"], **preset.as_published.get("method", {})}
    METHODS[preset.method].Config.model_validate(settings)
    for key in (*preset.tune, *preset.take):
        section, _, field = key.partition(".")
        assert section == "method" and field in METHODS[preset.method].Config.model_fields


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
    assert set(layouts()) == {"table1-tu", "table1-ogb", "table-svm", "table-joao-linear", "table-joao-svm"}
    assert layout("table-svm").probe == "svm" and layout("table-joao-svm").methods == ("joao", "joaov2", "adgcl")
    with pytest.raises(UnknownNameError, match="table-svn"):
        layout("table-svn")


def test_rows_and_data_sets_go_by_any_of_their_names():
    table = layout("table1-tu")
    assert [row.name for row in rows_of(table, ["AD-GCL-OPT", "random_init", "RU-GIN"])] == ["adgcl-opt", "random_init"]
    assert datasets_of(table, ["mutag", "IMDB-B", "./own"]) == ("MUTAG", "IMDB-BINARY", "./own")
    assert [row.name for row in rows_of(table)][: len(table.methods)] == list(table.methods)
    assert is_row("adgcl-opt") and not is_row("nothing")
