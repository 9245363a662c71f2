"""The page of a search: what was chosen, what it scores on graphs that took no part, and how the search went."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from adgcl.core.files import write_text
from adgcl.experiments.tuning.choice import Outcome
from adgcl.reports.formats.csv_text import table_of_values, to_csv
from adgcl.reports.formats.markdown import to_markdown
from adgcl.reports.record_tables import record_list
from adgcl.reports.tuning.figures import CAPTIONS
from adgcl.reports.tuning.tables import best_table, counted, failures

_PAGE, _TRIALS = "README.md", "trials.csv"


def write_trials(found: Outcome, folder: Path) -> Path:
    """Every trial with its settings, as CSV."""
    columns = tuple(dict.fromkeys(name for trial in found.trials for name in trial))
    rows = [{name: trial.get(name) for name in columns} for trial in found.trials]
    write_text(folder / _TRIALS, to_csv(table_of_values(rows, columns)))
    return folder / _TRIALS


def write_page(found: Outcome, figures: Sequence[Path], folder: Path) -> Path:
    """Write the page beside its figures."""
    parts = [
        f"# Settings of {found.title}",
        f"Made by `{found.command}`: {counted(found.trials)}. The best settings are in `best.toml`.",
        to_markdown(best_table(found)),
    ]
    if found.records:
        notes = dict.fromkeys(note for record in found.records for note in record.notes)
        parts.append("## The score of the best settings")
        parts.append(to_markdown(record_list(found.records, every=True)))
        parts.append("\n".join(f"- {note}" for note in notes))
    parts.append("## How the search went")
    drawn = {path.stem: path for path in figures if path.suffix == ".svg"} or {path.stem: path for path in figures}
    parts += [f"![{CAPTIONS[name]}]({path.name})\n\n{CAPTIONS[name]}" for name, path in drawn.items()]
    parts.append("\n".join(f"- {line}" for line in failures(found.trials)))
    write_text(folder / _PAGE, "\n\n".join(part.strip() for part in parts if part.strip()) + "\n")
    return folder / _PAGE
