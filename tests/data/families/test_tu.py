"""TU-format sets: the paper's, against PyTorch Geometric, and everything that can be wrong."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from torch_geometric.io import read_tu_data

from adgcl.core.errors import DataError
from adgcl.core.schema import Features, Task
from adgcl.data.families.tu import entries, load_tu
from adgcl.data.statistics import count
from adgcl.data.text import numbers
from adgcl.graphs.convert import to_pyg
from adgcl.published.reader import statistics
from tests.real_data import absent

# Two graphs: a directed triangle-with-tail of 4 nodes and an edgeless pair.
GOOD = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n",
    "graph_indicator": "1\n1\n1\n1\n2\n2\n",
    "graph_labels": "5\n-1\n",
    "node_labels": "7\n9\n7\n30\n9\n9\n",
    "node_attributes": "0.5, 1\n1e3, 2\n-.5, 3\n0, 4\n1, 5\n2, 6\n",
    "edge_labels": "4\n4\n2\n2\n",
    "edge_attributes": "0.25\n0.25\n1\n1\n",
}


def write(folder, parts, name="T"):
    folder.mkdir(parents=True, exist_ok=True)
    for part, text in parts.items():
        (folder / f"{name}_{part}.txt").write_text(text)
    return folder


def without(*parts):
    return {part: text for part, text in GOOD.items() if part not in parts}


def test_all_parts_of_the_format(tmp_path):
    dataset = load_tu(write(tmp_path, GOOD))
    store = dataset.store
    assert (dataset.name, len(store), store.node_counts.tolist(), store.edge_counts.tolist()) == (
        "T",
        2,
        [4, 2],
        [4, 0],
    )
    assert store.task == Task("multiclass", num_classes=2, names=("-1", "5"))
    assert store.y.tolist() == [[1], [0]]
    assert store.x[:, 0].tolist() == [0, 1, 0, 2, 1, 1]
    assert store.spec.node == Features((3,), 2, ((7, 9, 30),))
    assert store.spec.edge == Features((2,), 1, ((2, 4),))
    assert store.edge_source.tolist() == [1, 0, 2, 1]
    assert store.edge_attr[:, 0].tolist() == [1, 1, 0, 0]
    assert store.x_num[1].tolist() == [1000, 2]
    assert dataset.origin.note == ""


def test_a_zip_a_folder_and_a_folder_in_a_folder_are_the_same(tmp_path):
    write(tmp_path / "out" / "raw", GOOD)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as file:
        for part, text in GOOD.items():
            file.writestr(f"T/T_{part}.txt", text)
            file.writestr(f"__MACOSX/T/T_{part}.txt", "junk")
    for path in (tmp_path / "other.zip", tmp_path / "out", tmp_path / "out" / "raw"):
        dataset = load_tu(path)
        assert (dataset.name, dataset.store.num_edges) == ("T", 4)
    assert load_tu(tmp_path / "other.zip", "t").name == "t"


def test_line_ends_blanks_and_several_label_columns(tmp_path):
    parts = {part: text.replace("\n", "\r\n") for part, text in GOOD.items()}
    parts["node_labels"] = "1,5\n1, 6\n1,7\n 1,5 \n2,5\n2,9"
    parts["A"] = "\n" + GOOD["A"].replace(", ", " ,\t") + "\n\n"
    store = load_tu(write(tmp_path, parts)).store
    assert store.spec.node.sizes == (2, 4)
    assert store.num_edges == 4


def test_loops_and_repeats_are_left_out_with_a_note_and_the_first_kept(tmp_path):
    parts = {
        **GOOD,
        "A": "1, 1\n1, 2\n2, 1\n1, 2\n",
        "edge_labels": "9\n1\n2\n3\n",
        "edge_attributes": "9\n1\n2\n3\n",
    }
    dataset = load_tu(write(tmp_path, parts))
    assert dataset.store.edge_num[:, 0].tolist() == [2, 1]
    assert dataset.origin.note == "1 self-loops left out; 1 repeated edges left out"


def test_one_direction_stays_directed(tmp_path):
    store = load_tu(write(tmp_path, {**without("edge_labels", "edge_attributes"), "A": "1, 2\n3, 2\n"})).store
    assert store.edge_reverse is None
    assert store.edge_source.tolist() == [0, 2]
    assert store.edge_target().tolist() == [1, 1]


def test_nodes_out_of_graph_order_are_sorted(tmp_path):
    parts = {
        "graph_indicator": "2\n1\n2\n1\n",
        "A": "4, 2\n1, 3\n3, 1\n2, 4\n",
        "graph_labels": "0\n1\n",
        "node_labels": "10\n20\n30\n40\n",
        "edge_labels": "1\n2\n3\n4\n",
    }
    store = load_tu(write(tmp_path, parts)).store
    assert store.x[:, 0].tolist() == [1, 3, 0, 2]
    assert store.edge_source.tolist() == [1, 0, 1, 0]
    assert store.edge_attr[:, 0].tolist() == [0, 3, 2, 1]


def test_what_the_labels_mean(tmp_path):
    bare = without("graph_labels")
    assert load_tu(write(tmp_path / "none", bare)).task == Task("none", num_tasks=0)
    targets = load_tu(write(tmp_path / "reals", {**bare, "graph_attributes": "0.5, 1\n2, 3\n"}))
    assert (targets.task, targets.store.y.tolist()) == (Task("regression", num_tasks=2), [[0.5, 1], [2, 3]])
    assert load_tu(write(tmp_path / "float", {**GOOD, "graph_labels": "0.5\n1\n"})).task.kind == "regression"


def test_text_comes_in_pieces_of_any_length():
    text = b"".join(f"{i}, {i * 7 % 13}\n".encode() for i in range(40))
    for size in (1, 3, 50, 1000):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        first, second = numbers.number_columns(pieces, "T", "int32", width=2)
        assert first.tolist() == list(range(40))
        assert second.tolist() == [i * 7 % 13 for i in range(40)]
    with pytest.raises(DataError, match=r"T, line 41: expected 2 integers, found 'x'"):
        numbers.number_columns([text[:99], text[99:] + b"x"], "T", "int32", width=2)


WRONG = {
    "no indicator": (without("graph_indicator"), "T_graph_indicator.txt is missing"),
    "empty A": ({**GOOD, "A": " \n"}, "T_A.txt is empty"),
    "empty labels": ({**GOOD, "graph_labels": ""}, "T_graph_labels.txt is empty"),
    "letters": ({**GOOD, "A": "1, 2\n\n2, one\n"}, "T_A.txt, line 3: expected 2 integers, found '2, one'"),
    "real node": ({**GOOD, "A": "1.5, 2\n"}, "T_A.txt, line 1: expected 2 integers"),
    "too many": ({**GOOD, "A": "1, 2\n1, 2, 3\n"}, "T_A.txt, line 2: expected 2 integers"),
    "huge": ({**GOOD, "A": "1, 99999999999999\n"}, "T_A.txt cannot be read"),
    "blank line": ({**GOOD, "A": "1, 2\n   \n"}, "T_A.txt, line 2"),
    "node range": ({**GOOD, "A": "1, 2\n1, 7\n"}, "T_A.txt, row 2: an edge joins nodes 1 and 7"),
    "node zero": ({**GOOD, "A": "0, 1\n"}, "numbered from 1 to 6"),
    "two graphs": (
        {**GOOD, "A": "1, 2\n4, 5\n"},
        "T_A.txt, row 2: an edge joins nodes of two graphs, 1 and 2",
    ),
    "graph zero": ({**GOOD, "graph_indicator": "0\n1\n1\n1\n2\n2\n"}, "there is no graph 0"),
    "graph three": ({**GOOD, "graph_indicator": "1\n1\n1\n1\n2\n3\n"}, "row 6: there is no graph 3"),
    "gap": ({**GOOD, "graph_labels": "1\n1\n1\n"}, "Graph 3 has no node"),
    "node rows": (
        {**GOOD, "node_labels": "1\n"},
        "T_node_labels.txt has 1 rows, but T_graph_indicator.txt has 6",
    ),
    "edge rows": ({**GOOD, "edge_labels": "1\n"}, "T_edge_labels.txt has 1 rows, but T_A.txt has 4"),
    "attribute rows": ({**GOOD, "node_attributes": "1\n"}, "T_node_attributes.txt has 1 rows"),
    "nan": ({**GOOD, "node_attributes": "1\n1\nnan\n1\n1\n1\n"}, "T_node_attributes.txt, line 3.*finite"),
    "not a number": (
        {**GOOD, "node_attributes": "1\nx\n"},
        "T_node_attributes.txt, line 2: expected 1 number",
    ),
    "label columns": ({**GOOD, "graph_labels": "1, 2\n1, 2\n"}, "T_graph_labels.txt has 2 columns"),
}


@pytest.mark.parametrize("case", WRONG, ids=str)
def test_wrong_files_are_named(tmp_path, case):
    parts, reason = WRONG[case]
    with pytest.raises(DataError, match=reason):
        load_tu(write(tmp_path, parts))


def test_folders_without_or_with_too_many_sets(tmp_path):
    with pytest.raises(DataError, match=r"There is no .*nowhere"):
        load_tu(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"no file NAME_A.txt"):
        load_tu(tmp_path)
    write(tmp_path, GOOD, "ONE")
    write(tmp_path, GOOD, "TWO")
    with pytest.raises(DataError, match="several data sets: ONE, TWO"):
        load_tu(tmp_path)
    assert load_tu(tmp_path, "TWO").name == "TWO"
    with pytest.raises(DataError, match=r"THREE_A.txt is missing|THREE_graph_indicator.txt is missing"):
        load_tu(tmp_path, "THREE")


@pytest.mark.parametrize("place", ["tu/MUTAG.zip", "MUTAG.zip", "tu/MUTAG", "MUTAG"])
def test_an_entry_is_found_in_all_its_places(tmp_path, place):
    entry = next(entry for entry in entries() if entry.name == "MUTAG")
    assert not entry.is_here(tmp_path)
    (tmp_path / place).parent.mkdir(exist_ok=True)
    if place.endswith(".zip"):
        with zipfile.ZipFile(tmp_path / place, "w") as file:
            for part, text in GOOD.items():
                file.writestr(f"MUTAG/MUTAG_{part}.txt", text)
    else:
        write(tmp_path / place, GOOD, "MUTAG")
    assert entry.is_here(tmp_path)
    dataset = entry.load(tmp_path)
    assert (dataset.name, len(dataset), dataset.origin.source) == ("MUTAG", 2, entry.downloads[0].url)


@pytest.mark.parametrize("name", ["MUTAG", "PROTEINS", "IMDB-MULTI"])
def test_the_graphs_are_those_pyg_reads(data_dir, tmp_path, name):
    with zipfile.ZipFile(data_dir / "tu" / f"{name}.zip") as file:
        file.extractall(tmp_path)
    theirs, slices, _ = read_tu_data(str(tmp_path / name), name)
    store = load_tu(tmp_path / name, name).store
    np.testing.assert_array_equal(store.edge_ptr, slices["edge_index"].numpy())
    np.testing.assert_array_equal(store.y[:, 0], theirs.y.numpy())
    for i in (0, len(store) // 2, len(store) - 1):
        ours = to_pyg(store, [i])[0].edge_index
        edges = theirs.edge_index[:, slices["edge_index"][i] : slices["edge_index"][i + 1]]
        assert sorted(ours.t().tolist()) == sorted(edges.t().tolist())
    if store.x is not None:
        np.testing.assert_array_equal(store.node_ptr, slices["x"].numpy())
        labels = theirs.x[:, store.spec.node.num_dim :].argmax(1).numpy()
        np.testing.assert_array_equal(store.x[:, 0], labels)


ISOLATED = {"NCI1": 428, "PROTEINS": 5, "REDDIT-BINARY": 21}
CLASSES = {
    "NCI1": (2053, 2057),
    "PROTEINS": (663, 450),
    "MUTAG": (63, 125),
    "DD": (691, 487),
    "COLLAB": (2600, 775, 1625),
    "REDDIT-BINARY": (1000, 1000),
    "IMDB-BINARY": (500, 500),
    "IMDB-MULTI": (500, 500, 500),
}


@pytest.mark.parametrize("name", CLASSES)
def test_the_counts_are_the_published_ones(data_dir, name):
    entry = next(entry for entry in entries() if entry.name == name)
    if not entry.is_here(data_dir):
        absent(f"{name} is not in {data_dir}.")
    dataset = entry.load(data_dir)
    found, published = count(dataset.store), statistics(entry.name)
    # The published averages of COLLAB count its 2837 self-loops, which are left out of the graphs.
    loops = int(dataset.origin.note.partition(" self-loops")[0] or 0)
    assert found.graphs == published.graphs
    assert found.avg_nodes == pytest.approx(published.avg_nodes, abs=0.05)
    assert found.avg_edges + loops / found.graphs == pytest.approx(published.avg_edges, abs=0.006)
    assert dataset.task.num_classes == entry.task.num_classes
    assert (sum(found.classes.values()), found.directed, found.self_loops) == (found.graphs, False, 0)
    assert found.isolated_nodes == ISOLATED.get(entry.name, 0)
    assert tuple(found.classes.values()) == CLASSES[entry.name]
