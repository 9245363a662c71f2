"""The tables of docs/regulariser.md, from the trials in results/sweeps: `python scripts/regulariser.py`."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, median, stdev

from adgcl.core.files import write_text
from adgcl.experiments.sweeps.tables import read_table
from adgcl.reports.formats.markdown import to_markdown
from adgcl.reports.formats.marks import put_between
from adgcl.reports.numbers import mean_std
from adgcl.reports.sweeps.findings import Finding
from adgcl.reports.sweeps.page import findings_of, findings_table
from adgcl.reports.sweeps.points import Point, Row, arms_of, datasets_of, points
from adgcl.reports.sweeps.summary import setting
from adgcl.reports.table import EMPTY, Cell, Column, Table
from adgcl.reports.table import Row as Line

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "regulariser.md"
_SWEEPS = ROOT / "results" / "sweeps"
_TABLES = ("trials", "courses", "drop_probabilities", "separation")
_VERDICTS = ("confirmed", "refuted", "undecided")
_LAMBDA, _END = "method.reg_lambda", "drop_ratio_at_end"
_SETTLED = 5  # epochs after which a budget should be met


def main() -> None:
    write_text(PAGE, with_tables(PAGE.read_text(encoding="utf-8")))


def with_tables(page: str) -> str:
    """The page with its tables made again, between marks."""
    made = {
        "ratios": _ratios("figure3", "figure3-molecules"),
        "claims": _claims("figure3", "figure3-molecules"),
        "decided": _decided("figure3", "figure3-molecules"),
        "numbers": findings_table(_findings("figure3", "figure3-molecules")),
        "budget": _scores("budget", "budget-molecules"),
        "averages": _averages("budget", "budget-molecules"),
        "everywhere": _sides("budget-everywhere", "budget-everywhere-molecules"),
        "held": _held("budget-held", "budget-held-molecules"),
        "figure2": findings_table(findings_of("figure2", _read("figure2"))),
    }
    for name, table in made.items():
        page = put_between(page, name, to_markdown(table).strip())
    return page


def _read(folder: str) -> dict[str, list[Row]]:
    return {name: read_table(_SWEEPS / folder, name) for name in _TABLES}


def _trials(*folders: str) -> list[Row]:
    return [row for folder in folders for row in _read(folder)["trials"] if row["status"] == "finished"]


def _ratios(*folders: str) -> Table:
    """The drop ratio at the end for every λ."""
    trials = [row for row in _trials(*folders) if _LAMBDA in row]
    values = sorted({row[_LAMBDA] for row in trials})
    lines = []
    for name in datasets_of(trials):
        found = {point.value: point for point in points(trials, name, "AD-GCL", _LAMBDA)}
        seeds, epochs = ({row[key] for row in trials if row["dataset"] == name} for key in ("seed", "epochs"))
        ratios = [f"{found[value].mean(_END):.2f}" if value in found else EMPTY for value in values]
        lines.append([name, *ratios, str(len(seeds)), str(max(epochs))])
    heads = [f"λ = {values[0]:g}", *(f"{value:g}" for value in values[1:])] if values else []
    return _table(["data set", *heads, "seeds", "epochs"], lines)


def _findings(*folders: str) -> list[Finding]:
    """Every claim about every data set that has the trials for it."""
    found = [finding for folder in folders for finding in findings_of("figure3", _read(folder))]
    return sorted(found, key=lambda finding: finding.claim)


def _claims(*folders: str) -> Table:
    """On which data sets each claim holds."""
    found: dict[str, dict[str, list[str]]] = {}
    for folder in folders:
        for finding in findings_of("figure3", _read(folder)):
            found.setdefault(finding.claim, {}).setdefault(finding.verdict, []).append(finding.dataset)
    lines = [
        [claim, *(", ".join(verdicts.get(verdict, ())) or EMPTY for verdict in _VERDICTS)]
        for claim, verdicts in found.items()
    ]
    return _table(["claim", *_VERDICTS], lines, numbers=False)


def _decided(*folders: str) -> Table:
    """How far from uniform drop probabilities are, in the middle of the trials that drop between 5 and 95 %."""
    lines = []
    for folder in folders:
        rows = [row for row in _read(folder)["drop_probabilities"] if row["kind"] == "all"]
        for name in dict.fromkeys(row["dataset"] for row in rows):
            alive = [row["decided"] for row in rows if row["dataset"] == name and 0.05 < row["mean"] < 0.95]
            if alive:
                lines.append([name, f"{median(alive):.2f}", f"{min(alive):.2f} to {max(alive):.2f}", str(len(alive))])
    return _table(["data set", "decided, median", "range", "trials"], lines)


def _scores(*folders: str) -> Table:
    """Validation and test scores of every arm."""
    trials = _trials(*folders)
    names = datasets_of(trials)
    ways = sorted({(arms_of(trials).index(row["arm"]), row["arm"], setting(row)) for row in trials})
    lines = []
    for _, arm, chosen in ways:
        cells = []
        for name in names:
            mine = [row for row in trials if (row["dataset"], row["arm"], setting(row)) == (name, arm, chosen)]
            (point,) = points(mine, name, arm) or (None,)
            shown = [] if point is None else [_shown(point, column) for column in ("valid", "test")]
            cells.append(" / ".join(shown) or EMPTY)
        lines.append([", ".join(filter(None, (arm, chosen))), *cells])
    return _table(["validation / test", *names], lines)


def _averages(*folders: str) -> Table:
    """The mean of all validation scores of a course, which no choice of an epoch can flatter."""
    found = _course_means(*folders)
    names = list(dict.fromkeys(name for sets in found.values() for name in sets))
    lines = [[", ".join(filter(None, way)), *(sets.get(name, EMPTY) for name in names)] for way, sets in found.items()]
    return _table(["validation, mean over epochs", *names], lines)


def _course_means(*folders: str) -> dict[tuple[str, str], dict[str, str]]:
    """The same of every arm with its setting, by data set: mean and spread over seeds."""
    metrics = {row["dataset"]: row["metric"] for row in _trials(*folders)}
    found: dict[tuple[str, str], dict[str, dict[int, list[float]]]] = {}
    for row in (row for folder in folders for row in _read(folder)["courses"] if row.get("valid") is not None):
        seeds = found.setdefault((row["arm"], setting(row)), {}).setdefault(row["dataset"], {})
        seeds.setdefault(row["seed"], []).append(row["valid"])
    return {
        way: {name: _mean([fmean(course) for course in seeds.values()], metrics[name]) for name, seeds in sets.items()}
        for way, sets in found.items()
    }


def _mean(values: list[float], metric: str) -> str:
    return mean_std(fmean(values), stdev(values) if len(values) > 1 else None, metric)


def _sides(*folders: str) -> Table:
    """The arms side by side, a line for each data set on which all have run."""
    trials = _trials(*folders)
    arms, lines = arms_of(trials), []
    averages = _course_means(*folders)
    for name in datasets_of(trials):
        found = [point for arm in arms for point in points(trials, name, arm)]
        if len(found) == len(arms):
            first = found[0].rows[0]
            scores = [f"{_shown(point, 'valid')} / {_shown(point, 'test')}" for point in found]
            courses = " / ".join(averages[arm, ""][name] for arm in arms)
            dropped = " / ".join(f"{point.mean(_END):.2f}" for point in found)
            effort = [str(len(found[0].rows)), str(first["epochs"])]
            lines.append([name, first["metric"], *scores, courses, dropped, *effort])
    heads = ["data set", "metric", *arms, "validation, mean over epochs", "dropped at the end", "seeds", "epochs"]
    return _table(heads, lines)


def _shown(point: Point, column: str) -> str:
    several = len(point.rows) > 1
    return mean_std(point.mean(column), point.spread(column) if several else None, point.rows[0]["metric"])


def _held(*folders: str) -> Table:
    """How far the mean of an epoch was from its budget."""
    lines = []
    for folder in folders:
        course = _read(folder)["courses"]
        for name in dict.fromkeys(row["dataset"] for row in course):
            mine = sorted((row for row in course if row["dataset"] == name), key=lambda row: row["epoch"])
            ratios = [row["drop_ratio"] for row in mine]
            late = ratios[_SETTLED - 1 :]
            budget = mine[0]["method.drop_budget"]
            numbers = [f"{value:.3f}" for value in (ratios[0], min(late), max(late), ratios[-1])]
            lines.append([name, f"{budget:g}", *numbers, str(len(ratios))])
    heads = ["data set", "budget", "first epoch", f"least from epoch {_SETTLED} on", "most", "last epoch", "epochs"]
    return _table(heads, lines)


def _table(heads: list[str], lines: list[list[str]], numbers: bool = True) -> Table:
    columns = [Column(head, "number") if numbers and place else Column(head) for place, head in enumerate(heads)]
    return Table(tuple(columns), tuple(Line(tuple(map(Cell, line))) for line in lines))


if __name__ == "__main__":
    main()
