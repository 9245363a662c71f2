"""The page of a sweep: figures, the paper's claim under each, whether our numbers agree, every setting, and gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from adgcl.core.extras import MissingExtraError
from adgcl.core.files import write_text
from adgcl.reports.formats.markdown import to_markdown
from adgcl.reports.sweeps import figure2, figure3, overview
from adgcl.reports.sweeps.drawing import FORMATS, save
from adgcl.reports.sweeps.findings import Finding
from adgcl.reports.sweeps.points import Row
from adgcl.reports.sweeps.summary import setting, summary
from adgcl.reports.table import Cell, Column, Table
from adgcl.reports.table import Row as Line

_KINDS: Mapping[str, ModuleType] = {"figure2": figure2, "figure3": figure3}
_PAGE = "README.md"


def findings_of(name: str, tables: Mapping[str, Sequence[Row]]) -> list[Finding]:
    """What the paper claims about this sweep, and whether its trials agree."""
    return list(_kind(name).findings(tables))


def write_figures(
    name: str, tables: Mapping[str, Sequence[Row]], folder: Path, formats: Sequence[str] = FORMATS[:2]
) -> tuple[list[Path], str]:
    """Draw every figure that there are trials for; the second part says why there are none, where matplotlib lacks."""
    paths: list[Path] = []
    kind = _kind(name)
    try:
        for figure, drawn in kind.draw(tables):
            paths += save(drawn, folder, figure, formats, kind.CAPTIONS[figure])
    except MissingExtraError as error:
        return paths, str(error).replace("\n", " ")
    return paths, ""


def write_page(
    name: str,
    title: str,
    commands: Sequence[str],
    tables: Mapping[str, Sequence[Row]],
    folder: Path,
    figures: Sequence[Path],
) -> Path:
    """Write the page beside its figures."""
    kind, found = _kind(name), findings_of(name, tables)
    listed = "\n".join(["```bash", *commands, "```"])
    parts = [f"# {title}", f"Every number is in the tables of this folder, which this has made:\n\n{listed}"]
    for figure, caption in kind.CAPTIONS.items():
        drawn = next((path for path in figures if path.stem == figure), None)
        if drawn is None:
            continue
        parts.append(f"![{caption}]({drawn.name})\n\n{caption}")
        mine = [finding for finding in found if f"figure{finding.figure}" == figure]
        if mine:
            parts.append(to_markdown(findings_table(mine)))
    parts.append("## Every setting\n\n" + to_markdown(summary(tables["trials"], "")).strip())
    gaps = gap_lines(tables["trials"])
    if gaps:
        parts.append("## What is missing\n\n" + "\n".join(f"- {line}" for line in gaps))
    write_text(folder / _PAGE, "\n\n".join(part.strip() for part in parts) + "\n")
    return folder / _PAGE


def findings_table(found: Sequence[Finding]) -> Table:
    """Claims in rows, with the verdict on each."""
    columns = (Column("data set", "group"), Column("claim"), Column("verdict", "name"), Column("our numbers"))
    rows = [Line(tuple(Cell(text) for text in (f.dataset, f.claim, f.verdict, f.numbers))) for f in found]
    return Table(columns, tuple(rows))


def gap_lines(trials: Sequence[Row]) -> list[str]:
    """Which trials have no result, and why; those that differ only in their seed in one line."""
    found: dict[str, list[str]] = {}
    for row in trials:
        if row["status"] != "finished":
            name = " ".join(filter(None, (row["arm"], setting(row)))) + f" on {row['dataset']}"
            found.setdefault(f"{name}: {row['status']}. {row.get('detail', '')}".strip(), []).append(str(row["seed"]))
    return [f"{line} (seeds {', '.join(seeds)})" if len(seeds) > 1 else line for line, seeds in found.items()]


def to_tree(tables: Mapping[str, Sequence[Row]], found: Sequence[Finding], paths: Sequence[Path]) -> dict[str, Any]:
    """Everything a script may want."""
    return {
        "trials": list(tables["trials"]),
        "findings": [asdict(finding) for finding in found],
        "files": [str(path) for path in paths],
    }


def _kind(name: str) -> ModuleType:
    return _KINDS.get(name, overview)
