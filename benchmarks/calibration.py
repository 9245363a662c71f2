"""`python -m benchmarks.calibration --work DIR`: is the uncertainty of predictions honest?

Fine-tunes a packaged encoder on three MoleculeNet sets, split by scaffold, and writes `docs/calibration.md` from what
`model.json` says about the test part. Models are kept in the work folder: a finished one is not trained again, and an
interrupted one resumes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from adgcl.core.files import write_json, write_text
from adgcl.experiments.finetuning import Choices, finetune
from adgcl.experiments.planning import Request
from adgcl.experiments.source import Source
from adgcl.reports.reliability import reliability_figure
from adgcl.training.trackers import ProgressBar

HERE = Path(__file__).parent
FACTS, DOCS = HERE / "calibration.json", HERE.parent / "docs"
PAGE, FIGURE = DOCS / "calibration.md", DOCS / "reliability-bace.svg"
ENCODER, MEMBERS = "zinc-gin-descriptors", 3
# Epochs: enough for the validation score to have passed its best, on one core in minutes.
SETS = {"moleculenet-freesolv": 100, "moleculenet-bace": 30, "moleculenet-lipo": 30}


def fine_tuned(name: str, work: Path) -> dict[str, Any]:
    """What the model of one data set says about itself."""
    request = Request("supervised", flags={"training": {"epochs": SETS[name], "threads": 1}})
    bar = ProgressBar(name, enabled=False, say=lambda line: print(line, flush=True))
    done = finetune(ENCODER, Source(name), work / name, request, Choices(seeds=MEMBERS), trackers=[bar])
    about = done.about
    return {
        "dataset": name,
        "epochs": SETS[name],
        "members": MEMBERS,
        "encoder": about["started_from"],
        "scores": about["together"],
        "checked": about["calibration"]["checked"],
    }


def page(facts: list[dict[str, Any]]) -> str:
    """The page, from what the models say."""
    bands = [f for f in facts if isinstance(f["checked"], list)]
    curves = [f for f in facts if isinstance(f["checked"], dict)]
    lines = [
        _TOP,
        "| data set | epochs | test RMSE | test labels | within 90 % bands | mean width |",
        "| --- |" + " ---: |" * 5,
    ]
    for fact in bands:
        checked = fact["checked"][0]
        lines.append(
            f"| {fact['dataset']} | {fact['epochs']} | {fact['scores']['test']:.3f} | {checked['labels']:,} "
            f"| {100 * checked['coverage']:.1f} % | {checked['mean_width']:.2f} |"
        )
    lines.append(_PROBABILITIES)
    for fact in curves:
        checked = fact["checked"]
        lines.append(
            f"On {fact['dataset']} ({fact['epochs']} epochs, test ROC-AUC {100 * fact['scores']['test']:.1f} %) "
            f"the Brier score is "
            f"{checked['brier_before']:.3f} before calibration and {checked['brier_after']:.3f} after it, on "
            f"{sum(p['labels'] for p in checked['reliability']):,} test labels. {_reach(fact)}\n\n"
            f"![Reliability curve]({FIGURE.name})\n"
        )
    return "\n".join(lines)


def _reach(fact: dict[str, Any]) -> str:
    """How far calibrated probabilities reach, and why."""
    means = [point["probability"] for point in fact["checked"]["reliability"]]
    valid, test = (100 * fact["scores"][part] for part in ("valid", "test"))
    reach = f"The dots of the figure lie at probabilities from {min(means):.2f} to {max(means):.2f}."
    if valid >= test:
        return reach
    return (
        f"{reach} Calibration learned from the validation part, whose scaffolds are harder (ROC-AUC {valid:.1f} %), so "
        "the model is less confident about test molecules than it could be: trust the ranking more than the "
        "probabilities."
    )


_TOP = f"""# Can the predictions be trusted?

Each model below is `{ENCODER}`, fine-tuned three times from different seeds; the three are one model, as
`adgcl finetune` makes it. The training, validation and test parts share no scaffold. The validation part alone sets
bands and calibration; the test part is only looked at. `python -m benchmarks.calibration --work DIR` writes this page,
and [transfer](transfer.md#predictions) says how bands and probabilities are made.

## Bands for regression
"""
_PROBABILITIES = """
A band of 90 % holds 90 % of the labels on average if test molecules are drawn like validation molecules. The scaffolds
of the test part are rarer still, so a few per cent less would be no surprise.

## Probabilities for classes
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--work", type=Path, help="where models are kept; without it, only the page is written")
    arguments = parser.parse_args()
    if arguments.work is not None:
        write_json(FACTS, [fine_tuned(name, arguments.work) for name in SETS])
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    write_text(PAGE, page(facts))
    for fact in (fact for fact in facts if isinstance(fact["checked"], dict)):
        title = f"{fact['dataset']}: reliability on unseen scaffolds"
        write_text(FIGURE, reliability_figure(fact["checked"]["reliability"], title))


if __name__ == "__main__":
    main()
