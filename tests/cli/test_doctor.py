"""`adgcl doctor`: the last line agrees with the table, and a machine gets every detail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adgcl import doctor
from adgcl.core.errors import OutputError
from adgcl.data.catalog import known_names


def test_every_detail_for_a_machine(run, data_dir: Path) -> None:
    answer = run("doctor", "--json", "--data-dir", data_dir)
    tree = json.loads(answer.out)
    found = {check["name"]: check for check in tree["checks"]}
    assert answer.code == 0 and tree["well"] and tree["problems"] == []
    assert found["data set freesolv"]["well"] and found["torch"]["found"]
    assert {f"data set {name}" for name in known_names()} <= set(found)
    assert found["data set MUTAG"]["state"] == "well"


def test_a_fresh_machine_has_no_problem(run, tmp_path: Path) -> None:
    answer = run("doctor", "--data-dir", tmp_path / "nowhere")
    assert answer.code == 0 and "problem" not in answer.out
    assert "ADGCL_DATA" in answer.out
    assert f"Known data sets that are not here: {len(known_names()) - 3}. `adgcl data list`" in answer.out
    assert "Data sets here: freesolv, planted, planted-chains." in answer.out and "MUTAG" not in answer.out
    assert answer.out.strip().endswith("Everything needed is in place. Try `adgcl quickstart`.")
    tree = json.loads(run("doctor", "--json", "--data-dir", tmp_path / "nowhere").out)
    found = {check["name"]: check["found"] for check in tree["checks"]}
    assert found["data folder"] == f"{tmp_path / 'nowhere'} (not there yet)"  # the table may break this line
    advice = {check["name"]: check["advice"] for check in tree["checks"]}
    assert advice["data set MUTAG"] == "adgcl data prepare MUTAG"


def test_a_problem_is_in_the_table_and_in_the_last_line(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "file" / "below"))
    answer = run("doctor", "--data-dir", tmp_path / "nowhere")
    assert answer.code == 0 and answer.out.count("← problem") == 1 and "Set ADGCL_CACHE" in answer.out
    assert answer.out.strip().endswith("Ready to use, but see above: cache folder.")
    assert "locks in the cache folder" not in answer.out


def test_it_fails_when_something_essential_is_broken(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adgcl.doctor._PACKAGES", ("no_such_package",))
    answer = run("doctor")
    assert answer.code == 1 and "pip install" in answer.out
    assert answer.out.strip().endswith("Nothing works without no_such_package: see what to do above.")


def test_an_extra_that_is_absent_is_a_remark(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adgcl.doctor._EXTRAS", (("no_such_package", "excel", ".xlsx files"),))
    answer = run("doctor")
    assert 'pip install "adgcl[excel]"' in answer.out and "problem" not in answer.out and answer.code == 0


@pytest.mark.parametrize(
    ("kind", "state", "words"), [("system", "well", "operating system"), ("marker", "remark", "marker files")]
)
def test_locks_are_tried_where_files_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, state: str, words: str
) -> None:
    tried = []
    monkeypatch.setattr(doctor, "lock_kind", lambda folder: tried.append(folder) or kind)
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "not" / "made"))
    checks = {check.name: check for check in doctor.examine(tmp_path)}
    assert tried == [tmp_path, tmp_path]
    for name in ("locks in the cache folder", "locks in the working folder"):
        assert checks[name].state == state and words in checks[name].found
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_locks_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> str:
        raise OutputError("The file system offers no locks.", "Choose another.")

    monkeypatch.setattr(doctor, "lock_kind", refuse)
    check = next(check for check in doctor.examine(tmp_path) if check.name == "locks in the working folder")
    assert (check.state, check.found, check.advice) == (
        "problem", "The file system offers no locks.", "Choose another.",
    )  # fmt: skip


@pytest.mark.parametrize("lacking", ["", "the processor has no AVX2"])
def test_which_training_step_is_taken(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacking: str) -> None:
    monkeypatch.setattr("adgcl.compiled.choice.processor_lacks", lambda: lacking)
    tree = json.loads(run("doctor", "--json", "--data-dir", tmp_path).out)
    found = next(check for check in tree["checks"] if check["name"] == "compiled step")
    assert found["state"] == ("remark" if lacking else "well") and lacking in found["found"]
    assert found["found"].startswith("not used" if lacking else "works here")


def test_loops_are_compiled_in_advance(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([True, False])
    monkeypatch.setattr("adgcl.training.ahead.compile_all", lambda processes: next(answers))
    assert "compiled in 0 s" in run("doctor", "--compile", "--data-dir", tmp_path).out
    tree = json.loads(run("doctor", "--compile", "--json", "--data-dir", tmp_path).out)
    assert tree["checks"][-1]["name"] == "inner loops" and tree["checks"][-1]["found"] == "already compiled"


def test_loops_that_cannot_be_compiled_are_a_problem(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(processes: int) -> bool:
        raise OutputError("No space left on device.")

    monkeypatch.setattr("adgcl.training.ahead.compile_all", fail)
    answer = run("doctor", "--compile", "--data-dir", tmp_path)
    assert answer.code == 0 and "cannot be compiled: No space left" in answer.out


def test_a_folder_that_machines_share_is_tried(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = run("doctor", "--shared", tmp_path / "not" / "made", "--json")
    found = {check["name"]: check for check in json.loads(answer.out)["checks"]}
    assert found["sharing it"]["state"] == "well" and "locks in the shared folder" in found
    assert "sharing the working folder" not in found and list(tmp_path.iterdir()) == []

    def refuse(folder: Path) -> None:
        raise OutputError("It cannot be shared: no lock is noticed.", "Choose another.")

    monkeypatch.setattr(doctor, "check_shared", refuse)
    answer = run("doctor")
    words = " ".join(answer.out.split())
    assert answer.code == 0 and "see above: sharing the working folder" in words
    assert "Workers of a cluster need" in words
