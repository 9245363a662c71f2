"""Tables and figures of a search: within 80 columns, the best marked, pruned and failed trials told apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from adgcl.experiments.tuning.choice import Outcome
from adgcl.reports.formats.terminal import to_text
from adgcl.reports.tuning.figures import write_figures
from adgcl.reports.tuning.page import write_page, write_trials
from adgcl.reports.tuning.tables import best_table, counted, failures, ranked

_SPACE = {
    "method.reg_lambda": "0.1 to 10 (log)", "method.temperature": "0.05 to 1 (log)", "method.encoder_lr": "0.0001 to "
    "0.01 (log)", "encoder.readout": "sum, mean", "training.batch_size": "32, 64, 128, 256",
}  # fmt: skip


def _trial(number: int, valid: float | None, status: str = "finished", reason: str = "") -> dict:
    values = dict(zip(_SPACE, (1.234 + number, 0.4321, 0.001234, "mean", 256)))
    return {"trial": number, "status": status, "valid": valid, **values, "seconds": 2.5, "reason": reason}


def _outcome(higher: bool = True) -> Outcome:
    trials = [
        _trial(0, 70.0), _trial(1, 75.5), _trial(2, 60.0, "pruned"), _trial(3, None, "failed", "NaN"),
        _trial(4, 75.5), _trial(5, 71.0), _trial(6, None, "failed", "NaN"),
    ]  # fmt: skip
    shares = dict(zip(_SPACE, (0.5, 0.2, 0.15, 0.1, 0.05)))
    start = {name: trials[0][name] for name in _SPACE}
    return Outcome("AD-GCL on TOYS", "adgcl tune TOYS", "accuracy", higher, _SPACE, start, trials, shares)


def test_the_best_come_first_and_the_earlier_of_equals():
    assert [trial["trial"] for trial in ranked(_outcome())] == [1, 4, 5, 0]
    assert [trial["trial"] for trial in ranked(_outcome(higher=False))] == [0, 5, 1, 4]


def test_the_table_fits_a_terminal_and_shows_the_start():
    text = to_text(best_table(_outcome()), 80)
    assert all(len(line) <= 80 for line in text.splitlines())
    other = replace(_outcome(), start=dict.fromkeys(_SPACE))
    assert "start" not in to_text(best_table(other), 80), "no trial need have the starting settings"
    assert "start (#0)" in text and "75.50 ◂" in text and "reg_lambda" in text and "method." not in text


def test_ends_are_counted_and_failures_explained():
    trials = _outcome().trials
    assert counted(trials) == "7 trials: 4 finished, 1 pruned, 2 failed"
    assert failures(trials) == ["Trials 3, 6 failed: NaN"]


def test_files(tmp_path: Path):
    found = _outcome()
    figures, lacking = write_figures(found, tmp_path)
    assert not lacking and {path.name for path in figures} == {
        f"{name}.{kind}" for name in ("history", "importance") for kind in ("png", "svg")
    }
    svg = (tmp_path / "history.svg").read_text()
    assert all(word in svg for word in ("finished", "pruned", "failed", "best so far"))
    page = write_page(found, figures, tmp_path).read_text()
    assert "![" in page and "(history.svg)" in page and "Trials 3, 6 failed: NaN" in page
    table = write_trials(found, tmp_path).read_text().splitlines()
    assert len(table) == 8 and table[0].startswith("trial,status,valid,method.reg_lambda")
