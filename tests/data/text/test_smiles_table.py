"""Tables of SMILES as people have them: every delimiter, header, label and mistake."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgcl.core.errors import DataError, UnknownNameError
from adgcl.core.schema import Task
from adgcl.data.text.smiles_table import load_smiles_table, smiles_dataset

MOLECULES = ["CCO", "c1ccccc1", "C[C@H](N)C(=O)O", "[Na+].[Cl-]", "CC(=O)Nc1ccc(O)cc1"]


@pytest.fixture
def load(tmp_path):
    def read(content, name="table.csv", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_smiles_table(path, **options)

    return read


def fails(load, content, *parts, name="table.csv", **options):
    with pytest.raises(DataError) as caught:
        load(content, name, **options)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends(load, delimiter, end):
    rows = [("id", "Smiles", "y"), ("a", "CCO", "1.5"), ("b", "CC", "2.5"), ("c", "C", "")]
    dataset = load(end.join(delimiter.join(row) for row in rows) + end)
    assert dataset.smiles == ("CCO", "CC", "C") and list(dataset.store.ids) == ["a", "b", "c"]
    assert np.array_equal(dataset.store.y, [[1.5], [2.5], [np.nan]], equal_nan=True)
    assert dataset.task == Task("regression", names=("y",))


@pytest.mark.parametrize("encode", [str.encode, lambda s: s.encode("utf-8-sig"), lambda s: s.encode("utf-16")])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_encodings(load, encode, pack):
    dataset = load(pack(encode("smiles,name\nCCO,é\nCC,β\n")), "t.csv.gz" if pack is gzip.compress else "t.csv")
    assert list(dataset.store.ids) == ["é", "β"] and dataset.name == "t"


def test_smi(load):
    dataset = load("CCO ethanol\n\nCC(C)C\tiso butane\nxx bad\nC\n", "mine.smi")
    assert list(dataset.store.ids) == ["ethanol", "iso butane", "4"]
    assert dataset.rows.tolist() == [0, 2, 4] and [bad.line for bad in dataset.bad_rows] == [2, 4]
    assert load("SMILES name\nCCO e\n", "mine.smi").smiles == ("CCO",)
    assert load("CCO\nCC\n", "mine.smi").store.ids is None
    assert list(load("CCO\n" * 150 + "CC ethane\n", "mine.smi").store.ids)[149:] == ["149", "ethane"]
    table = load("smiles\tname\ty\nCCO\tan alcohol\t1.5\n", "mine.smi.gz")
    assert table.store.y.tolist() == [[1.5]] and list(table.store.ids) == ["an alcohol"]


def test_without_header(load):
    assert load("CCO\nCCN\nc1ccccc1\n").smiles == ("CCO", "CCN", "c1ccccc1")
    dataset = load("1.5,CCO\n2.5,CC\n", smiles_column="2", label_columns=["1"])
    assert dataset.store.y.tolist() == [[1.5], [2.5]]


@pytest.mark.parametrize(
    "header",
    [
        "smiles,a",
        "SMILES,a",
        "Canonical SMILES,a",
        "canonical_smiles,a",
        "structure,a",
        "Mol,a",
        "my smiles,a",
        "zzz,a",
    ],
)
def test_the_column_is_found(load, header):
    assert load(header + "\nCCO,x\nCC,y\nc1ccccc1,z\n").smiles == ("CCO", "CC", "c1ccccc1")


def test_the_better_name_wins(load):
    assert load("mol,smiles\nCC,CCO\n").smiles == ("CCO",)
    assert load("mol,smiles\nCC,CCO\n", smiles_column="mol").smiles == ("CC",)
    assert load("mol,smiles\nCC,CCO\n", smiles_column="MOL").smiles == ("CC",)


def test_a_name_that_only_looks_like_smiles_is_not_enough(load):
    assert load("mol,text\nM1,CCO\nM2,CC\n").smiles == ("CCO", "CC")


def test_bad_rows_keep_line_text_and_reason(load):
    dataset = load('smiles,id\nCCO,a\n\nxx,b\n,c\nCC,d,e,f\n"C\nC",g\nCCC,h\n')
    told = [(bad.line, bad.text) for bad in dataset.bad_rows]
    assert told == [(3, ""), (4, "xx"), (5, ""), (6, "CC")]
    assert [bad.reason.split()[0] for bad in dataset.bad_rows] == ["empty", "syntax", "empty", "4"]
    assert dataset.rows.tolist() == [0, 5, 6] and list(dataset.store.ids) == ["a", "g", "h"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "smiles,y\nCCO,1\n\n,\nCC,2\n,\n\n \n\n"),
        ("t.tsv", "smiles\ty\nCCO\t1\n\n\t\nCC\t2\n\t\n\n"),
        ("t.smi", "CCO\n\n \nCC\n"),
        ("bare.csv", "\nCCO,1\n\nCC,2\n"),
    ],
)
def test_empty_rows_keep_their_place_and_blank_lines_at_the_end_are_none(load, name, content):
    dataset = load(content, name)
    places = {"t.csv": [0, 3], "t.tsv": [0, 3], "t.smi": [0, 3], "bare.csv": [1, 3]}[name]
    assert dataset.rows.tolist() == places and {bad.reason for bad in dataset.bad_rows} == {"empty"}
    assert len(dataset) + len(dataset.bad_rows) == (5 if name in ("t.csv", "t.tsv") else 4)


def test_one_smiles_never_stops_a_table(load):
    long, dashes = "C" * 1_000_000, "C" + "\u2014" * 300
    for name, table in {
        "named.csv": f"smiles,y\nCCO,1.5\n{long},2\n{dashes},3\nCC,4\n",
        "bare.csv": f"CCO,1.5\n{long},2\n{dashes},3\nCC,4\n",
        "bare.smi": f"CCO a\n{long} b\n{dashes} c\nCC d\n",
    }.items():
        dataset = load(table, name)
        assert dataset.smiles == ("CCO", "CC")
        assert [bad.reason for bad in dataset.bad_rows] == [
            "longer than 6,000 characters",
            "'—' at position 2 is not a SMILES character",
        ]


def test_rows_that_are_too_short_miss_their_last_fields(load):
    dataset = load("smiles,y\nCCO,1.5\nCC\nC,2.5\n")
    assert np.isnan(dataset.store.y[1, 0]) and len(dataset) == 3


@pytest.mark.parametrize(
    "labels, kind, expected",
    [
        ("0 1 1 0", "binary", [0, 1, 1, 0]),
        ("1.0 0 ? 1", "binary", [1, 0, np.nan, 1]),
        ("yes No YES no", "binary", [1, 0, 1, 0]),
        ("inactive active NA active", "binary", [0, 1, np.nan, 1]),
        ("3 5 3 4", "multiclass", [0, 2, 0, 1]),
        ("red blue nan red", "multiclass", [1, 0, np.nan, 1]),
        ("1.5 2 3 4", "regression", [1.5, 2, 3, 4]),
        ("-1e3 2 null 0.5", "regression", [-1000, 2, np.nan, 0.5]),
    ],
)
def test_tasks_are_guessed(load, labels, kind, expected):
    dataset = load("smiles,label\n" + "".join(f"C,{label}\n" for label in labels.split()))
    assert dataset.task.kind == kind
    assert np.array_equal(dataset.store.y[:, 0], expected, equal_nan=True)


def test_many_whole_numbers_are_measurements(load):
    assert load("smiles,y\n" + "".join(f"C,{i}\n" for i in range(11))).task.kind == "regression"
    assert load("smiles,y\n" + "".join(f"C,{i}\n" for i in range(11)), task="multiclass").task.num_classes == 11


def test_the_task_can_be_told(load):
    table = "smiles,y\nC,0\nCC,1\n"
    assert load(table, task="regression").task.kind == "regression"
    assert load(table, task="multiclass").task.names == ("0", "1")
    assert load(table, task="none").store.y is None
    assert load(table, task=Task("binary", names=("x",))).task.names == ("x",)
    with pytest.raises(UnknownNameError, match="binary"):
        load(table, task="binry")
    fails(load, "smiles,y\nC,0\nCC,2\n", "0, 1 or empty", task="binary")
    several = "name one label column at a time"
    fails(load, "smiles,a,b\nC,0,1\n", "2 label columns", several, task="multiclass", label_columns=["a", "b"])
    fails(load, "smiles,a,b\nC,0,2\n", "0, 1 or empty", several, task="binary", label_columns=["a", "b"])


def test_labels_are_only_what_is_named(load):
    table = "smiles,logS,MW,activity\nC,1.5,16,1\nCC,2.5,30,0\n"
    assert load(table).task.names == ("activity",)
    assert load(table, label_columns="logS").store.y.tolist() == [[1.5], [2.5]]
    assert load(table, label_columns=["logS", "MW"]).task == Task("regression", 2, names=("logS", "MW"))
    assert load("smiles,logS\nC,1\n").task.kind == "none"
    assert load("smiles,y\nC,\n").task.kind == "none"


def test_a_wrong_label_is_named(load):
    fails(load, "smiles,y\nC,1.5\nCC,2\nCCC,oops\n", "line 4", "'oops'", "--task multiclass")
    fails(load, "smiles,y\nC,1.5\nCC,inf\n", "line 3", "'inf'")
    with pytest.raises(DataError, match=r"'red'.*\n.*name one label column at a time") as caught:
        load("smiles,a,b\nC,1,red\nCC,0,blue\n", label_columns=["a", "b"])
    assert "--task" not in str(caught.value), "two columns cannot be classes"
    fails(load, "smiles,v\nC,\nCC,\n", "'v'", "is empty", "Name a column that holds labels", label_columns=["v"])
    fails(load, "smiles,v\nC,1\n", "'v' is named twice", label_columns=["v", "V"])
    fails(load, "SMILES,v\nC,1\n", "'SMILES' is the SMILES column and cannot be a label", label_columns=["smiles"])


def test_labels_of_unreadable_rows_do_not_count(load):
    assert load("smiles,y\nC,1\nxx,oops\nCC,0\n").task.kind == "binary"


def test_splits(load):
    table = "smiles,part\n" + "".join(f"{'C' * (i + 1)},{p}\n" for i, p in enumerate(["train", "VAL", "test"]))
    assert {name: rows.tolist() for name, rows in load(table, split="part").split.items()} == {
        "train": [0], "valid": [1], "test": [2]
    }  # fmt: skip
    assert load(table).split is None
    assert sum(map(len, load(table, split="scaffold").split.values())) == 3
    assert sum(map(len, load(table, split="random").split.values())) == 3
    fails(load, table + "CO,later\n", "table.csv, line 5", "'later'", "train, valid or test", split="part")
    fails(load, table, "no column 'scafold'", split="scafold")


def test_files_that_cannot_be_read(load, tmp_path):
    fails(load, "", "is empty")
    fails(load, "\n \n", "is empty")
    fails(load, "smiles,y\n", "no rows")
    fails(load, "smiles,y,y\nC,1,2\n", "two columns called 'y'", "Rename")
    fails(load, b"smiles\nC\nC\xff\n", "line 3", "UTF-8")
    fails(load, gzip.compress(b"smiles\nC\xff\n"), "line 2", "UTF-8", name="t.csv.gz")
    fails(load, b"smiles\nC\0\n", "line 2", "not text")
    fails(load, gzip.compress(b"smiles\nCCO\n" * 99)[:-12], "damaged gzip", name="t.csv.gz")
    noise = np.random.default_rng(0).integers(65, 91, 30_000, dtype=np.uint8).tobytes()
    fails(load, gzip.compress(b"\xff\xfe\x00\xd8A" + noise)[:-12], "UTF-8", name="t.csv.gz")
    fails(load, 'smiles,y\nC,"1\nCC,2\n', "line 2", "double quote")
    with pytest.raises(DataError, match="no file"):
        load_smiles_table(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="not a file"):
        load_smiles_table(tmp_path)


def test_columns_that_are_not_there(load):
    fails(load, "a,b\n1,hello there\n2,good bye\n", "a, b", "--smiles-column")
    fails(
        load,
        "smiles,b\nC,1\n",
        "'smile'",
        "smiles, b",
        "Did you mean 'smiles'",
        "--smiles-column",
        smiles_column="smile",
    )
    fails(load, "smiles,b\nC,1\n", "'c'", "--label-column", label_columns=["c"])
    fails(load, "smiles,b\nC,1\n", "'c'", "--id-column", id_column="c")


def test_all_rows_unreadable(load):
    rows = "".join(f"x{i},1\n" for i in range(5))
    with pytest.raises(DataError) as caught:
        load("smiles,y\n" + rows)
    assert str(caught.value).count("syntax error") == 3 and "line 2: 'x0'" in str(caught.value)
    assert "--smiles-column" in str(caught.value)


def test_features_and_progress(load):
    seen = []
    dataset = load("smiles\nCCO\n", features="hu", workers=1, progress=lambda *counts: seen.append(counts))
    assert dataset.store.spec.name == "hu" and seen == [(1, 1)]
    with pytest.raises(UnknownNameError):
        load("smiles\nCCO\n", features="none")


def test_nothing_is_printed(load, capfd):
    load("smiles\nCCO\nxx\nC(C)(C)(C)(C)C\n")
    assert capfd.readouterr() == ("", "")


names = st.text(string.ascii_letters + string.digits + " ,;'\"-é\n", max_size=12).map(str.strip)
rows = st.lists(
    st.tuples(st.sampled_from(MOLECULES), names, st.floats(-1e6, 1e6).map(lambda v: v + 0.123456)),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from([",", "\t", ";"]), st.permutations([0, 1, 2]), st.sampled_from(["\n", "\r\n"]))
def test_what_csv_writes_is_read_back(tmp_path_factory, content, delimiter, order, end):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    for row in [("smiles", "name", "target"), *content]:
        writer.writerow([row[i] for i in order])
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    dataset = load_smiles_table(path)
    assert dataset.smiles == tuple(row[0] for row in content) and dataset.bad_rows == ()
    named = [row[1] or str(i) for i, row in enumerate(content)] if any(row[1] for row in content) else None
    assert dataset.store.ids == named
    assert dataset.store.y[:, 0].tolist() == [row[2] for row in content]


class _Told(Exception):
    """A DataError that says what to do."""


def told_plainly(path):
    try:
        return load_smiles_table(path)
    except DataError as error:
        raise _Told if error.hint else error from error


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_a_dataset_or_a_plain_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    path.write_bytes(content)
    with contextlib.suppress(_Told):
        assert len(told_plainly(path)) > 0


def test_in_memory():
    dataset = smiles_dataset(["CCO", "xx", "CC"], y=[1.5, 2, None], ids=["a", "b", "c"])
    assert dataset.bad_rows[0].line == 2 and dataset.rows.tolist() == [0, 2]
    assert list(dataset.store.ids) == ["a", "c"] and dataset.store.y[0, 0] == 1.5 and np.isnan(dataset.store.y[1, 0])
    assert dataset.task.kind == "regression" and dataset.smiles == ("CCO", "CC")


@pytest.mark.parametrize(
    "y, kind, tasks",
    [
        ([0, 1, 1], "binary", 1),
        (np.array([True, False, True]), "binary", 1),
        (["a", "b", "c"], "multiclass", 1),
        (np.array([[0.5, 1], [2, np.nan], [3, 4]], dtype=np.float32), "regression", 2),
        ([[0, 1], [1, None], [0, 0]], "binary", 2),
    ],
)
def test_labels_in_memory(y, kind, tasks):
    dataset = smiles_dataset(["C", "CC", "CCC"], y=y, split="random")
    assert dataset.task.kind == kind and dataset.store.y.shape == (3, tasks)


def test_mistakes_in_memory():
    with pytest.raises(DataError, match="3 inputs but 2 labels"):
        smiles_dataset(["C", "CC", "CCC"], y=[1, 2])
    with pytest.raises(DataError, match="no split called"):
        smiles_dataset(["C"], split="scafold")
    with pytest.raises(DataError, match="Molecule 2"):
        smiles_dataset(["C", "CC"], y=[1.5, "x"])
