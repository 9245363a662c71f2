"""The words of an explanation's page: what was found, and how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adgcl.insight.explanation import TRAINED, UNTRAINED, Explanation

# An augmenter that drops less than this leaves the graphs as they are.
_STILL = 0.01
# Seeds that order fewer pairs alike than this say little that training would say again.
_WEAK = 0.6


@dataclass(frozen=True)
class Words:
    """Texts of a page, from the numbers of an explanation."""

    made: Explanation

    @property
    def word(self) -> str:
        return "bond" if self.made.chemistry is not None else "edge"

    @property
    def thing(self) -> str:
        return "molecule" if self.made.chemistry is not None else "graph"

    @property
    def measure(self) -> str:
        return "drop probability" if self.made.keep is not None else "mean change, without its sign"

    @property
    def title(self) -> str:
        what = "What the augmenter drops" if self.made.keep is not None else "Which bonds matter"
        return f"{what} · {self.made.dataset.name}"

    @property
    def lead(self) -> str:
        about, made = self.made.about, self.made
        parts = []
        if made.keep is not None:
            where = f", trained for {about['epochs']} epochs on {about['trained_on'] or 'graphs in memory'}"
            parts.append(
                f"The augmenter of {about['method']}{where}, gives every {self.word} of {len(made.dataset):,} "
                f"{self.thing}s a probability of being dropped. What it drops often it takes to be redundant."
            )
        if made.importance is not None:
            parts.append(
                f"Each {self.word} is taken away in turn, and the model's {about['members']} networks predict "
                f"{about['label']} again: the change is what the {self.word} contributes."
            )
        return " ".join(parts)

    @property
    def facts(self) -> list[dict[str, str]]:
        made = self.made
        found = [_fact(f"{len(made.bonds):,}", f"{self.word}s in {len(made.dataset):,} {self.thing}s")]
        if made.keep is not None:
            drop = made.drop
            found.append(_fact(_percent(drop[TRAINED].mean()), "dropped on average, after training"))
            found.append(_fact(_percent(drop[UNTRAINED].mean()), "dropped before training"))
            if made.seeds:
                text = f"of pairs of {self.word}s are ordered alike by {len(made.seeds) + 1} seeds (chance: 50%)"
                found.append(_fact(f"{100 * made.agreement['seeds']:.0f}%", text))
            else:
                text = f"of pairs of {self.word}s are ordered as before training (chance: 50%)"
                found.append(_fact(f"{100 * made.agreement['start']:.0f}%", text))
            if made.importance is not None:
                text = "of pairs are ordered alike by the augmenter and by importance (chance: 50%)"
                found.append(_fact(f"{100 * made.agreement['importance']:.0f}%", text))
        elif made.importance is not None:
            change = np.abs(made.importance.change)
            found.append(_fact(f"{change.mean():.3g}", "mean change, without its sign"))
            found.append(_fact(f"{change.max(initial=0):.3g}", "largest change"))
        return found

    @property
    def warning(self) -> str:
        """What a reader must know before believing the pictures; empty if nothing."""
        made = self.made
        if made.keep is None:
            return ""
        said = []
        if made.drop[TRAINED].mean() < _STILL:
            said.append("This augmenter hardly drops anything: there was no adversary left at the end of training.")
        if made.seeds and made.agreement["seeds"] < _WEAK:
            said.append(
                f"Seeds hardly agree on the order of {self.word}s, so another seed would give other pictures: do not "
                "read chemistry into them."
                if made.chemistry is not None
                else f"Seeds hardly agree on the order of {self.word}s, so another seed would give other pictures."
            )
        if not made.seeds:
            said.append("There is one seed only. Train others and name them with --seed-run to see what holds.")
        return " ".join(said)

    @property
    def controls(self) -> list[dict[str, Any]]:
        made = self.made
        if made.keep is None:
            return []
        agreement = {TRAINED: made.agreement["seeds"], UNTRAINED: made.agreement["untrained"]}
        return [
            {
                "name": name,
                "mean": float(drop.mean()) if len(drop) else float("nan"),
                "spread": _spread_within(made, drop),
                "agreement": agreement.get(name, 0.5),
            }
            for name, drop in made.drop.items()
        ]

    @property
    def controls_text(self) -> str:
        start = self.made.agreement.get("start", float("nan"))
        return (
            "The same augmenter before training, and dropping at random with the same mean. Same order: the share of "
            f"pairs of {self.word}s of one {self.thing} that two seeds order alike; 50% is chance. Before and after "
            f"training, this run orders {100 * start:.0f}% alike."
        )

    def groups_text(self, width: float) -> str:
        """What the bars are, if the full width of one is `width`."""
        if self.made.keep is None:
            return "Bars: the mean change of the prediction, whatever its sign. Click a heading to sort."
        seeds = " Circles: other seeds." if self.made.seeds else ""
        return (
            f"Bars: the trained augmenter; the full width is {100 * width:.0f}%. Line: the same one before training."
            f"{seeds} Click a heading to sort."
        )

    @property
    def most_title(self) -> str:
        return "Most redundant motifs" if self.made.keep is not None else "Motifs that matter most"

    @property
    def least_title(self) -> str:
        return "Least redundant motifs" if self.made.keep is not None else "Motifs that matter least"

    @property
    def motifs_text(self) -> str:
        return (
            f"A motif is a {self.word} with its direct neighbours. The coloured {self.word} is the one that counts; "
            f"the number is its mean over the data. Motifs in very few {self.thing}s are left out."
        )

    def graphs_title(self, count: int) -> str:
        every = count == len(self.made.dataset)
        return f"All {count} {self.thing}s" if every else f"{count} of {len(self.made.dataset):,} {self.thing}s"

    @property
    def footer(self) -> str:
        about = self.made.about
        seeds = f" Seeds: {', '.join(map(str, about['seeds']))}." if about.get("seeds") else ""
        return f"Made by adgcl explain from {about.get('run') or about.get('place')}.{seeds}"


def _fact(value: str, text: str) -> dict[str, str]:
    return {"value": value, "text": text}


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%" if value == value else "–"


def _spread_within(made: Explanation, drop: Any) -> float:
    """The standard deviation of the drop probability within a graph, over all graphs."""
    counts = np.maximum(made.bonds.counts, 1)
    mean = np.bincount(made.bonds.graph, weights=drop, minlength=made.bonds.num_graphs) / counts
    return float(np.sqrt(np.mean((drop - mean[made.bonds.graph]) ** 2))) if len(drop) else float("nan")
