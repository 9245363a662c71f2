"""Running a search: in this process, or in several of this machine; others may join from anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from adgcl.core.errors import Interrupted
from adgcl.core.files import ensure_folder
from adgcl.core.provenance import available_cores
from adgcl.experiments.evaluation import default_jobs
from adgcl.experiments.tuning.search import Search
from adgcl.experiments.tuning.settling import SearchRequest
from adgcl.experiments.tuning.trials import News, run_trials, work_on
from adgcl.jobs.executor import EXECUTORS, Failed

_TICK = 0.25  # seconds between two looks at the processes


def run_search(search: Search, jobs: int | None = None, on_news: Callable[[News], None] = lambda news: None) -> None:
    """Run trials until there are as many as asked for, this command's and others' together."""
    request = search.request
    ensure_folder(request.work)
    left = max(search.wanted - sum(trial.state.is_finished() for trial in search.trials), 1)
    workers = min(jobs or default_jobs(search.base.run), left)
    try:
        if workers == 1:
            run_trials(search, on_news)
        else:
            _run_processes(search, workers, on_news)
    except (Interrupted, KeyboardInterrupt) as stopped:
        raise Interrupted(
            f"Stopped. Finished trials are kept in {request.out}, unfinished ones in {request.work}.",
            "Run the same command again to resume.",
        ) from stopped


def _sharing(search: Search, workers: int) -> SearchRequest:
    """The request with a fair share of the cores, unless the user has said how many threads to use."""
    request = search.request
    if search.base.run.training.threads:
        return request
    threads = max(1, available_cores() // workers)
    return replace(request, request=request.request.with_setting("training.threads", threads))


def _run_processes(search: Search, workers: int, on_news: Callable[[News], None]) -> None:
    request, errors = _sharing(search, workers), []
    with EXECUTORS["processes"](workers) as executor:
        executor.on_message = lambda worker, news: on_news(news)
        for worker in range(workers):
            executor.start(worker, work_on, request)
        running = workers
        try:
            while running:
                for _, end in executor.ends(_TICK):
                    running -= 1
                    if isinstance(end, Failed):
                        errors.append(end.error)
        except KeyboardInterrupt:
            executor.stop()
            while running:
                running -= sum(1 for _ in executor.ends(_TICK))
            raise
    # The others have taken up what a process left behind when it died; if none could, there is work left.
    if search.running()[0] or not search.over:
        raise errors[0] if errors else Interrupted("Stopped.")
