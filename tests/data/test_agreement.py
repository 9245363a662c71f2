"""Counted statistics agree with the paper's on every set that is here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adgcl.data.agreement import compare
from adgcl.data.catalog import find_entry
from adgcl.data.load import load_dataset
from adgcl.data.statistics import count
from adgcl.published import statistics
from tests.real_data import absent

TU = ("NCI1", "PROTEINS", "MUTAG", "DD", "COLLAB", "REDDIT-BINARY", "IMDB-BINARY", "IMDB-MULTI")
OGB = ("esol", "lipo", "freesolv", "bace", "bbbp", "clintox", "tox21", "sider")


@pytest.mark.parametrize("name", [*TU, *(f"ogbg-mol{n}" for n in OGB), "ZINC"])
def test_counts_agree_with_the_paper(name, data_dir):
    if not find_entry(name).is_here(data_dir):
        absent(f"{name} is not in {data_dir}.")
    dataset = load_dataset(name, data_dir=data_dir)
    figures = compare(dataset, count(dataset.store), statistics(name))
    assert [f.name for f in figures if f.agrees is False] == []
    assert sum(f.agrees is True for f in figures) == 4


def test_a_difference_in_the_last_printed_digit_but_one_is_seen(data_dir):
    dataset = load_dataset("MUTAG", data_dir=data_dir)
    published = replace(statistics("MUTAG"), avg_nodes=17.9)
    wrong = replace(published, avg_nodes=18.13, graphs=189)
    verdicts = {f.name: f.agrees for f in compare(dataset, count(dataset.store), wrong)}
    assert (verdicts["graphs"], verdicts["avg_nodes"], verdicts["avg_edges"]) == (False, False, True)
