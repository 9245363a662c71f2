"""The page of an explanation: findings first, then groups of bonds, motifs, and graphs beside their controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adgcl.insight.bonds import Floats
from adgcl.insight.explanation import TRAINED, UNIFORM, UNTRAINED, Explanation
from adgcl.pages import explain_words as words
from adgcl.pages.drawing.marks import Mark, marks_of
from adgcl.pages.drawing.pictures import Pictures
from adgcl.pages.drawing.scale import step
from adgcl.pages.frame import attributes, picture, render

SHOWN = 24
_MOTIFS = 6
_MOST_GROUPS = 8


@dataclass(frozen=True)
class Legend:
    """What the ends of the colour scale mean, by value and by rank."""

    value: str
    low: str
    high: str
    rank_low: str = "least"
    rank_high: str = "most"


_DROPPED = Legend("drop probability", "0 kept", "1 dropped")
_BOTH = Legend("drop probability, or change", "kept, or lowers it", "dropped, or raises it")
_CHANGED = Legend("change of the prediction", "lowers it", "raises it")


def explain_page(made: Explanation, *, graphs: Sequence[int] | None = None, shown: int = SHOWN) -> str:
    """The page as HTML; `graphs` are those to draw (default: `shown` of them, from the smallest to the largest)."""
    said = words.Words(made)
    pictures = Pictures(made.dataset, made.bonds, made.chemistry)
    chosen = typical_graphs(made, shown) if graphs is None else list(graphs)
    most, least = _motifs(made, pictures)
    return render(
        "explain",
        title=said.title,
        scripts=("sorting.js", "explain.js"),
        lead=said.lead,
        facts=said.facts,
        warning=said.warning,
        controls=said.controls,
        controls_text=said.controls_text,
        word=said.word,
        thing=said.thing,
        measure=said.measure,
        groups_text=said.groups_text(bar_width(made)),
        panels=_panels(made),
        most=most,
        least=least,
        most_title=said.most_title,
        least_title=said.least_title,
        motifs_text=said.motifs_text,
        graphs_title=said.graphs_title(len(chosen)),
        legend=_CHANGED if made.keep is None else _DROPPED if made.importance is None else _BOTH,
        cards=[card(made, pictures, graph) for graph in chosen],
        footer=said.footer,
    )


def typical_graphs(made: Explanation, count: int) -> list[int]:
    """Graphs of all sizes: evenly spaced from the smallest with at least two bonds to the largest, in data order."""
    usable = np.flatnonzero(made.bonds.counts >= 2)
    if not len(usable):
        usable = np.arange(len(made.dataset))
    by_size = usable[np.argsort(made.bonds.counts[usable], kind="stable")]
    places = np.unique(np.linspace(0, len(by_size) - 1, min(count, len(by_size))).round().astype(int))
    return sorted(by_size[places].tolist())


def card(made: Explanation, pictures: Pictures, graph: int) -> dict[str, Any]:
    """A graph as drawn and in numbers."""
    own = made.bonds.of(graph)
    name = made.title_of(graph)
    views = []
    scores = made.drop[TRAINED][own] if made.keep is not None else np.abs(made.importance.change[own])  # type: ignore[union-attr]
    if made.importance is not None:
        marks = change_marks(made, graph)
        caption = f"matters for {made.importance.column}: {made.importance.prediction[graph]:.3g}"
        views.append(_view(pictures, graph, marks, f"{name}: {caption}", caption))
    if made.keep is not None:
        controls = (UNTRAINED, UNIFORM) if made.importance is None else ()
        for kind in (TRAINED, *controls):
            drop = made.drop[kind][own]
            verb = "drops " if kind == TRAINED else ""
            caption = f"{kind}: {verb}{100 * drop.mean():.0f}%" if len(drop) else kind
            views.append(_view(pictures, graph, drop_marks(made, graph, kind), _described(made, graph, kind), caption))
    columns, rows = _numbers(made, graph)
    mean, spread = (float(scores.mean()), float(scores.std())) if len(scores) else (0.0, 0.0)
    size = own.stop - own.start
    data = {"place": graph, "mean": f"{mean:.6g}", "spread": f"{spread:.6g}", "size": size, "name": name}
    return {"name": name, "data": attributes(data), "views": views, "columns": columns, "rows": rows, "about": ""}


def drop_marks(made: Explanation, graph: int, kind: str = TRAINED) -> list[Mark]:
    """The colours of a graph's bonds by one of the augmenters."""
    own = made.bonds.of(graph)
    drop = made.drop[kind][own]
    return marks_of(drop, [f"{name}: dropped {100 * p:.1f}%" for name, p in zip(bond_names(made, own), drop)])


def change_marks(made: Explanation, graph: int) -> list[Mark]:
    """The colours of a graph's bonds by what they do to a prediction; no change is in the middle of the scale."""
    assert made.importance is not None
    own = made.bonds.of(graph)
    change = made.importance.change[own]
    top = float(np.abs(change).max(initial=0.0)) or 1.0
    notes = [f"{name}: {value:+.3g}" for name, value in zip(bond_names(made, own), change)]
    ranked = marks_of(np.abs(change), notes)
    return [Mark(step(0.5 + value / top / 2), mark.rank, mark.note) for value, mark in zip(change.tolist(), ranked)]


def bond_names(made: Explanation, own: slice) -> list[str]:
    """What each bond is called: its kind and its ends."""
    ends = [f"{a}–{b}" for a, b in zip(made.bonds.one[own], made.bonds.other[own])]
    named = {trait.name: trait for trait in made.traits}
    if made.chemistry is None:
        return ends
    kinds, atoms = (np.array(named[name].values, dtype=object)[named[name].code[own]] for name in ("bond", "atoms"))
    return [f"{atom} {kind} ({end})" for atom, kind, end in zip(atoms, kinds, ends)]


def _view(pictures: Pictures, graph: int, marks: list[Mark], label: str, caption: str) -> dict[str, Any]:
    return {"picture": picture(pictures.draw(graph, marks, label)), "caption": caption}


def _described(made: Explanation, graph: int, kind: str) -> str:
    """What a picture shows, for those who cannot see it."""
    own = made.bonds.of(graph)
    drop, name = made.drop[kind][own], made.title_of(graph)
    if not len(drop):
        return f"{name}, which has no edges"
    if kind == UNIFORM:
        return f"{name}: every bond dropped with probability {drop[0]:.2f}"
    top = bond_names(made, own)[int(drop.argmax())]
    return f"{name}, {kind} augmenter: drop probabilities from {drop.min():.2f} to {drop.max():.2f}, highest at {top}"


def _numbers(made: Explanation, graph: int) -> tuple[list[str], list[list[str]]]:
    own = made.bonds.of(graph)
    names = bond_names(made, own)
    columns: dict[str, Floats] = {}
    if made.importance is not None:
        columns["change"] = made.importance.change[own]
    if made.keep is not None:
        columns["keep →"] = made.keep[made.bonds.forth[own]]
        columns["keep ←"] = made.keep[made.bonds.back[own]]
        columns["mean"] = made.bonds.mean(made.keep)[own]
        columns["untrained"] = made.bonds.mean(made.starts[0])[own]
    texts = [[f"{value:+.3g}" if name == "change" else f"{value:.3f}" for value in v] for name, v in columns.items()]
    return [words.Words(made).word, *columns], [list(row) for row in zip(names, *texts)]


def _panels(made: Explanation) -> list[dict[str, Any]]:
    """A table of bars for each trait; of many values the commonest."""
    main = TRAINED if made.keep is not None else "importance"
    titles = {trait.name: trait.title for trait in made.traits}
    high = bar_width(made)
    panels = []
    for name, title in titles.items():
        groups = [group for group in made.groups if group.trait == name]
        kept = {g.value for g in sorted(groups, key=lambda g: -g.count)[:_MOST_GROUPS]}
        rows = [group for group in groups if group.value in kept]
        left = len(groups) - len(rows)
        more = f" (the {len(rows)} commonest of {len(groups)})" if left else ""
        panels.append({"title": title + more, "heading": "value", "rows": [_bar(g, main, high) for g in rows]})
    return panels


def bar_width(made: Explanation) -> float:
    """The value of a bar over the full width: the largest of all that are drawn, rounded up."""
    shown = [value for group in made.groups for name, value in group.drop.items() if _is_drawn(made, name)]
    top = max((value for value in shown if value == value), default=0.0)
    if made.keep is None:
        return top or 1.0
    return next((nice for nice in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if nice >= top), 1.0)


def _is_drawn(made: Explanation, name: str) -> bool:
    return name != "importance" if made.keep is not None else name == "importance"


def _bar(group: Any, main: str, high: float) -> dict[str, Any]:
    value = group.drop[main]
    seeds = [v for name, v in group.drop.items() if name.startswith("seed ")]
    control = group.drop.get(UNTRAINED) if main == TRAINED else None
    text = f"{group.value}: {value:.3f}"
    if control is not None:
        text += f", untrained {control:.3f}"
    if seeds:
        text += ", other seeds " + ", ".join(f"{seed:.3f}" for seed in seeds)
    percent = [round(100 * min(v / high, 1.0), 1) for v in (value, *seeds)]
    return {
        "value": group.value,
        "count": group.count,
        "main": f"{value:.6g}",
        "shown": f"{100 * value:.1f}%" if main == TRAINED else f"{value:.3g}",
        "step": step(value) if main == TRAINED else 50,
        "width": percent[0],
        "seeds": percent[1:],
        "control": None if control is None else round(100 * min(control / high, 1.0), 1),
        "text": text,
    }


def _motifs(made: Explanation, pictures: Pictures) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    motifs = made.motifs
    if len(motifs) < 2:
        return [], []
    count = min(_MOTIFS, len(motifs) // 2)
    top = 1.0 if made.keep is not None else max(motif.drop for motif in motifs) or 1.0

    def shown(motif: Any) -> dict[str, Any]:
        number = f"{100 * motif.drop:.1f}%" if made.keep is not None else f"{motif.drop:.3g}"
        mark = Mark(step(motif.drop / top), step(motif.drop / top), number)
        label = f"motif around {bond_names(made, slice(motif.example, motif.example + 1))[0]}, {number}"
        drawn = picture(pictures.around(motif.example, mark, label))
        return {"picture": drawn, "shown": number, "count": motif.count, "graphs": motif.graphs}

    return [shown(motif) for motif in motifs[:count]], [shown(motif) for motif in motifs[-count:][::-1]]
