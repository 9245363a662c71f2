"""Reproduction: a published table rerun, cell by cell, as far as data, methods and time allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adgcl.core.errors import ConfigError, Interrupted, OutputError
from adgcl.core.files import ensure_folder
from adgcl.core.gaps import Gap
from adgcl.core.records import Record
from adgcl.experiments.crew import make_schedule
from adgcl.experiments.jobs import Job
from adgcl.experiments.planning import Request
from adgcl.experiments.schedule import Event, Schedule, gap_of
from adgcl.experiments.source import LoadedSource
from adgcl.experiments.tables.cells import Cell, CellMaker
from adgcl.experiments.tables.columns import open_column
from adgcl.experiments.tables.few_labels import FewLabels
from adgcl.experiments.tables.records import cell_gap, cell_records
from adgcl.experiments.tables.rows import Row, datasets_of, extra_rows, rows_of
from adgcl.experiments.tables.transfer import DEFAULT_CORPUS, Transfer
from adgcl.jobs.executor import Executor
from adgcl.jobs.placement import Placement
from adgcl.protocols.base import PROTOCOLS
from adgcl.protocols.finetune import Finetune
from adgcl.protocols.record_folder import keep
from adgcl.protocols.selection import Mode
from adgcl.protocols.semi_supervised import SemiSupervised
from adgcl.protocols.starts import NO_PRETRAINING
from adgcl.published import PublishedTable

Place = tuple[str, str, str]
# The options about pre-training that tables with any take, by protocol.
_OPTIONS = {SemiSupervised.name: ("--pretrain-set",), Finetune.name: ("--pretrain-set", "--corpus", "--encoder")}


@dataclass(frozen=True)
class TableRequest:
    """Which table, which part of it, and with how much effort; `limit` in seconds.

    Tables about transfer pre-train on `corpus` with the settings in `pretraining`, except for the rows in `encoders`,
    which start from a run that is there. Those about few labels pre-train on the graphs of each data set.
    """

    table: PublishedTable
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ("as_published",)
    seeds: int = 3
    probes: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    work: Path = Path("runs")
    out: Path = Path("results")
    jobs: int | None = None
    executor: str = "processes"
    limit: float | None = None
    data_dir: Path | None = None
    command: str = ""
    corpus: str | None = None
    pretraining: tuple[str, ...] = ()
    encoders: Mapping[str, str] = field(default_factory=dict)
    executor_settings: tuple[str, ...] = ()
    first_seed: int = 0

    @property
    def placement(self) -> Placement:
        return Placement(self.executor, self.jobs, self.executor_settings)


@dataclass(frozen=True)
class Outcome:
    """What a cell shows: its Record, and why that is missing or incomplete."""

    record: Record | None
    gap: Gap | None


@dataclass(eq=False)
class Reproduction:
    """A table expanded to cells and jobs."""

    request: TableRequest
    rows: tuple[Row, ...]
    columns: tuple[LoadedSource, ...]
    cells: list[Cell]
    gaps: dict[Job, Gap] = field(default_factory=dict)

    @property
    def jobs(self) -> list[Job]:
        """Every job once, whichever cells need it."""
        return list(dict.fromkeys(job for cell in self.cells for job in cell.needs))

    def schedule(self, on_event: Callable[[Event], None] = lambda event: None) -> Schedule:
        """The jobs in order; those that only tuned rows need come last."""
        early = {job for cell in self.cells if not cell.tuned for job in cell.needs}
        late = frozenset(job for job in self.jobs if job not in early)
        return make_schedule(self.jobs, self.executor, self.request.limit, late, on_event)

    @property
    def executor(self) -> Executor:
        """Where the jobs run."""
        return self.request.placement.open(len(self.jobs), self.request.work)

    def run(self, schedule: Schedule) -> None:
        """Run the remaining jobs; Records are written as their seeds finish."""
        ensure_folder(self.request.work)
        ensure_folder(self.request.out)
        watcher, self.gaps = schedule.on_event, schedule.gaps

        def on_event(event: Event) -> None:
            if event.kind == "finished":
                for cell in self.cells:
                    if event.job in cell.needs:
                        self._keep(cell)
            watcher(event)

        schedule.on_event = on_event
        try:
            schedule.run()
        except (Interrupted, KeyboardInterrupt) as stopped:
            kept = f"Finished work is kept in {self.request.work} and {self.request.out}."
            raise schedule.interruption(kept) from stopped

    def outcomes(self) -> dict[Place, Outcome]:
        """What every cell shows, by mode, row and data set."""
        found: dict[Place, Outcome] = {}
        for cell in self.cells:
            records = self._keep(cell)
            shown = next((r for r in records if PROTOCOLS[r.protocol].fills(self.request.table, r.probe)), None)
            found[cell.mode, cell.row.name, cell.column.name] = Outcome(shown, cell_gap(cell, self.gaps))
        return found

    def shown_rows(self, outcomes: dict[Place, Outcome]) -> tuple[str, ...]:
        """The rows worth showing: an extra row that was not asked for must apply to some data set."""
        idle = ("not applicable", "not here")
        return tuple(
            row.name
            for row in self.rows
            if row.asked
            or row.name not in extra_rows(self.request.table)
            or any(
                o.gap is None or o.gap.status not in idle for (_, name, _), o in outcomes.items() if name == row.name
            )
        )

    def _keep(self, cell: Cell) -> list[Record]:
        """Make and save the Records of a cell; results that cannot be summarised become the cell's gap."""
        try:
            records = cell_records(cell, self.request.command)
            for record in records:
                keep(record, self.request.out)
        except OutputError:
            raise
        except Exception as error:
            cell.gap = gap_of(error, trained=True)
            return []
        return records


def open_table(request: TableRequest, progress: Any = None) -> Reproduction:
    """Load the data and expand the table; nothing is run yet."""
    _check_starts(request)
    rows = rows_of(request.table, request.methods)
    _check_encoders(request.encoders, rows)
    names = datasets_of(request.table, request.datasets)
    columns = tuple(open_column(name, request.data_dir, progress) for name in names)
    flags: dict[str, Any] = {"protocol": {"probes": list(request.probes or (request.table.probe,))}}
    threads = request.placement.threads
    if threads:
        flags["training"] = {"threads": threads}
    asked = Request(None, None, flags, request.assignments)
    seeds = range(request.first_seed, request.first_seed + request.seeds)
    maker = CellMaker(asked, seeds, request.work, request.table.protocol, _starts(request, threads, progress))
    return Reproduction(request, rows, columns, maker.cells(rows, columns, request.modes))


def _starts(request: TableRequest, threads: int, progress: Any) -> Transfer | FewLabels | None:
    """Where the rows of a table about pre-training get their encoders."""
    if request.table.protocol == SemiSupervised.name:
        return FewLabels(request.work, request.pretraining, threads)
    if request.table.protocol == Finetune.name:
        corpus = request.corpus or DEFAULT_CORPUS
        return Transfer(
            request.work, corpus, request.pretraining, request.encoders, threads, request.data_dir, progress
        )
    return None


def _check_encoders(encoders: Mapping[str, str], rows: Iterable[Row]) -> None:
    """Refuse an encoder for a row that is not run or starts from none: it would be passed over in silence."""
    able = [row.name for row in rows if row.name != NO_PRETRAINING]
    for name, run in encoders.items():
        if name not in able:
            raise ConfigError(
                f"--encoder {name}={run}: no row of this table that starts from an encoder is called {name!r}.",
                f"Those asked for are {', '.join(able)}." if able else "Leave it out.",
            )


def _check_starts(request: TableRequest) -> None:
    """Refuse options about pre-training that the rows of a table would pass over."""
    table = request.table
    given = {"--pretrain-set": request.pretraining, "--corpus": request.corpus, "--encoder": request.encoders}
    for option, value in given.items():
        if value and option not in _OPTIONS.get(table.protocol, ()):
            hint = "Its rows pre-train on the graphs of each data set." if table.protocol in _OPTIONS else ""
            raise ConfigError(f"{table.name} takes no {option}.", f"{hint} Leave it out.".lstrip())
