"""Explanation: the drop probability of every bond by a trained augmenter, beside the controls that keep it honest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from adgcl.core.errors import DataError
from adgcl.core.progress import Count, Progress
from adgcl.data.dataset import Dataset
from adgcl.experiments.model.folder import ABOUT, Model, open_model
from adgcl.experiments.source import Source, atom_features_of
from adgcl.graphs.store.store import GraphStore
from adgcl.insight.agreement import mean_agreement, pairs_in_order
from adgcl.insight.bonds import Bonds, Floats, find_bonds
from adgcl.insight.chemistry import Chemistry, chemistry_of
from adgcl.insight.importance import Importance, bond_importance
from adgcl.insight.keeping import find_augmenter, keep_probabilities
from adgcl.insight.motifs import Motif, find_motifs
from adgcl.insight.seeds import load_seeds, other_seeds, untrained
from adgcl.insight.summary import Group, summarise
from adgcl.insight.traits import Trait, traits_of
from adgcl.insight.vectors import read_again, seen_through
from adgcl.training.fitting import fit_features
from adgcl.training.run_config import RunConfig
from adgcl.training.runs import LoadedRun, load_run

TRAINED, UNTRAINED, UNIFORM = "trained", "untrained", "uniform"
_FEWEST_STARTS, _NOBODYS_SEED = 5, 10**6


@dataclass(frozen=True, eq=False)
class Explanation:
    """Keep probabilities of all edges of a data set (`keep [E]`), of other seeds and of untrained augmenters.

    `keep` is None for a model that was explained without a run; `importance` is None for a run. `seeds` are the other
    seeds' keep probabilities, `starts` those of augmenters that were never trained, the run's own first.
    """

    dataset: Dataset
    bonds: Bonds
    chemistry: Chemistry | None
    about: dict[str, Any]
    keep: Floats | None = None
    seeds: Sequence[Floats] = ()
    starts: Sequence[Floats] = ()
    importance: Importance | None = None
    traits: list[Trait] = field(default_factory=list)

    @cached_property
    def drop(self) -> dict[str, Floats]:
        """The drop probability of every bond by the trained augmenter and its two controls."""
        if self.keep is None:
            return {}
        trained = self.dropped(self.keep)
        first = {TRAINED: trained, UNTRAINED: self.dropped(self.starts[0])}
        return {**first, UNIFORM: np.full(len(trained), trained.mean() if len(trained) else np.nan)}

    def dropped(self, keep: Floats) -> Floats:
        """One minus the mean keep probability of both directions."""
        return 1 - self.bonds.mean(keep)

    @cached_property
    def agreement(self) -> dict[str, float]:
        """The share of pairs of bonds in a graph that are ordered alike; 0.5 is chance.

        `seeds`: by trained augmenters of different seeds; `untrained`: by untrained ones; `start`: by this augmenter
        before and after training; `importance`: by the augmenter and by how much each bond matters for the prediction.
        """
        if self.keep is None:
            return {}
        trained = self.drop[TRAINED]
        found = {
            "seeds": mean_agreement(self.bonds, [trained, *map(self.dropped, self.seeds)]),
            "untrained": mean_agreement(self.bonds, [self.dropped(start) for start in self.starts]),
            "start": pairs_in_order(self.bonds, trained, self.drop[UNTRAINED]),
        }
        if self.importance is not None:
            found["importance"] = pairs_in_order(self.bonds, trained, np.abs(self.importance.change))
        return found

    @cached_property
    def groups(self) -> list[Group]:
        """Means over the bonds that share a trait: by each augmenter, each seed, and the size of a model's changes."""
        columns = {name: values for name, values in self.drop.items() if name != UNIFORM}
        columns |= {f"seed {i + 2}": self.dropped(keep) for i, keep in enumerate(self.seeds)}
        if self.importance is not None:
            columns["importance"] = np.abs(self.importance.change)
        return summarise(self.traits, columns)

    @cached_property
    def motifs(self) -> list[Motif]:
        """Bonds with the same neighbours, most dropped first; for a model, those that matter most."""
        scores = self.drop[TRAINED] if self.keep is not None else np.abs(_changes(self.importance))
        return find_motifs(_labelled(self.dataset.store, self.chemistry), self.bonds, scores)

    def title_of(self, graph: int) -> str:
        """The name of a graph."""
        return self.dataset.store.id_of(graph)


def explain_data(
    place: str | Path,
    source: Source,
    *,
    seeds: Sequence[str | Path] | None = None,
    augmenter: str | Path | None = None,
    label: str | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> Explanation:
    """Explain a run, or a model of `adgcl finetune`, on every graph of `source`.

    `seeds` are runs with the same settings and other seeds (default: those that are found in the run's folder).
    `augmenter` is a run whose augmenter is shown beside a model, `label` the model's label to explain.
    """
    is_model = (Path(place) / ABOUT).exists()
    model = open_model(place, device) if is_model else None
    run = None if is_model and augmenter is None else load_run(augmenter if is_model and augmenter else place, device)
    if run is not None:
        find_augmenter(run.method)
    if model is not None:
        source = source.following(model.config.data, model.about.get("mixtures", 0))
    if run is not None:
        source = source.following(run.config.data, run.mixtures)
    described = source.unlabelled.load(progress=progress)
    atoms = atom_features_of(described)
    wanted = {one.config.data.atom_features for one in (model, run) if one is not None}
    if described.smiles is not None and atoms is not None and wanted != {atoms}:
        # A file may order edges otherwise than they come when its molecules are read with other atom features.
        described = read_again(described, atoms)
    whole = describe(described, {"place": str(place), "model": is_model})
    if run is not None:
        others = other_seeds(run, device) if seeds is None else load_seeds(run, seeds, device)
        whole = with_augmenter(whole, run, others, _seen(source, described, run.config, run.checkpoint.spec), progress)
    if model is not None:
        whole = with_model(whole, model, label, _seen(source, described, model.config, model.spec), progress)
    return whole


def describe(dataset: Dataset, about: dict[str, Any] | None = None) -> Explanation:
    """The bonds of a data set with their traits, and no opinion about them yet."""
    bonds, chemistry = find_bonds(dataset.store), chemistry_of(dataset)
    return Explanation(dataset, bonds, chemistry, about or {}, traits=traits_of(dataset, bonds, chemistry))


def with_augmenter(
    whole: Explanation, run: LoadedRun, others: Sequence[LoadedRun], store: GraphStore, progress: Progress | None = None
) -> Explanation:
    """The same with what a run's augmenter, its other seeds and untrained ones say; `store` as the run sees it."""
    numbers = [run.config.training.seed, *(other.config.training.seed for other in others)]
    # Two untrained augmenters may agree or disagree by luck, so several of them stand for chance.
    fresh = [*numbers, *range(_NOBODYS_SEED, _NOBODYS_SEED + _FEWEST_STARTS - len(numbers))]
    keep = keep_probabilities(run.method, store, _named(progress, "explain"))
    about = {**whole.about, **about_run(run), "seeds": numbers}
    return replace(
        whole,
        keep=keep,
        seeds=tuple(keep_probabilities(other.method, store) for other in others),
        starts=tuple(keep_probabilities(untrained(run, seed), store) for seed in fresh),
        about=about,
    )


def with_model(
    whole: Explanation, model: Model, label: str | None, store: GraphStore, progress: Progress | None = None
) -> Explanation:
    """The same with how much each bond matters for a model's prediction."""
    names = model.labels
    if label is not None and label not in names:
        raise DataError(f"The model has no label {label!r}.", f"It has {', '.join(names)}.")
    kind = model.task.kind
    column = 0 if label is None or kind == "multiclass" else names.index(label)
    name = "most probable class" if kind == "multiclass" else names[column]
    made = bond_importance(model.members, store, whole.bonds, column, name, _named(progress, "take bonds away"))
    about = {**whole.about, "task": kind, "label": name, "members": len(model.members)}
    return replace(whole, importance=made, about=about)


def about_run(run: LoadedRun) -> dict[str, Any]:
    """What a page says about a run."""
    config, data = run.config, run.checkpoint.data
    return {
        "run": str(run.path),
        "method": run.method.title,
        "encoder": config.encoder.name,
        "epochs": run.checkpoint.position.epoch,
        "trained_on": str(data.get("name", "")),
        "graphs": data.get("graphs"),
        "features": config.data.features,
    }


def _seen(source: Source, described: Dataset, config: RunConfig, spec: Any) -> GraphStore:
    """The graphs as a run or a model sees them, edge for edge those that were described."""
    seen = fit_features(seen_through(source.unlabelled, described, config.data).store, spec)
    same = np.array_equal(seen.edge_ptr, described.store.edge_ptr) and np.array_equal(
        seen.edge_source, described.store.edge_source
    )
    if not same:
        raise DataError("The graphs have other edges when their atoms are described differently.", "Report this bug.")
    return seen


def _labelled(store: GraphStore, chemistry: Chemistry | None) -> GraphStore:
    """The graphs with elements and kinds of bonds as their only labels: what a chemist calls the same motif."""
    if chemistry is None:
        return store
    return replace(store, x=chemistry.element[:, None], x_num=None, edge_attr=chemistry.kind[:, None], edge_num=None)


def _changes(importance: Importance | None) -> Floats:
    assert importance is not None
    return importance.change


def _named(progress: Progress | None, what: str) -> Count | None:
    return None if progress is None else lambda done, total: progress(what, done, total)
