"""Explanations judged: where the truth is known (planted edges), and where only seeds can be compared.

`python -m benchmarks.explanations planted` trains AD-GCL on generated graphs with planted redundant edges and measures
how well its drop probabilities find them; `python -m benchmarks.explanations kinds MUTAG` compares kinds of bonds over
seeds. Results are kept in explanations.json, and docs/see.md shows them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from adgcl.core.files import write_json, write_text
from adgcl.data.families.generated import CHAIN_KINDS, CHAINS, TREES, Part, planted_graphs
from adgcl.experiments.finetuning import Choices, finetune
from adgcl.experiments.planning import Request
from adgcl.experiments.pretraining import pretrain
from adgcl.experiments.source import Source
from adgcl.insight.explanation import TRAINED, UNIFORM, UNTRAINED, Explanation, explain_data
from adgcl.reports.formats.marks import is_marked, put_between

_HERE = Path(__file__).parent
_KEPT = _HERE / "explanations.json"
_PAGE = _HERE.parent / "docs" / "see.md"
_PRICES = (0.5, 1.0, 5.0)
_KINDS = ("bond", "ring", "heteroatom")
_PLANTED = {TREES: 0, CHAINS: CHAIN_KINDS}  # kinds of nodes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("planted", "models", "kinds", "page"))
    parser.add_argument("data", nargs="?", default="MUTAG")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--set", action="append", default=[], dest="settings")
    asked = parser.parse_args()
    kept = json.loads(_KEPT.read_text(encoding="utf-8")) if _KEPT.exists() else {}
    if asked.what == "planted":
        kept["planted"] = planted(asked.seeds, asked.epochs, asked.settings)
    elif asked.what == "models":
        kept["models"] = models(asked.seeds, asked.epochs)
    elif asked.what == "kinds":
        kept.setdefault("kinds", {})[asked.data] = kinds(asked.data, asked.seeds, asked.epochs, asked.settings)
    write_json(_KEPT, kept)
    write_text(_PAGE, with_tables(_PAGE.read_text(encoding="utf-8"), kept))


def planted(seeds: int, epochs: int, settings: list[str]) -> dict[str, Any]:
    """How well drop probabilities find planted edges, for each generated set, price and seed."""
    sets = {name: planted_in(kinds, seeds, epochs, settings) for name, kinds in _PLANTED.items()}
    return {"epochs": epochs, "settings": settings, "sets": sets}


def planted_in(kinds: int, seeds: int, epochs: int, settings: list[str]) -> list[dict[str, Any]]:
    dataset, parts = planted_graphs(kinds=kinds)
    rows = []
    for price in _PRICES:
        made = trained(dataset, seeds, epochs, [*settings, f"reg_lambda={price}"])
        ours = [made.drop[TRAINED], *(made.dropped(keep) for keep in made.seeds)]
        starts = [made.dropped(keep) for keep in made.starts]
        rows.append(
            {
                "reg_lambda": price,
                "drop": [float(drop.mean()) for drop in ours],
                "trained": [areas(made, drop, parts) for drop in ours],
                "untrained": [areas(made, drop, parts) for drop in starts],
                "uniform": areas(made, made.drop[UNIFORM], parts),
            }
        )
        print(rows[-1])
    return rows


def models(seeds: int, epochs: int) -> dict[str, Any]:
    """The same for models that were taught the class: planted edges should matter least for the prediction."""
    dataset, parts = planted_graphs()
    found: dict[str, Any] = {"epochs": epochs}
    for name, settings in {"taught": {}, "untrained": {"method": {"lr": 1e-12}}}.items():
        found[name] = {"areas": [], "accuracy": []}
        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as folder:
                length = epochs if name == "taught" else 1
                flags = {"training": {"epochs": length, "seed": seed}, **settings}
                source = Source(dataset, split="random")
                done = finetune("none", source, Path(folder) / "model", Request(flags=flags), Choices(seeds=1))
                made = explain_data(done.folder, Source(dataset))
            assert made.importance is not None
            found[name]["areas"].append(areas(made, -np.abs(made.importance.change), parts))
            found[name]["accuracy"].append(done.about["together"]["test"])
    print(found)
    return found


def kinds(data: str, seeds: int, epochs: int, settings: list[str]) -> dict[str, Any]:
    """Mean drop probabilities by kind of bond for every seed, and how often seeds order bonds alike."""
    made = trained(data, seeds, epochs, settings)
    names = [TRAINED, *(f"seed {i + 2}" for i in range(len(made.seeds)))]
    rows = [
        {
            "kind": group.trait,
            "value": group.value,
            "bonds": group.count,
            "seeds": [group.drop[name] for name in names],
            "untrained": group.drop[UNTRAINED],
        }
        for group in made.groups
        if group.trait in _KINDS
    ]
    return {"epochs": epochs, "settings": settings, "agreement": made.agreement, "rows": rows}


def trained(data: Any, seeds: int, epochs: int, settings: list[str]) -> Explanation:
    """An explanation by AD-GCL of the first seed, with the others beside it."""
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / f"seed-{seed}" for seed in range(seeds)]
        for seed, place in enumerate(places):
            flags = {"training": {"epochs": epochs, "seed": seed}}
            pretrain(Source(data), place, Request("adgcl", flags=flags, assignments=tuple(settings)))
        return explain_data(places[0], Source(data), seeds=places[1:])


def areas(made: Explanation, scores: np.ndarray, parts: np.ndarray) -> list[float]:
    """The area under the ROC curve of scores for planted edges: among all edges, and against the motif's alone."""
    own = parts[made.bonds.forth]
    return [area_within(made, scores, own, others) for others in ((Part.MOTIF, Part.TREE), (Part.MOTIF,))]


def area_within(made: Explanation, scores: np.ndarray, parts: np.ndarray, others: tuple[Part, ...]) -> float:
    """The mean over graphs of the share of pairs (planted, other) that the scores order rightly; ties count half."""
    found = []
    for graph in range(made.bonds.num_graphs):
        own = made.bonds.of(graph)
        planted, rest = scores[own][parts[own] == Part.PLANTED], scores[own][np.isin(parts[own], others)]
        if len(planted) and len(rest):
            found.append(float((np.sign(planted[:, None] - rest[None]) / 2 + 0.5).mean()))
    return float(np.mean(found))


def with_tables(page: str, kept: dict[str, Any]) -> str:
    """The page with its tables made again, between marks."""
    makers = {"planted": _planted_table, "models": _models_table}
    tables = {name: table(kept[name]) for name, table in makers.items() if name in kept}
    tables |= {f"kinds {name}": _kinds_table(found) for name, found in kept.get("kinds", {}).items()}
    for name, table in tables.items():
        if is_marked(page, name):
            page = put_between(page, name, table)
    return page


def _planted_table(found: dict[str, Any]) -> str:
    lines = [
        "| set | reg_lambda | dropped | AD-GCL, all | AD-GCL, motif | untrained, all | untrained, motif | uniform |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, rows in found["sets"].items():
        for row in rows:
            drop = f"{100 * np.mean(row['drop']):.0f}%"
            ours, untrained = _both_areas(row["trained"]), _both_areas(row["untrained"])
            uniform = f"{row['uniform'][0]:.2f}"
            lines.append(f"| `{name}` | {row['reg_lambda']:g} | {drop} | {ours} | {untrained} | {uniform} |")
    return "\n".join(lines)


def _models_table(found: dict[str, Any]) -> str:
    lines = ["| model | accuracy | all | motif |", "| --- | ---: | ---: | ---: |"]
    for name in ("taught", "untrained"):
        accuracy = 100 * np.mean(found[name]["accuracy"])
        lines.append(f"| {name} | {accuracy:.0f}% | {_both_areas(found[name]['areas'])} |")
    return "\n".join(lines)


def _both_areas(rows: list[list[float]]) -> str:
    return " | ".join(_mean_std(list(values)) for values in zip(*rows, strict=True))


def _kinds_table(found: dict[str, Any]) -> str:
    count = len(found["rows"][0]["seeds"])
    heads = [f"seed {i}" for i in range(count)]
    lines = [
        f"| kind | value | bonds | {' | '.join(heads)} | untrained |",
        "| --- | --- | ---:" + " | ---:" * (count + 1) + " |",
    ]
    for row in found["rows"]:
        seeds = " | ".join(f"{value:.3f}" for value in row["seeds"])
        lines.append(f"| {row['kind']} | {row['value']} | {row['bonds']:,} | {seeds} | {row['untrained']:.3f} |")
    agreed = found["agreement"]
    lines.append("")
    lines.append(
        f"Seeds order {100 * agreed['seeds']:.0f}% of pairs of bonds of a molecule alike, untrained augmenters "
        f"{100 * agreed['untrained']:.0f}%; 50% is chance."
    )
    return "\n".join(lines)


def _mean_std(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"


if __name__ == "__main__":
    main()
