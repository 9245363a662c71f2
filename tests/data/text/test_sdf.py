"""SDF files: what RDKit reads of them, record by record, and what becomes of records it cannot read."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from rdkit import Chem, rdBase
from rdkit.Chem import rdDepictor

from adgcl.core.errors import DataError
from adgcl.data.families.freesolv import load_freesolv
from adgcl.data.load import load_dataset
from adgcl.data.text.smiles_table import load_smiles_table

EMPTY = "\n\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n"


def record(smiles: str, title: str = "", fields: str = "", sanitize: bool = True, v3000: bool = False) -> str:
    molecule = Chem.MolFromSmiles(smiles, sanitize=sanitize)
    molecule.SetProp("_Name", title)
    if sanitize:
        rdDepictor.Compute2DCoords(molecule)
    block = Chem.MolToMolBlock(molecule, kekulize=sanitize, forceV3000=v3000)
    return f"{block}{fields}$$$$\n"


def read(folder: Path, text: str | bytes, name: str = "mine.sdf", **options: object):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_smiles_table(path, **options)


@pytest.fixture(scope="module")
def freesolv_sdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """FreeSolv's molecules as RDKit's own writer writes them."""
    path = tmp_path_factory.mktemp("sdf") / "freesolv.sdf"
    known = load_freesolv()
    with Chem.SDWriter(str(path)) as writer:
        for i, smiles in enumerate(known.smiles):
            molecule = Chem.MolFromSmiles(smiles)
            rdDepictor.Compute2DCoords(molecule)
            molecule.SetProp("_Name", known.store.id_of(i))
            molecule.SetProp("hydration", repr(float(known.store.y[i, 0])))
            if i % 3:
                molecule.SetProp("a note", f"number {i}\nof many")
            writer.write(molecule)
    return path


def test_what_rdkit_reads_is_what_is_read(freesolv_sdf: Path) -> None:
    dataset = load_smiles_table(freesolv_sdf, label_columns="hydration")
    theirs = [(m, Chem.MolToSmiles(m)) for m in Chem.ForwardSDMolSupplier(str(freesolv_sdf))]
    assert dataset.smiles == tuple(smiles for _, smiles in theirs) and dataset.bad_rows == ()
    assert list(dataset.store.ids) == [molecule.GetProp("_Name") for molecule, _ in theirs]
    assert dataset.store.y[:, 0].tolist() == [molecule.GetDoubleProp("hydration") for molecule, _ in theirs]
    assert dataset.columns == ("(title)", "hydration", "a note")


def test_the_molecules_are_those_of_the_smiles(freesolv_sdf: Path) -> None:
    known = load_freesolv()
    same = tuple(Chem.CanonSmiles(smiles) for smiles in known.smiles)
    assert load_smiles_table(freesolv_sdf).smiles == same


def test_gzip_cache_and_line_ends(freesolv_sdf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "packed"))
    plain = load_dataset(freesolv_sdf, label_columns="hydration")
    text = freesolv_sdf.read_bytes().replace(b"\n", b"\r\n")
    (tmp_path / "again.sdf.gz").write_bytes(gzip.compress(text))
    for _ in range(2):
        again = load_dataset(tmp_path / "again.sdf.gz", label_columns="hydration")
        assert list(again.smiles) == list(plain.smiles) and np.array_equal(again.store.y, plain.store.y)
        assert again.name == "again" and again.columns == plain.columns


def test_records_that_cannot_be_read_keep_their_place(tmp_path: Path) -> None:
    good = record("CCO", "ethanol")
    records = [
        good,
        record("C(C)(C)(C)(C)C", "five bonds", sanitize=False),
        good.replace(" O   0", " Xx  0"),
        "a title\nand nothing else\n$$$$\n",
        EMPTY + "$$$$\n",
        "$$$$\n",
        record("CC", "ethane").removesuffix("$$$$\n"),
    ]
    dataset = read(tmp_path, "".join(records))
    assert dataset.smiles == ("CCO", "CC") and dataset.rows.tolist() == [0, 6]
    assert list(dataset.store.ids) == ["ethanol", "ethane"]
    starts = np.cumsum([1, *(text.count("\n") for text in records)])
    assert [bad.line for bad in dataset.bad_rows] == starts[1:6].tolist()
    reasons = [bad.reason for bad in dataset.bad_rows]
    assert reasons[0] == "Explicit valence for atom # 0 C, 5, is greater than permitted"
    assert reasons[1] == "Element 'Xx' not found"
    assert reasons[2].endswith("line 4 of the record") and reasons[3] == "no atoms"
    assert [bad.id for bad in dataset.bad_rows[:3]] == ["five bonds", "ethanol", "a title"]
    assert dataset.bad_rows[0].text == "five bonds"


def test_properties_as_the_format_allows_them(tmp_path: Path) -> None:
    fields = ">  <A> (1)\n1\n\n> 25 <B>b>\nx\ny\n\n> <C>\n\n>  <D d>\n  lead\n\n"
    path = tmp_path / "odd.sdf"
    path.write_text(record("C", fields=fields) + record("CC", fields="> <E>\n1\n"))
    dataset = load_smiles_table(path, label_columns=["A"])
    with rdBase.BlockLogs():
        theirs = next(Chem.ForwardSDMolSupplier(str(path)))
    assert dataset.columns == (*theirs.GetPropNames(), "E") == ("A", "B>b", "C", "D d", "E")
    assert np.array_equal(dataset.store.y[:, 0], [1, np.nan], equal_nan=True) and dataset.store.ids is None


def test_the_structure_counts_and_not_a_property_of_that_name(tmp_path: Path) -> None:
    text = record("CCO", "a", "> <SMILES>\nCCC\n\n") + record("C(C)(C)(C)(C)C", "b", "> <SMILES>\nCC\n\n", False)
    dataset = read(tmp_path, text)
    assert dataset.smiles == ("CCO",) and len(dataset.bad_rows) == 1
    assert read(tmp_path, text, smiles_column="SMILES").smiles == ("CCC", "CC")
    assert read(tmp_path, text, id_column="SMILES").store.id_of(0) == "CCC"


def test_ids_come_from_a_property_where_there_are_no_titles(tmp_path: Path) -> None:
    text = record("CCO", "", "> <chembl_id>\nCHEMBL545\n\n")
    assert list(read(tmp_path, text).store.ids) == ["CHEMBL545"]


@pytest.mark.parametrize("smiles", ["C[C@H](N)C(=O)O", "C/C=C/C", "[O-][N+](=O)c1ccccc1", "[Na+].[Cl-]", "[13CH4]"])
@pytest.mark.parametrize("v3000", [False, True])
def test_stereo_charges_and_isotopes_stay(tmp_path: Path, smiles: str, v3000: bool) -> None:
    assert read(tmp_path, record(smiles, v3000=v3000)).smiles == (Chem.CanonSmiles(smiles),)


def test_bytes_that_are_not_utf8_are_latin_1(tmp_path: Path) -> None:
    text = record("CCO", "TITLE", "> <name>\né\n\n").encode("latin-1").replace(b"TITLE", "β".encode())
    dataset = read(tmp_path, text, label_columns="name")
    assert list(dataset.store.ids) == ["β"] and dataset.task.names == ("é",)


def test_files_that_are_no_sdf(tmp_path: Path) -> None:
    for text, match in (("", "is empty"), ("\n\n", "is empty"), ("smiles\nC\n", "No row"), ("C\0", "not text")):
        with pytest.raises(DataError, match=match) as caught:
            read(tmp_path, text)
        assert caught.value.hint
    with pytest.raises(DataError, match="damaged gzip"):
        read(tmp_path, gzip.compress(record("CCO").encode() * 99)[:-12], "cut.sdf.gz")


def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    read(tmp_path, record("CCO") + "x\n\n\n  a  b\nM  END\n$$$$\n" + record("CC"))
    assert capfd.readouterr() == ("", "")
