"""The command as a whole: help, version, speed, errors of any kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adgcl.cli import main as command

COMMANDS = (
    "quickstart", "doctor", "pretrain", "embed", "evaluate", "finetune", "predict", "explain", "map", "neighbours",
    "report", "reproduce", "methods", "settings",
)  # fmt: skip
GROUPS = ("Your data", "See what was learned", "The paper", "This machine")


def adgcl(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "adgcl", *arguments], capture_output=True, text=True, timeout=60, **options
    )  # type: ignore[call-overload,no-any-return]


def test_help_is_quick() -> None:
    times = []
    for _ in range(3):
        before = os.times()
        answer = adgcl("--help")
        after = os.times()
        # Processor time: other programs on the machine take none of it.
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
        assert answer.returncode == 0 and "pretrain" in answer.stdout
    assert min(times) < 0.6


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from adgcl.cli.main import main; main(['--help']);"
        "print([m for m in ('torch', 'rdkit', 'torch_geometric', 'pyarrow', 'numpy', 'pydantic') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert answer.stdout.strip().endswith("[]")


def test_version(run) -> None:
    answer = run("--version")
    assert answer.code == 0 and answer.out.startswith("adgcl ")


@pytest.mark.parametrize("name", [*[(c,) for c in COMMANDS], ("data", "list"), ("data", "info"), ("data", "prepare")])
def test_every_command_has_an_example(run, name: tuple[str, ...]) -> None:
    answer = run(*name, "--help")
    assert answer.code == 0
    assert "Example" in answer.out and f"adgcl {' '.join(name)}" in answer.out.partition("Example")[2]


@pytest.mark.parametrize("name", [*[(c,) for c in COMMANDS], ("data", "list"), ("data", "info"), ("data", "prepare")])
def test_every_command_prints_json(run, name: tuple[str, ...]) -> None:
    assert "--json" in run(*name, "--help").out


def test_help_is_grouped_by_what_a_person_wants(run) -> None:
    shown = run("--help").out
    places = [shown.index(f" {group} ") for group in GROUPS]
    assert places == sorted(places) and all(f" {command} " in shown for command in COMMANDS)


def test_shells_can_complete_commands() -> None:
    asked = {"_ADGCL_COMPLETE": "complete_bash", "COMP_WORDS": "adgcl expl", "COMP_CWORD": "1"}
    answer = adgcl(env={**os.environ, **asked})
    assert answer.stdout.split() == ["explain"]


def test_unknown_command_is_a_usage_error(run) -> None:
    answer = run("pretrian")
    assert answer.code == 2 and "pretrain" in answer.err


@pytest.mark.parametrize("arguments", [("--debug", "settings", "nosuch"), ("settings", "nosuch", "--debug")])
def test_debug_shows_the_traceback(run, arguments: tuple[str, ...]) -> None:
    answer = run(*arguments)
    assert answer.code == 1 and "Traceback" in answer.err and "nosuch" in answer.err


def test_debug_behind_two_dashes_is_no_option() -> None:
    assert command._without_debug(["embed", "--", "--debug"]) == (["embed", "--", "--debug"], False)


def _fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def broken(model: object) -> None:
        raise error

    monkeypatch.setattr("adgcl.core.describe.describe", broken)


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ValueError("odd\nthing"), 1, "ValueError: odd"),
        (KeyboardInterrupt(), 130, "Stopped."),
        (MemoryError(), 1, "not enough memory"),
        (OSError(28, "No space left on device"), 1, "The disk is full"),
        (PermissionError(13, "Permission denied", "there"), 1, "there: Permission denied"),
    ],
)
def test_unexpected_errors_are_one_line(run, monkeypatch, error: BaseException, code: int, words: str) -> None:
    _fail_with(monkeypatch, error)
    answer = run("settings")
    assert answer.code == code and words in answer.err and len(answer.err.splitlines()) <= 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_behind_stdout() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        answer = subprocess.run(
            [sys.executable, "-m", "adgcl", "data", "list"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert answer.returncode == 1 and "The disk is full" in answer.stderr and "Traceback" not in answer.stderr


def test_closed_pipe_is_quiet() -> None:
    shell = f"{sys.executable} -m adgcl data list --json | head -c 10 >/dev/null"
    answer = subprocess.run(shell, shell=True, capture_output=True, text=True, timeout=60)
    assert answer.stderr == ""


def test_settings_lists_every_section(run) -> None:
    answer = run("settings", "--json")
    tree = json.loads(answer.out)
    assert set(tree) == {"method", "encoder", "training", "data", "protocol"}
    names = {row["name"]: row for row in tree["method"]}
    assert names["gate.hard"]["default"] is False and names["reg_lambda"]["allowed"] == "≥ 0"
    assert all(row["help"] for rows in tree.values() for row in rows)


def test_unknown_method_in_settings(run) -> None:
    answer = run("settings", "adgc")
    assert answer.code == 1 and "Did you mean 'adgcl'" in answer.err


def test_methods(run) -> None:
    tree = json.loads(run("methods", "--json").out)
    assert {"adgcl", "random_init"} <= {row["name"] for row in tree["methods"]}
    assert all(row["description"] for rows in tree.values() for row in rows)
    assert {"adgcl-transfer", "adgcl-tu"} <= {row["name"] for row in tree["presets"]}
    shown = run("methods").out
    assert "AD-GCL" in shown and "--preset NAME" in shown and "hu_gin" in shown


def test_python_dash_m_is_the_command() -> None:
    answer = adgcl("--version", env={**os.environ})
    assert answer.returncode == 0 and answer.stdout.startswith("adgcl ")
