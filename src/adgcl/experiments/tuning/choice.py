"""What a search found: its trials as rows, the best settings, what mattered, and the score that they deserve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adgcl.core.config import Tree
from adgcl.core.errors import AdgclError
from adgcl.core.records import Record
from adgcl.core.toml_text import to_toml
from adgcl.experiments.evaluation import Watcher, Work, evaluate_loaded
from adgcl.experiments.planning import Plan
from adgcl.experiments.presets import row_title
from adgcl.experiments.source import LoadedSource
from adgcl.experiments.tuning.sampler import Values
from adgcl.experiments.tuning.search import Search
from adgcl.experiments.tuning.storage import import_optuna

TUNED, START = "tuned", "start"
_STATES = {"COMPLETE": "finished", "PRUNED": "pruned", "FAIL": "failed"}
_FEWEST = 4  # trials from which anything can be said about what mattered

Row = dict[str, Any]


@dataclass(frozen=True)
class Best:
    """The trial with the best validation score, its values, and all settings they lead to."""

    number: int
    valid: float
    values: Values
    plan: Plan


@dataclass(frozen=True)
class Outcome:
    """What reports show of a search: what was searched, from where, its trials, what mattered, the final Records."""

    title: str
    command: str
    metric: str
    higher_is_better: bool
    space: dict[str, str]
    start: Values
    trials: list[Row]
    importance: dict[str, float] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)


def outcome_of(search: Search, records: Sequence[Record] = ()) -> Outcome:
    """Everything that reports show."""
    task = search.data.content.task
    return Outcome(
        f"{row_title(search.base.row)} on {search.data.name}",
        search.request.command,
        task.metric,
        task.higher_is_better,
        {name: str(range_) for name, range_ in search.space.items()},
        search.start,
        rows_of(search),
        importance(search),
        list(records),
    )


def rows_of(search: Search) -> list[Row]:
    """One row for each trial: how it ended, its validation score in the metric's unit, and its values."""
    scale = 100.0 if search.higher_is_better else 1.0
    rows = []
    for trial in search.trials:
        finished = trial.state.name == "COMPLETE"
        last = trial.intermediate_values.get(trial.last_step) if trial.last_step is not None else None
        value = trial.value if finished else last
        rows.append(
            {
                "trial": trial.number,
                "status": _STATES.get(trial.state.name, "running"),
                "valid": None if value is None else round(scale * value, 4),
                "last_step": trial.last_step,
                **trial.params,
                "seconds": trial.user_attrs.get("seconds"),
                "reason": trial.user_attrs.get("reason", ""),
            }
        )
    return rows


def best_of(search: Search) -> Best:
    """The finished trial with the best validation score; the earlier one of equals."""
    finished = [trial for trial in search.trials if trial.state.name == "COMPLETE"]
    if not finished:
        failed = [str(trial.user_attrs.get("reason")) for trial in search.trials if trial.user_attrs.get("reason")]
        why = f" The first that failed: {failed[0]}" if failed else ""
        raise AdgclError(f"No trial has finished.{why}", "Change the settings or ranges, with another --out.")
    sign = 1.0 if search.higher_is_better else -1.0
    best = max(finished, key=lambda trial: (sign * trial.value, -trial.number))
    values = {name: best.params[name] for name in search.space}
    return Best(best.number, best.value, values, search.job(values).plan)


def settings_file(search: Search, best: Best) -> str:
    """The best settings as TOML: those searched, how long they trained, and what else differs from the preset."""
    preset = search.preset.run.essence_without("seed")
    chosen = best.plan.run.essence_without("seed")
    tree: Tree = {"method": {"name": best.plan.row}}
    for section, settings in chosen.items():
        kept = {*search.space, "training.epochs"}
        tree[section] = {**tree.get(section, {}), **_differing(settings, preset[section], f"{section}.", kept)}
    metric, scale = search.data.content.task.metric, 100.0 if search.higher_is_better else 1.0
    return to_toml(
        tree,
        f"Chosen by `{search.request.command or 'adgcl tune'}` on validation data:\n"
        f"trial {best.number} of {len(search.trials)}, {metric} {scale * best.valid:.4g}.",
    )


def importance(search: Search) -> dict[str, float]:
    """The share of the variance of scores that each setting explains, by fANOVA over finished trials; or nothing."""
    optuna = import_optuna()
    finished = [trial for trial in search.trials if trial.state.name == "COMPLETE"]
    if len(finished) < _FEWEST or len({trial.value for trial in finished}) < 2:
        return {}
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
    found = optuna.importance.get_param_importances(search.study, evaluator=evaluator, params=list(search.space))
    return {name: round(float(share), 4) for name, share in found.items()}


def final_scores(
    search: Search, best: Best, seeds: int, jobs: int | None = None, watcher: Watcher | None = None
) -> list[Record]:
    """The scores, on graphs that took no part in the search, of the best settings and of those it started from."""
    data = LoadedSource.of(search.data.test_source)
    work = Work(search.request.work, jobs)
    records = []
    for name, values in ((TUNED, best.values), (START, {})):
        request = search.request.request
        for key, value in values.items():
            request = request.with_setting(key, value)
        judged = evaluate_loaded(data, request, range(seeds), work, watcher=watcher, command=search.request.command)
        records += [_described(record, search, name, best) for record in judged.records]
    return records


def _described(record: Record, search: Search, name: str, best: Best) -> Record:
    """A Record that says how its settings were chosen; tables keep it apart from those of published settings."""
    chosen = f"{name}: the settings of trial {best.number}, the best of {len(search.trials)} on validation data"
    about = chosen if name == TUNED else f"{name}: the settings that the search started from"
    ranges = {key: str(range_) for key, range_ in search.space.items()}
    return replace(
        record,
        method=f"{record.method}-{name}",
        published=None,
        config={**record.config, "tune": {"trials": len(search.trials), **ranges}},
        notes=[*record.notes, f"{about}; the {search.data.test_size} graphs tested here took no part in it."],
    )


def _differing(chosen: Tree, preset: Tree, prefix: str, kept: set[str]) -> Tree:
    """The settings that differ from those of the preset, and those to be `kept` anyway."""
    found: Tree = {}
    for name, value in chosen.items():
        if isinstance(value, dict):
            found[name] = _differing(value, preset.get(name) or {}, f"{prefix}{name}.", kept)
        elif prefix + name in kept or (value != preset.get(name) and prefix + name != "method.name"):
            found[name] = value
    return found
