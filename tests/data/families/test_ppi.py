"""Protein interactions: the layout, the split by species, and what is said about a file that is not right."""

from __future__ import annotations

import random

import numpy as np
import pytest

from adgcl.core.errors import DataError, DataMissingError
from adgcl.data.families import ppi
from adgcl.data.families.ppi import HUMAN, OTHERS, load_ppi, species_split
from adgcl.data.load import load_dataset
from adgcl.protocols.parts import fold_parts
from tests.ppi_arrays import ppi_arrays, write_ppi

ENTRIES = {entry.name: entry for entry in ppi.entries()}


def test_graphs_are_those_of_the_file(tmp_path):
    arrays = ppi_arrays()
    write_ppi(tmp_path, arrays)
    dataset = ENTRIES["PPI"].load(tmp_path)
    store = dataset.store
    assert len(store) == 40 and store.spec == ppi.PPI_SPEC and store.edge_attr.dtype == np.uint8
    assert (dataset.task.kind, dataset.task.num_tasks, dataset.task.metric) == ("binary", 40, "rocauc")
    assert np.array_equal(store.y, arrays["y"]) and np.array_equal(store.node_counts, arrays["num_nodes"])
    ends = np.cumsum(arrays["num_edges"])
    for number in (0, 17, 39):
        edges = slice(ends[number] - arrays["num_edges"][number], ends[number])
        source, target = arrays["edge_index"][:, edges]
        order = np.lexsort((source, target))
        graph = store.select([number])
        assert np.array_equal(graph.edge_source, source[order])
        assert np.array_equal(graph.edge_target(), target[order])
        assert np.array_equal(graph.edge_attr, arrays["edge_attr"][edges][order])
        assert np.flatnonzero(graph.x[:, 0]).tolist() == [arrays["centre"][number]]


def test_without_labels(tmp_path):
    write_ppi(tmp_path, ppi_arrays(labelled=False), labelled=False)
    dataset = load_dataset("ppi_306k", data_dir=tmp_path, cache=False)
    assert dataset.name == "PPI-306K" and dataset.store.y is None and dataset.split is None
    assert dataset.task.kind == "none"


def test_floats_are_read_as_the_whole_numbers_they_are(tmp_path):
    arrays = ppi_arrays()
    write_ppi(tmp_path, {**arrays, "edge_attr": arrays["edge_attr"].astype(np.float32)})
    assert np.array_equal(load_ppi(tmp_path).store.y, arrays["y"])
    write_ppi(tmp_path, {**arrays, "edge_attr": arrays["edge_attr"] * 0.5})
    with pytest.raises(DataError, match="edge_attr"):
        load_ppi(tmp_path)


def test_the_split_is_the_published_one():
    species = np.random.default_rng(0).choice((HUMAN, *OTHERS), 300)
    parts = species_split(species)
    human, others = np.flatnonzero(species == HUMAN), np.flatnonzero(species != HUMAN)
    assert np.array_equal(parts["test"], human)
    random.seed(42)  # as the authors' code draws: Python's global state, all indices shuffled
    order = list(range(len(others)))
    random.shuffle(order)
    train = int(0.85 * len(others))
    assert set(parts["train"]) == set(others[order[:train]])
    assert set(parts["valid"]) == set(others[order[train : train + int(0.15 * len(others))]])
    assert not set(parts["test_easy"]) & set(parts["test_hard"])
    assert len(parts["test_easy"]) == len(parts["test_hard"]) == len(human) // 2
    assert set(parts["test_easy"]) | set(parts["test_hard"]) <= set(human)
    assert not np.array_equal(species_split(species, seed=0)["train"], parts["train"])


def test_an_unknown_species_is_named():
    with pytest.raises(DataError, match="Graph 1 is of species 1234"):
        species_split([HUMAN, 1234])


def test_published_runs_draw_with_another_seed_and_test_on_the_hard_half(tmp_path):
    arrays = ppi_arrays(120)
    write_ppi(tmp_path, arrays)
    dataset = load_ppi(tmp_path)
    hu, adgcl = (species_split(arrays["species"], seed) for seed in (42, 0))
    (strict,), (published,) = (fold_parts(dataset, mode, 0, 2) for mode in ("strict", "as_published"))
    for part in ("train", "valid", "test"):
        np.testing.assert_array_equal(np.sort(getattr(strict, part)), hu[part])
    assert np.array_equal(published.test, adgcl["test_hard"]) and np.array_equal(published.train, adgcl["train"])
    assert np.array_equal(published.valid, adgcl["valid"])


def test_a_missing_file_says_how_to_make_it(tmp_path):
    with pytest.raises(DataMissingError) as caught:
        load_dataset("ppi", data_dir=tmp_path)
    for part in ("ppi/ppi_labelled.npz", "make the file", "uint8  [E, 9]", "y           uint8  [G, 40]"):
        assert part in str(caught.value)
    with pytest.raises(DataMissingError, match="centre      int32"):
        load_ppi(tmp_path, labelled=False)
    assert "species" not in ENTRIES["PPI-306K"].by_hand


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("edge_attr", lambda a: a[:, :7], r"edge_attr .* has the shape"),
        ("edge_attr", lambda a: a + 1, "marks other than 0 and 1"),
        ("y", lambda a: a[:, :39], r"y .* has the shape"),
        ("y", lambda a: a + 1, "labels other than 0 and 1"),
        ("centre", lambda a: a + 8, "its centre is"),
        ("centre", lambda a: a - 8, "its centre is"),
        ("edge_index", lambda a: a + 8, "an edge joins"),
        ("num_edges", lambda a: a[:-1], r"num_edges .* has the shape"),
        ("species", lambda a: a * 0, "species 0"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, name, change, words):
    arrays = ppi_arrays()
    write_ppi(tmp_path, {**arrays, name: change(arrays[name])})
    with pytest.raises(DataError, match=words):
        load_ppi(tmp_path)


def test_damaged_files(tmp_path):
    path = write_ppi(tmp_path, {"y": np.zeros(3)})
    with pytest.raises(DataError, match="num_nodes"):
        load_ppi(tmp_path)
    path.write_bytes(b"nothing")
    with pytest.raises(DataError, match="Cannot read"):
        load_ppi(tmp_path)


def test_missing_labels_stay_missing(tmp_path):
    arrays = ppi_arrays()
    y = arrays["y"].astype(np.float32)
    y[3, 5] = np.nan
    write_ppi(tmp_path, {**arrays, "y": y})
    assert np.isnan(load_ppi(tmp_path).store.y).sum() == 1
