"""Explanations: probabilities as the augmenter draws, honest controls, and errors that help."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.core.errors import ConfigError
from adgcl.experiments.planning import Request
from adgcl.experiments.pretraining import pretrain
from adgcl.experiments.source import Source
from adgcl.graphs.chem.molecules import molecules_to_store
from adgcl.insight.explanation import TRAINED, UNIFORM, UNTRAINED, explain_data
from adgcl.insight.keeping import keep_probabilities
from adgcl.insight.motifs import find_motifs
from adgcl.insight.seeds import other_seeds, untrained
from adgcl.insight.tables import bond_columns
from adgcl.training.run_config import resolve
from adgcl.training.runs import load_run
from adgcl.training.trainer import build_method
from tests.insight_cases import MOLECULES, SETTINGS, finished_run

SOURCE = Source(list(MOLECULES))


@pytest.fixture(scope="module")
def made():
    return explain_data(finished_run(), SOURCE, seeds=[finished_run(1)])


@pytest.mark.parametrize("augmentations", [["edge_drop"], ["node_drop", "edge_drop"]])
def test_probabilities_are_those_of_the_draws(augmentations: list[str]) -> None:
    store = molecules_to_store(list(MOLECULES)).store
    gate = {"hard": True, "temperature": 0.5}
    method = {"name": "adgcl", "augmentations": augmentations, "gate": gate}
    config = resolve({"method": method, "encoder": {"hidden_dim": 8, "num_layers": 2}})
    built = build_method(config, store.spec, store.task)
    keep = keep_probabilities(built, store)
    batch, generator = store.batch(np.arange(len(store))), torch.Generator().manual_seed(0)
    built.augmenter.eval()
    with torch.no_grad():
        drawn = [built.augmenter.parts(batch, generator)[-1].view.edge_keep for _ in range(600)]
    assert torch.stack(drawn).mean(0).numpy() == pytest.approx(keep, abs=0.09)


def test_a_graph_does_not_depend_on_the_others(made) -> None:
    alone = explain_data(finished_run(), Source([MOLECULES[7], MOLECULES[1]]))
    own = made.bonds.of(1)
    assert alone.drop[TRAINED][alone.bonds.of(1)] == pytest.approx(made.drop[TRAINED][own], abs=1e-6)


def test_controls(made) -> None:
    run = load_run(finished_run())
    start = made.dropped(keep_probabilities(untrained(run, 0), made.dataset.store))
    assert made.drop[UNTRAINED] == pytest.approx(start)
    assert np.ptp(made.drop[UNIFORM]) == 0 and made.drop[UNIFORM][0] == pytest.approx(made.drop[TRAINED].mean())
    assert len(made.starts) == 5 and len(made.seeds) == 1
    assert set(made.agreement) == {"seeds", "untrained", "start"}
    # The untrained augmenter is the one that training began with, not another one.
    config = resolve({**run.config.to_tree(), "training": {**run.config.to_tree()["training"], "epochs": 0}})
    fresh = build_method(config, run.checkpoint.spec, run.checkpoint.task)
    assert keep_probabilities(fresh, made.dataset.store) == pytest.approx(np.asarray(made.starts[0]))


def test_other_seeds_are_found_beside_the_run(tmp_path) -> None:
    for seed in (0, 1):
        (tmp_path / f"seed-{seed}").symlink_to(finished_run(seed))
    (tmp_path / "seed-9").symlink_to(finished_run(0, "graphcl"))
    found = other_seeds(load_run(tmp_path / "seed-0"))
    assert [run.config.training.seed for run in found] == [1]


def test_a_run_of_other_settings_is_no_seed() -> None:
    with pytest.raises(ConfigError, match="other settings"):
        explain_data(finished_run(), SOURCE, seeds=[finished_run(0, "graphcl")])


def test_a_run_on_other_data_is_no_seed(tmp_path) -> None:
    request = Request("adgcl", flags={"training": {"epochs": 2, "seed": 1}}, assignments=SETTINGS)
    (tmp_path / "mine.smi").write_text("CCO\nCCN\nCCC\n")
    pretrain(Source(str(tmp_path / "mine.smi")), tmp_path / "seed-1", request)
    (tmp_path / "seed-0").symlink_to(finished_run(0))
    assert other_seeds(load_run(tmp_path / "seed-0")) == []
    with pytest.raises(ConfigError, match="on other data"):
        explain_data(finished_run(), SOURCE, seeds=[tmp_path / "seed-1"])


def test_a_run_without_augmenter_is_refused() -> None:
    with pytest.raises(ConfigError, match="nothing to explain") as caught:
        explain_data(finished_run(0, "graphcl"), SOURCE)
    assert "adgcl" in (caught.value.hint or "")


def test_groups_are_means_over_bonds(made) -> None:
    ring = next(trait for trait in made.traits if trait.name == "ring")
    inside = np.array(ring.texts) == "yes"
    group = next(g for g in made.groups if (g.trait, g.value) == ("ring", "yes"))
    assert group.count == inside.sum() and group.drop[TRAINED] == pytest.approx(made.drop[TRAINED][inside].mean())
    assert group.drop["seed 2"] == pytest.approx(made.dropped(made.seeds[0])[inside].mean())


def test_the_table_has_a_row_for_every_bond(made) -> None:
    columns = bond_columns(made)
    assert {len(values) for values in columns.values()} == {len(made.bonds)}
    keep = (columns["keep_forth"] + columns["keep_back"]) / 2
    assert columns["drop"] == pytest.approx(1 - keep) and columns["keep"] == pytest.approx(keep)


def test_motifs_are_the_same_however_atoms_are_numbered() -> None:
    spelled = explain_data(finished_run(), Source(["CCO", "OCC", "C(O)C", "CCN"]))
    motifs = find_motifs(spelled.dataset.store, spelled.bonds, spelled.drop[TRAINED], least=1)
    assert sorted((motif.count, motif.graphs) for motif in motifs) == [(1, 1), (1, 1), (3, 3), (3, 3)]
    assert [m.drop for m in motifs] == sorted((m.drop for m in motifs), reverse=True)
