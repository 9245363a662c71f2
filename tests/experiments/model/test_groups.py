"""Groups: where a split keeps scaffolds apart, what bands depend on is chosen by scaffolds that did not set them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adgcl.data.load import load_dataset
from adgcl.data.splits import divided
from adgcl.experiments.model.conformal import fit_intervals, interval_loss
from adgcl.experiments.model.members import enrol, held_out_groups
from adgcl.graphs.chem.scaffolds import scaffold_of


def by_scaffold(seed: int, scaffolds: int = 5) -> tuple[np.ndarray, ...]:
    """Labels, predictions, spreads, distances and groups; groups differ in their errors, and spreads say so roughly."""
    random = np.random.default_rng(seed)
    group = np.repeat(np.arange(scaffolds), 20)
    level = random.uniform(0.5, 3.0, scaffolds)[group]
    spread = level * random.uniform(0.3, 1.7, len(group))
    y = random.normal(0, level)
    return y, np.zeros(len(group)), spread, random.uniform(0.5, 2.0, len(group)), group


def slowly_chosen(y: np.ndarray, signals: dict[str, np.ndarray], fold: np.ndarray) -> tuple[float | None, str]:
    """The floor and signal with the lowest interval score, one value at a time."""
    residual, best = np.abs(y), (np.inf, (None, "spread"))
    choices = [(None, "spread")] + [(f * np.median(s), n) for n, s in signals.items() for f in (0.5, 1.0, 2.0)]
    for floor, name in choices:
        total = 0.0
        for i in range(len(y)):
            others = fold != fold[i]
            scale = np.ones(len(y)) if floor is None else floor + signals[name]
            scores = sorted(residual[others] / scale[others])
            half = scores[int(np.ceil((len(scores) + 1) * 0.9)) - 1] * scale[i]
            total += interval_loss(residual[i : i + 1], np.array([half]), 0.9)
        best = min(best, (total / len(y), (floor, name)), key=lambda pair: pair[0])
    return best[1]


@pytest.mark.parametrize("seed", range(12))
def test_the_scale_is_chosen_by_groups_that_did_not_set_the_bands(seed: int) -> None:
    y, mean, spread, distance, group = by_scaffold(seed)
    bands = fit_intervals(y, mean, spread, distance, group)
    floor, by = slowly_chosen(y, {"spread": spread, "distance": distance}, group)  # five groups: a fold each
    assert bands.by == by
    assert bands.floor == (floor if floor is None else pytest.approx(floor, rel=1e-6))


def test_values_of_a_known_group_would_choose_differently() -> None:
    different = 0
    for seed in range(12):
        *values, group = by_scaffold(seed)
        different += fit_intervals(*values, group) != fit_intervals(*values, np.arange(len(group)))
    assert different >= 3


def test_the_order_of_rows_does_not_matter() -> None:
    values = by_scaffold(0)
    order = np.random.default_rng(1).permutation(len(values[0]))
    assert fit_intervals(*values) == fit_intervals(*(column[order] for column in values))


def test_with_fewer_groups_than_folds_all_bands_have_one_width() -> None:
    assert fit_intervals(*by_scaffold(0, scaffolds=4)).floor is None
    assert fit_intervals(*by_scaffold(0, scaffolds=5)).floor is not None


def test_groups_are_scaffolds_where_the_split_keeps_them_apart() -> None:
    dataset = load_dataset("freesolv")
    assert dataset.smiles is not None
    group = held_out_groups(dataset, enrol(dataset, None, 1, None))
    scaffold = [scaffold_of(smiles) for smiles in dataset.smiles]
    numbers = dict(zip(scaffold, group.tolist()))
    assert [numbers[name] for name in scaffold] == group.tolist(), "one number for each scaffold"
    assert len(set(numbers.values())) == len(numbers), "and one scaffold for each number"


def test_elsewhere_every_graph_is_its_own_group() -> None:
    dataset = load_dataset("freesolv")
    alone = np.arange(len(dataset)).tolist()
    shuffled = divided(dataset, "random")
    assert held_out_groups(shuffled, enrol(shuffled, "random", 1, None)).tolist() == alone
    assert held_out_groups(dataset, enrol(dataset, None, None, 3)).tolist() == alone
    without = replace(dataset, smiles=None)
    assert held_out_groups(without, enrol(without, None, 1, None)).tolist() == alone
