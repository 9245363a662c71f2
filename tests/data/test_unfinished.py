"""A conversion that is killed goes on where it was, and ends with the same graphs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adgcl.data.load import load_dataset
from adgcl.graphs.chem import kept_chunks
from adgcl.jobs import chunks
from tests.graph_strategies import assert_same_store

# Dies without a word at its fourth chunk of five molecules.
_KILLED = """
import os, sys
from adgcl.graphs.chem import kept_chunks
from adgcl.jobs import chunks
from adgcl.data.load import load_dataset

chunks.CHUNK, convert, calls = 5, kept_chunks.convert, []

def dies(*words):
    calls.append(words)
    if len(calls) == 4:
        os._exit(9)
    return convert(*words)

kept_chunks.convert = dies
load_dataset(sys.argv[1], keep_largest_fragment=True)
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "packed"))
    monkeypatch.setattr(chunks, "CHUNK", 5)
    path = tmp_path / "many [1].smi"
    rows = [f"{'C' * (1 + i)}{'.Cl' if i % 7 == 3 else ''}" if i % 6 != 2 else f"bad{i}" for i in range(32)]
    path.write_text("\n".join(rows) + "\n")
    return path


def unfinished(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "packed").rglob("*.unfinished"))


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    convert, sizes = kept_chunks.convert, []

    def counts(smiles, *words):
        sizes.append(len(smiles))
        return convert(smiles, *words)

    monkeypatch.setattr(kept_chunks, "convert", counts)
    return sizes


def test_a_killed_conversion_goes_on(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = load_dataset(table, keep_largest_fragment=True, cache=False)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", _KILLED, str(table)], env=environment).returncode == 9
    (folder,) = unfinished(tmp_path)
    assert len(list(folder.iterdir())) == 3
    sizes = counted(monkeypatch)
    resumed = load_dataset(table, keep_largest_fragment=True)
    assert sizes == [5, 5, 5, 2], "only what was not finished"
    assert_same_store(resumed.store, whole.store)
    assert (resumed.bad_rows, list(resumed.smiles), resumed.mixtures) == (
        whole.bad_rows,
        list(whole.smiles),
        whole.mixtures,
    )
    assert resumed.rows.tolist() == whole.rows.tolist() and not unfinished(tmp_path)


@pytest.mark.parametrize("harm", [lambda path: path.write_bytes(path.read_bytes()[:-3]), lambda path: path.unlink()])
def test_chunks_that_were_lost_or_damaged_are_converted_again(table: Path, harm, monkeypatch) -> None:
    def read(place: Path):
        from adgcl.data.text.smiles_table import load_smiles_table

        return load_smiles_table(table, unfinished=place)

    place = table.parent / "here"
    first = read(place)
    harm(sorted(place.iterdir())[1])
    sizes = counted(monkeypatch)
    assert_same_store(read(place).store, first.store)
    assert len(sizes) == 1


def test_several_processes_keep_and_find_chunks(table: Path) -> None:
    from adgcl.data.text.smiles_table import load_smiles_table

    place = table.parent / "here"
    first, again = (load_smiles_table(table, unfinished=place, workers=2) for _ in range(2))
    assert len(list(place.iterdir())) == 7
    assert_same_store(again.store, first.store)


def test_changed_files_take_nothing_from_before(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", _KILLED, str(table)], env=environment)
    table.write_text(table.read_text() + "CCO\n")
    sizes = counted(monkeypatch)
    load_dataset(table, keep_largest_fragment=True)
    assert sum(sizes) == 33 and not unfinished(tmp_path), "also the folder of the earlier state is gone"
