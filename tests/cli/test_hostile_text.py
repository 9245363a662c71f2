"""Text that users and files supply is shown as it is: no markup, no control of the terminal, no formula, no path."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from adgcl.data.load import load_dataset
from adgcl.data.packed import save_dataset
from tests.cli.conftest import SMALL, Run
from tests.record_cases import a_record

ESCAPE = "\x1b[31mred\x1b]0;title\x07"
HTML = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("http://x";"y")'


@pytest.mark.parametrize("name", ["[/x]", "[bold]y", "[link=http://x]z", "a\\[b]"])
def test_a_column_whose_name_looks_like_markup(run: Run, toys: Path, tmp_path: Path, name: str) -> None:
    table = tmp_path / "m.csv"
    rows = "".join(f"{'C' * (i + 1)},{i}.5\n" for i in range(30))
    table.write_text(f"smiles,{name}\n{rows}")
    settings = ("--label-column", name, "--split", "random", "--epochs", "1", "--seeds", "1", *SMALL)
    answer = run("finetune", "none", table, "--out", tmp_path / "model", *settings)
    assert answer.code == 0, answer.err
    assert f"No 90 % bands for {name}:" in answer.out
    answer = run("data", "info", table, "--label-column", name)
    assert answer.code == 0, answer.err


def test_a_file_name_that_looks_like_markup_is_printed_as_it_is(run: Run, finished: Path, molecules: Path) -> None:
    answer = run("embed", finished, molecules, "--out", "e[new].csv")
    assert answer.code == 0 and "Wrote e[new].csv" in answer.out
    assert Path("e[new].csv").exists()


def test_control_characters_do_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "m.csv"
    table.write_text(f"smiles,name\nCCO,a\n{ESCAPE},b\n", encoding="utf-8")
    for arguments in (("data", "info", table), ("data", "info", tmp_path / ESCAPE), ("data", "info", ESCAPE)):
        answer = run(*arguments)
        assert "\x1b" not in answer.text and "\x07" not in answer.text
        assert "\\x1b[31mred" in answer.text


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    folder = tmp_path / "records"
    for number, text in enumerate((f"{HTML}", f"{ESCAPE}", "two\nlines|and a bar", f"{FORMULA}", "[/b]")):
        a_record(dataset=text, method=text, created=str(number)).save(folder)
    return folder


@pytest.mark.parametrize("ending", ["md", "html", "tex", "csv", "svg"])
def test_reports_hold_text_and_nothing_else(run: Run, hostile: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"r.{ending}"
    answer = run("report", hostile, "--out", out)
    assert answer.code == 0, answer.err
    text = out.read_text(encoding="utf-8")
    assert "<script>alert" not in text or ending in ("csv", "tex")
    assert not set(text) & set(map(chr, [*range(9), *range(11, 32), 127]))
    if ending == "svg":
        ElementTree.fromstring(text)
    if ending == "md":
        bars = {line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("| ")}
        headings = [line for line in text.splitlines() if line.startswith("| data")]
        assert headings and all(count > 2 for count in bars)
        assert "two lines\\|and a bar" in text
    if ending == "csv":
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert f"'{FORMULA}" in cells and not any(cell.startswith("=") for cell in cells)


def test_the_table_of_records_is_printed(run: Run, hostile: Path) -> None:
    answer = run("report", hostile)
    assert answer.code == 0 and "\x1b" not in answer.out and "[/b]" in answer.out


def test_tables_for_spreadsheets_hold_no_formulas(run: Run, finished: Path, tmp_path: Path) -> None:
    table = tmp_path / "m.csv"
    table.write_text("name,smiles\n=cmd|' /C calc'!A0,CCO\n-5,CCN\n@SUM(1),=1+1\n")
    assert run("embed", finished, table, "--id-column", "name", "--out", "e.csv").code == 0
    ids = [row[0] for row in csv.reader(io.StringIO(Path("e.csv").read_text()))][1:]
    assert ids == ["'=cmd|' /C calc'!A0", "-5", "'@SUM(1)"]
    command = ("pretrain", table, "--out", "run", "--epochs", "0", *SMALL)
    assert run(*command).code == 0
    (row,) = list(csv.DictReader(io.StringIO(Path("run/unreadable.csv").read_text())))
    assert row["text"] == "'=1+1"


@pytest.mark.parametrize("name", ["../../../escaped", "/tmp/escaped", "..", "a/b", "x" * 300, "\x00", "con"])
def test_a_data_set_name_is_never_a_path(run: Run, toys: Path, tmp_path: Path, name: str) -> None:
    below = tmp_path / "deep" / "below"
    below.mkdir(parents=True)
    save_dataset(replace(load_dataset(toys, cache=False), name=name), below / "d.graphs")
    before = {path for path in tmp_path.rglob("*") if not path.is_relative_to(below)}
    settings = ("--method", "random_init", "--seeds", "1", "--json", *SMALL)
    answer = run("evaluate", below / "d.graphs", "--out", below / "results", "--work", below / "work", *settings)
    assert answer.code == 0, answer.err
    after = {path for path in tmp_path.rglob("*") if not path.is_relative_to(below)}
    assert after == before and not Path("/tmp/escaped").exists()
    (record,) = (Path(file) for file in json.loads(answer.out)["files"])
    assert record.parent == below / "results" and record.exists()
    assert run("report", below / "results").code == 0


def test_rows_that_used_to_stop_a_whole_table(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "m.csv"
    lines = ["C" + "—" * 30, "C" * 131_000, "C" * 1_000_000, "C1" + "C" * 20_000 + "C1"]
    table.write_text("smiles\nCCO\n" + "\n".join(lines) + "\nCCN\n", encoding="utf-8")
    answer = run("data", "info", table, "--json")
    assert answer.code == 0 and json.loads(answer.out)["unreadable"] == 4


def test_a_graph_number_in_the_billions_takes_no_memory(run: Run, toys: Path) -> None:
    (toys / "TOYS_graph_labels.txt").unlink()
    indicator = toys / "TOYS_graph_indicator.txt"
    indicator.write_text(indicator.read_text().rstrip().rsplit("\n", 1)[0] + "\n2147483647\n")
    answer = run("data", "info", toys)
    assert answer.code == 1 and "has no node" in answer.err


def test_the_names_of_files_are_readable_and_different() -> None:
    from adgcl.core.safe_text import file_name

    names = ["MUTAG", "my data", "Löslichkeit", "..", "../x", "a/b", "a_b", "a\\b", "", ".", "NUL", "x" * 300]
    made = [file_name(name) for name in names]
    assert made[:3] == names[:3] and len(set(made)) == len(names)
    for name in made:
        assert name and Path(name).name == name and name not in (".", "..") and len(name.encode()) < 140
    rng = np.random.default_rng(0)
    for _ in range(300):
        text = "".join(map(chr, rng.choice([0, 10, 46, 47, 58, 92, 97, 0xD800, 0x1F600], size=rng.integers(0, 12))))
        name = file_name(text)
        assert not {"/", "\0"} & set(name) and name.strip(".") and Path("folder", name).parent == Path("folder")
