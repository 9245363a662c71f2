"""Texts are read as classes only if they look like classes, or if the user says that they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from adgcl.core.errors import DataError
from adgcl.core.schema import Task
from adgcl.data.text.smiles_table import load_smiles_table, smiles_dataset


def task_of(folder: Path, labels: Sequence[str], named: bool = True, task: str | None = None) -> Task:
    """The task of a table with a column of these labels."""
    path = folder / "table.csv"
    rows = [f'{"C" * (1 + row % 9)}O,"{label}"\n' for row, label in enumerate(labels)]
    path.write_text("smiles,activity\n" + "".join(rows), encoding="utf-8")
    return load_smiles_table(path, label_columns="activity" if named else None, task=task).task


def refused(folder: Path, labels: Sequence[str]) -> str:
    """The error about these labels; with `--task multiclass` there is none."""
    with pytest.raises(DataError, match="The labels of 'activity'") as caught:
        task_of(folder, labels)
    assert task_of(folder, labels, task="multiclass").num_classes == len(set(labels))
    assert "use --task multiclass" in str(caught.value)
    return str(caught.value)


UNITS = (
    "{} nM", "{}nM", "{} µM", "{},5 uM", "{}.25 mg/mL", "-{}.5 kcal/mol", "-{} kJ mol-1", "{}%", "{} %", "{} µg·h/mL",
    "{}e-6 cm/s", "{} °C", "{} Å", "{} Å2", "{} mL/min/kg", "{} ± 3", "{}+/-3 nM", "{} hours", "{} RLU", "{}-fold",
)  # fmt: skip


@pytest.mark.parametrize("text", UNITS)
def test_many_different_measurements_with_a_unit_are_no_classes(tmp_path: Path, text: str) -> None:
    often = [text.format(20 + row % 11) for row in range(44)]
    told = refused(tmp_path, often)
    assert f"measurements, such as {often[0]!r}" in told and "as classes there would be 11" in told
    assert "plain numbers, all in one unit; `adgcl finetune --unit`" in told
    seldom = [text.format(20 + row) for row in range(6)]
    assert "are measurements" in refused(tmp_path, seldom), "few, but none repeats"


def test_units_may_be_mixed_and_a_few_words_may_stand_between_them(tmp_path: Path) -> None:
    mixed = [f"{row} {('nM', 'µM', 'pM')[row % 3]}" if row % 4 else "n.d." for row in range(40)]
    assert "are measurements" in refused(tmp_path, mixed)


def test_a_few_measurements_among_words_leave_classes(tmp_path: Path) -> None:
    labels = ["high", "low"] * 10 + ["5 nM", "6 nM", "7 nM"]
    assert task_of(tmp_path, labels).names == ("5 nM", "6 nM", "7 nM", "high", "low")


@pytest.mark.parametrize(
    "labels",
    [(">3", "<2"), (">10 µM", "< 1 nM"), ("~5", "~6", "~7"), ("≥5", "<=5"), (">1",)],
    ids=lambda labels: " ".join(labels),
)
def test_limits_alone_are_no_classes_however_few(tmp_path: Path, labels: tuple[str, ...]) -> None:
    told = refused(tmp_path, labels * 10)
    assert "limits or approximate values" in told and "Leave these empty" in told and "two classes yourself" in told


@pytest.mark.parametrize(
    "labels",
    [
        ("1A", "1B", "2A", "12C"), ("1st", "2nd", "3rd"), ("5-HT", "5-HT1A", "D2"), ("10-50", "50-100"),
        ("<10", "10-50", ">50"), ("<10 µM", "10-50 µM", ">50 µM"), ("2020-01-05", "2020-01-06"), ("5 May", "6 June"),
        ("10 mg", "50 mg", "0.5 mg"), ("10%", "20%"), ("24 h", "48 h"), ("<LOD", "normal"), ("2C9", "3A4", "2D6"),
        (">10", "inactive"), tuple(f"{number}th" for number in range(4, 20)), tuple(f"5-{x}" for x in "abcdefghijklm"),
        tuple(f"{number} {word}" for number in range(10, 16) for word in ("alpha", "beta")),
    ],
    ids=lambda labels: " ".join(labels[:3]),
)  # fmt: skip
def test_classes_that_repeat_are_classes_even_if_they_begin_with_a_number(tmp_path: Path, labels: tuple[str, ...]):
    assert task_of(tmp_path, labels * 4).names == tuple(sorted(labels))


def test_names_are_no_classes(tmp_path: Path) -> None:
    told = refused(tmp_path, [f"drug {row}" for row in range(30)])
    assert "look like names, not classes: 30 rows have 30 different ones, such as 'drug 0'" in told
    assert "Name another column with --label-column" in told
    assert "look like names" in refused(tmp_path, [f"drug {row % 16}" for row in range(31)])
    assert task_of(tmp_path, [f"kind {row % 16}" for row in range(32)]).num_classes == 16, "each has two rows"
    assert task_of(tmp_path, [f"kind {row}" for row in range(10)]).num_classes == 10, "ten are few"
    assert task_of(tmp_path, [f"kind {row % 12}" if row < 24 else "" for row in range(90)]).num_classes == 12


def test_only_columns_that_the_user_named_are_doubted(tmp_path: Path) -> None:
    """A table with a column called activity can be embedded whatever is in it."""
    for labels in ([f"{row} nM" for row in range(20)], [f"drug {row}" for row in range(20)], [">3"] * 20):
        assert task_of(tmp_path, labels, named=False).kind == "multiclass"
    assert smiles_dataset(["C"] * 20, y=[f"drug {row}" for row in range(20)]).task.num_classes == 20
