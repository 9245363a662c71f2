"""The data sets that are known by name, and the folders they are looked for in."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from adgcl.core.errors import DataMissingError, UnknownNameError
from adgcl.data import catalog
from adgcl.data.fetch import folder
from adgcl.data.fetch.prepare import missing

TU = [
    "NCI1",
    "PROTEINS",
    "MUTAG",
    "DD",
    "COLLAB",
    "REDDIT-BINARY",
    "REDDIT-MULTI-5K",
    "IMDB-BINARY",
    "IMDB-MULTI",
]


def test_every_family_has_entries_that_say_what_they_are():
    entries = catalog.all_entries()
    assert {entry.origin.family for entry in entries} == set(catalog.FAMILIES)
    for entry in entries:
        assert entry.title and entry.origin.source and entry.origin.licence
        assert entry.files or entry.is_here(Path("nowhere"))
        assert all(not Path(path).is_absolute() for choice in entry.files for path in choice)
        assert all(d.url.startswith("http") and not Path(d.path).is_absolute() for d in entry.downloads)
    assert set(TU) <= set(catalog.known_names())


@pytest.mark.parametrize(
    ("asked", "name"),
    [("mutag", "MUTAG"), ("rdt-b", "REDDIT-BINARY"), ("RDT_M5K", "REDDIT-MULTI-5K"), ("imdb-m", "IMDB-MULTI"),
     (" ogbg_molesol", "ogbg-molesol"), ("Planted", "planted")],
)  # fmt: skip
def test_names_are_found_in_any_spelling(asked, name):
    assert catalog.is_known(asked)
    assert catalog.find_entry(asked).name == name


def test_an_unknown_name_has_neighbours():
    assert not catalog.is_known("MUTAK")
    with pytest.raises(UnknownNameError, match="Did you mean 'MUTAG'"):
        catalog.find_entry("MUTAK")


def test_two_sets_of_one_name_are_a_mistake(monkeypatch):
    first = catalog.all_entries()[0]
    monkeypatch.setattr(catalog, "all_entries", lambda: (first, replace(first)))
    catalog._by_name.cache_clear()
    with pytest.raises(ValueError, match="two data sets are called NCI1"):
        catalog.is_known("NCI1")
    catalog._by_name.cache_clear()


def test_a_missing_set_says_how_to_get_it(tmp_path):
    found = str(missing(catalog.find_entry("RDT-M5K"), tmp_path))
    for part in (
        "adgcl data prepare REDDIT-MULTI-5K",
        "https://",
        "tu/REDDIT-MULTI-5K.zip",
        str(tmp_path),
        "ADGCL_DATA",
    ):
        assert part in found
    with pytest.raises(DataMissingError, match="MUTAG is not in"):
        catalog.find_entry("MUTAG").load(tmp_path)


def test_folders_come_from_the_argument_the_environment_or_the_cache(monkeypatch, tmp_path):
    for name in ("ADGCL_DATA", "ADGCL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder.data_folder() == tmp_path / ".cache" / "adgcl" / "data"
    assert folder.packed_folder() == tmp_path / ".cache" / "adgcl" / "packed"
    assert folder.data_folder("~/here") == tmp_path / "here"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert folder.data_folder() == tmp_path / ".cache" / "adgcl" / "data"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert folder.packed_folder() == tmp_path / "xdg" / "adgcl" / "packed"
    monkeypatch.setenv("ADGCL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "packed"))
    assert folder.data_folder() == tmp_path / "data"
    assert folder.packed_folder() == tmp_path / "packed"
    assert folder.data_folder(tmp_path / "other") == tmp_path / "other"


def test_looking_names_up_imports_nothing_heavy():
    code = (
        "import sys; from adgcl.data.catalog import find_entry; find_entry('MUTAG'); "
        "print({'torch', 'torch_geometric', 'rdkit', 'networkx', 'pandas', 'pyarrow'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
