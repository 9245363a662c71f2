"""`python -m benchmarks.calibration --work DIR`: is the uncertainty of predictions honest?

Fine-tunes a packaged encoder on MoleculeNet sets, split by scaffold or in folds, and writes `docs/calibration.md` from
what `model.json` says about graphs that were held out. Models are kept in the work folder: a finished one is not
trained again, and an interrupted one resumes.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
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
PAGE = DOCS / "calibration.md"
ENCODER = "zinc-gin-descriptors"
SCAFFOLD = "by scaffold"


@dataclass(frozen=True)
class Trial:
    """One model: its data, how long members are trained, and whether they differ in seed (one split) or in fold.

    `first` is the seed of the first member: other models of the same data begin elsewhere.
    """

    dataset: str
    epochs: int
    seeds: int | None = None
    folds: int | None = None
    first: int = 0

    @property
    def parts(self) -> str:
        return f"{self.folds} folds" if self.folds else SCAFFOLD

    @property
    def folder(self) -> str:
        name = f"{self.dataset}-folds" if self.folds else self.dataset
        return f"{name}-{self.first}" if self.first else name


# Epochs: enough for the validation score to have passed its best, on one core in minutes.
TRIALS = (
    # Three models: a test part of 65 labels says little about one.
    *(Trial("moleculenet-freesolv", 100, seeds=3, first=first) for first in (0, 3, 6)),
    Trial("moleculenet-freesolv", 100, folds=5),
    Trial("moleculenet-lipo", 30, seeds=3),
    Trial("moleculenet-bace", 30, seeds=3),
    Trial("moleculenet-bace", 30, folds=5),
)


def fine_tuned(trial: Trial, work: Path) -> dict[str, Any]:
    """What one model says about itself."""
    request = Request("supervised", flags={"training": {"epochs": trial.epochs, "threads": 1, "seed": trial.first}})
    bar = ProgressBar(trial.folder, enabled=False, say=lambda line: print(line, flush=True))
    choices = Choices(seeds=trial.seeds, folds=trial.folds)
    about = finetune(ENCODER, Source(trial.dataset), work / trial.folder, request, choices, trackers=[bar]).about
    return {
        "dataset": trial.dataset,
        "parts": trial.parts,
        "epochs": trial.epochs,
        "members": [one["name"] for one in about["members"]],
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
        "| data set | parts | members | test RMSE | test labels | within 90 % bands | mean width |",
        "| --- | --- | --- |" + " ---: |" * 4,
    ]
    for fact in bands:
        checked = fact["checked"][0]
        lines.append(
            f"| {fact['dataset']} | {fact['parts']} | {_who(fact)} | {fact['scores']['test']:.3f} "
            f"| {checked['labels']:,} | {100 * checked['coverage']:.1f} % | {checked['mean_width']:.2f} |"
        )
    lines += [_together(bands), _ABOUT_BANDS, _PROBABILITIES]
    for fact in curves:
        checked = fact["checked"]
        labels = sum(point["labels"] for point in checked["reliability"])
        lines.append(
            f"**{fact['dataset']}, {fact['parts']}** ({fact['epochs']} epochs, test ROC-AUC "
            f"{100 * fact['scores']['test']:.1f} %). The Brier score is {checked['brier_before']:.3f} before "
            f"calibration and {checked['brier_after']:.3f} after it, on {labels:,} test labels. {_reach(fact)}\n\n"
            f"![Reliability curve, {fact['parts']}]({figure_of(fact)})\n"
        )
    return "\n".join(lines)


def _who(fact: dict[str, Any]) -> str:
    """`seeds 0 to 2, 100 epochs`."""
    kind, first = fact["members"][0].split()
    return f"{kind}s {first} to {fact['members'][-1].split()[1]}, {fact['epochs']} epochs"


def _together(bands: list[dict[str, Any]]) -> str:
    """The share over all models of a set that is split by scaffold, where there are several."""
    sentences = []
    for name in sorted({fact["dataset"] for fact in bands}):
        checked = [f["checked"][0] for f in bands if f["dataset"] == name and f["parts"] == SCAFFOLD]
        if len(checked) > 1:
            labels = checked[0]["labels"]
            share = 100 * sum(one["coverage"] for one in checked) / len(checked)
            sentences.append(
                f"Over the {len(checked)} models of {name} by scaffold, {share:.1f} % of the labels lie within bands; "
                f"each has the same {labels} test labels, so one label moves the share by {100 / labels:.1f} points."
            )
    return "\n" + " ".join(sentences) if sentences else ""


def figure_of(fact: dict[str, Any]) -> str:
    """The file name of a reliability curve."""
    short = fact["dataset"].removeprefix("moleculenet-")
    return f"reliability-{short}.svg" if fact["parts"] == SCAFFOLD else f"reliability-{short}-folds.svg"


def _reach(fact: dict[str, Any]) -> str:
    """How far calibrated probabilities reach, and why."""
    means = [point["probability"] for point in fact["checked"]["reliability"]]
    valid, test = (100 * fact["scores"][part] for part in ("valid", "test"))
    reach = f"Mean calibrated probabilities per bin range from {min(means):.2f} to {max(means):.2f}."
    if fact["parts"] != SCAFFOLD or valid >= test:
        return reach
    return (
        f"{reach} Calibration learned from the validation part, on which the model does worse (ROC-AUC {valid:.1f} %), "
        "so it is less confident about test molecules than it could be: trust the ranking more than the probabilities."
    )


_TOP = f"""# Can the predictions be trusted?

Each model below is an ensemble made by `adgcl finetune`: several fine-tuned copies of `{ENCODER}`. Split by
scaffold, three seeds share a training, a validation and a test part that have no scaffold in common; the validation
part alone sets bands and calibration, and the test part only checks them. In folds (`--folds 5`), which are drawn at
random, every molecule is predicted by the one network that did not see it, and each fold checks the bands and the
calibration that were fitted on the other folds. `python -m benchmarks.calibration --work DIR` writes this page, and
[transfer](transfer.md#predictions) says how bands and probabilities are made.

## Bands for regression
"""
_ABOUT_BANDS = """
A band of 90 % contains 90 % of the labels on average if test molecules are drawn like those that set the bands. Split
by scaffold they have other scaffolds, so a few per cent more or less are no surprise. How wide bands are on
moleculenet-freesolv is decided by few molecules: its validation part has only ten scaffolds, and one eighth of it
consists of derivatives of uracil, on which the models err most; training has none of them and the test part has one.
"""
_PROBABILITIES = "## Probabilities for classes\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--work", type=Path, help="where models are kept; without it, only the page is written")
    arguments = parser.parse_args()
    if arguments.work is not None:
        write_json(FACTS, [fine_tuned(trial, arguments.work) for trial in TRIALS])
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    write_text(PAGE, page(facts))
    for fact in (fact for fact in facts if isinstance(fact["checked"], dict)):
        unseen = "scaffolds" if fact["parts"] == SCAFFOLD else "molecules"
        title = f"{fact['dataset']}: reliability on unseen {unseen}"
        write_text(DOCS / figure_of(fact), reliability_figure(fact["checked"]["reliability"], title))


if __name__ == "__main__":
    main()
