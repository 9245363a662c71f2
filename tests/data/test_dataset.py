"""What a Dataset knows beside its graphs."""

from __future__ import annotations

from pathlib import Path

from adgcl.data.load import load_dataset


def test_columns_that_could_be_labels_are_offered(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("name,smiles,logP,alive\nethanol,CCO,-0.3,1\nmethane,C,1.1,0\n")
    dataset = load_dataset(path, cache=False)
    assert dataset.task.kind == "none" and dataset.columns == ("name", "logP", "alive")
    assert dataset.label_hint.startswith("It has: name, logP, alive; name one with --label-column")
    assert load_dataset(path, cache=False, label_columns="logP").columns == dataset.columns


def test_a_few_of_many_columns_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("smiles," + ",".join(f"t{i}" for i in range(50)) + "\nCCO\n")
    hint = load_dataset(path, cache=False).label_hint
    assert "t0, " in hint and "t19 and 30 more" in hint and "t20" not in hint


def test_what_is_no_table_has_no_columns() -> None:
    dataset = load_dataset(["CCO"])
    assert dataset.columns == () and dataset.label_hint == ""
