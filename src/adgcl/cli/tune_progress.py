"""Progress of a search on stderr: one bar for its trials, one per running trial; or occasional lines for a log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from adgcl.cli.many_bars import ManyBars
from adgcl.cli.screen import Screen
from adgcl.reports.numbers import decimals, seconds_label

if TYPE_CHECKING:
    from adgcl.experiments.tuning.search import Search
    from adgcl.experiments.tuning.trials import News

_BETWEEN_LINES = 30.0  # seconds between two log lines about a running trial


class TrialBars(ManyBars):
    """Follows the news of a search; other processes may work on it, so it looks at the trials of all of them."""

    def __init__(self, screen: Screen, search: Search) -> None:
        super().__init__(screen, "trials")
        self.search, self._began = search, time.monotonic()
        self._before = self._ended()
        self._tasks: dict[int, Any] = {}

    def __enter__(self) -> TrialBars:
        super().__enter__()
        if self._bars is not None:
            self._bars.update(self._all, total=self.search.wanted, completed=self._before)
        return self

    def __call__(self, news: News) -> None:
        """Handle what a process says."""
        if news.kind == "progress":
            self._move(news)
        elif news.kind == "began":
            if self._bars is not None:
                self._tasks[news.number] = self._bars.add_task(f"  trial {news.number}", total=None, note="")
        else:
            self._end(news.number)

    def _end(self, number: int) -> None:
        if number in self._tasks:
            self._bars.remove_task(self._tasks.pop(number))
        ended = self._ended()
        left = self._left(ended)
        self.tell(f"[{ended}/{self.search.wanted}] trial {number}: {self._how(number)}{left}")
        if self._bars is not None:
            self._bars.update(self._all, completed=ended, note=left.lstrip("; "))

    def _how(self, number: int) -> str:
        """How a trial ended, and what the best one has."""
        trial = self.search.trials[number]
        if trial.state.name == "FAIL":
            return f"failed: {trial.user_attrs.get('reason')}"
        if trial.state.name == "PRUNED":
            return f"pruned after {trial.last_step}, at {self._score(trial.intermediate_values[trial.last_step])}"
        values = [t.value for t in self.search.trials if t.state.name == "COMPLETE"]
        best = (max if self.search.higher_is_better else min)(values)
        return f"{self._score(trial.value)} (best {self._score(best)})"

    def _score(self, value: float) -> str:
        scale = 100.0 if self.search.higher_is_better else 1.0
        return f"{scale * value:.{decimals(self.search.data.content.task.metric)}f}"

    def _left(self, ended: int) -> str:
        """The time left, by how fast all processes together have gone since this one began."""
        rest, done = self.search.wanted - ended, ended - self._before
        if rest <= 0 or done <= 0:
            return ""
        return f"; about {seconds_label((time.monotonic() - self._began) / done * rest)} left"

    def _ended(self) -> int:
        return sum(trial.state.is_finished() for trial in self.search.trials)

    def _move(self, news: News) -> None:
        report = news.report
        if report is None:
            return
        if report.note:
            self.tell(report.note)
            return
        note = "  ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in report.metrics.items())
        if self._bars is not None and news.number in self._tasks:
            task = self._tasks[news.number]
            self._bars.update(task, completed=report.done, total=report.total or None, note=note)
        elif self._bars is None and time.monotonic() - self._last_line >= _BETWEEN_LINES:
            self.tell(f"trial {news.number}: epoch {report.epoch} of {report.epochs}  {note}")
