"""The rivals' presets: authors' faults in `as_published` mode alone, everything valid in both."""

from __future__ import annotations

import pytest

from adgcl.data.dataset import Dataset, Origin
from adgcl.experiments.presets import preset_for, presets
from adgcl.training.run_config import resolve
from tests.graph_cases import random_store

FAMILIES = {
    "tu": Dataset("MUTAG", random_store(), Origin("tu")),
    "ogb": Dataset("ogbg-molbace", random_store(), Origin("ogb")),
    "zinc": Dataset("ZINC", random_store(), Origin("zinc")),
}
RIVALS = ("graphcl", "nadgcl", "joao", "joaov2")


def run(method, family, mode):
    return resolve(preset_for(method, FAMILIES[family]).settings_for(FAMILIES[family], mode))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", RIVALS)
def test_every_rival_has_a_preset_with_the_common_encoder(method, family):
    strict = run(method, family, "strict")
    assert strict.method.name == method
    assert strict.encoder == run("adgcl", family, "strict").encoder
    assert not getattr(strict.method, "star_subgraph", False)


def test_the_star_is_published_only():
    assert run("graphcl", "tu", "as_published").method.star_subgraph
    assert run("graphcl", "ogb", "as_published").method.star_subgraph


def test_few_labels_have_the_faults_of_their_authors_as_published():
    modes = ("as_published", "strict")
    data = FAMILIES["tu"]
    for row in ("graphcl", "graphcl-opt"):
        published, strict = (resolve(presets()[f"{row}-semi"].settings_for(data, mode)).method for mode in modes)
        assert (published.star_subgraph, published.subgraph_ratio) == (True, 0.2), "a fifth of the nodes is kept"
        assert (strict.star_subgraph, strict.subgraph_ratio) == (False, 0.8)
    published, strict = (resolve(presets()["joaov2-semi"].settings_for(data, mode)).method for mode in modes)
    assert (published.head_per, strict.head_per) == ("epoch", "graph")
    assert not published.star_subgraph, "JOAO's own code for few labels walks"


@pytest.mark.parametrize("method", ["joao", "joaov2"])
def test_joao_is_published_with_its_authors_own_encoder(method):
    published = run(method, "tu", "as_published")
    assert (published.encoder.num_layers, published.encoder.layers) == (3, "all")
    assert published.data.features == "labels"
    assert published.training.batch_size == 128
    assert "random_edge_perturb" not in published.method.pool
    assert "random_edge_perturb" in run(method, "tu", "strict").method.pool
