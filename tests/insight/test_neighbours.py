"""Neighbours, search and maps: against scikit-learn and RDKit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from adgcl.core.errors import CheckpointError, ConfigError, DataError, UnknownNameError
from adgcl.core.extras import is_installed
from adgcl.data.load import load_dataset
from adgcl.experiments.source import Source
from adgcl.insight import graph_map, search
from adgcl.insight.graph_map import map_data
from adgcl.insight.neighbours import STATISTICS, find_neighbours
from adgcl.insight.projection import principal_components, projections
from adgcl.insight.tables import map_columns, write_columns
from adgcl.insight.vectors import as_read, open_encoder, selected, standardised, unit_rows
from tests.graph_cases import random_store
from tests.insight_cases import MOLECULES, finished_run

RNG = np.random.default_rng(0)
ROWS = unit_rows(RNG.normal(size=(700, 12)))
FREESOLV = Source("freesolv")


def test_exact_search_is_that_of_scikit_learn() -> None:
    places, values = search.nearest(ROWS, ROWS[:600], 7, "exact")
    known = NearestNeighbors(n_neighbors=7, metric="cosine", algorithm="brute").fit(ROWS)
    distance, expected = known.kneighbors(ROWS[:600])
    assert (places == expected).mean() > 0.999 and values == pytest.approx(1 - distance, abs=1e-5)


@pytest.mark.skipif(not is_installed("faiss"), reason="needs adgcl[search]")
def test_the_approximate_index_finds_nearly_all() -> None:
    exact, _ = search.nearest(ROWS, ROWS, 10, "exact")
    found, values = search.nearest(ROWS, ROWS, 10, "approximate")
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact, found)])
    assert recall > 0.95 and (np.diff(values, axis=1) <= 1e-6).all()


@pytest.mark.skipif(not is_installed("faiss"), reason="needs adgcl[search]")
def test_the_approximate_index_finds_enough_among_equal_rows() -> None:
    rows = np.repeat(ROWS[:100], 50, axis=0)
    places, values = search.nearest(rows, rows[::25], 60, "approximate")
    assert places.min() >= 0 and values.min() >= -1.001
    assert all(len(set(row)) == 60 for row in places)


def test_unknown_index() -> None:
    with pytest.raises(ConfigError, match="fast"):
        search.nearest(ROWS, ROWS, 3, "fast")  # type: ignore[arg-type]


def test_tanimoto_is_that_of_rdkit() -> None:
    made = find_neighbours(finished_run(), Source(list(MOLECULES)), count=4)
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    prints = [generator.GetFingerprint(Chem.MolFromSmiles(text)) for text in MOLECULES]
    for query in range(len(MOLECULES)):
        assert query not in made.known[0][query] and query not in made.learned[0][query]
        expected = np.array(DataStructs.BulkTanimotoSimilarity(prints[query], prints))
        assert made.known[1][query] == pytest.approx(expected[made.known[0][query]])
        expected[query] = -1
        assert sorted(made.known[1][query])[::-1] == pytest.approx(sorted(expected)[::-1][:4])


def test_strangers_are_compared_with_the_data() -> None:
    made = find_neighbours(finished_run(), Source(list(MOLECULES)), Source(["CCO", "c1ccccc1"]), count=3)
    assert (made.itself == -1).all() and made.learned[0][:, 0].tolist() == [0, 1]
    assert made.known[1][:, 0] == pytest.approx([1, 1])


def test_a_sample_of_queries_keeps_its_place() -> None:
    made = find_neighbours(finished_run(), Source(list(MOLECULES)), count=3, most=5)
    assert len(made.queries) == 5 and made.left_out == len(MOLECULES) - 5
    assert [MOLECULES[i] for i in made.itself] == list(made.queries.smiles)
    assert (made.learned[0] != made.itself[:, None]).all()


def test_labels_of_neighbours_are_compared() -> None:
    made = find_neighbours(finished_run(), FREESOLV, count=5)
    likeness = made.likeness()
    y = made.dataset.store.y[:, 0]
    assert likeness["known"] == pytest.approx(np.abs(y[:, None] - y[made.known[0]]).mean())
    assert likeness["known"] < likeness["chance"]


def test_principal_components_are_those_of_scikit_learn() -> None:
    rows = standardised(RNG.normal(size=(60, 9)) @ RNG.normal(size=(9, 9)))
    made, shares = principal_components(rows, 4)
    known = PCA(4).fit(rows)
    assert np.abs(made) == pytest.approx(np.abs(known.transform(rows)), abs=1e-4)
    assert shares == pytest.approx(known.explained_variance_ratio_, abs=1e-6)


def test_projections_of_few_and_equal_graphs() -> None:
    same = np.zeros((12, 5), dtype=np.float32)
    for wanted in ("pca", "tsne"):
        for plane in projections(same, wanted).values():
            assert plane.shape == (12, 2) and np.isfinite(plane).all()
    assert list(projections(same[:3], "tsne")) == ["PCA (0% of the variance)"]
    with pytest.raises(ConfigError, match="mds"):
        projections(same, "mds")  # type: ignore[arg-type]


def test_a_map_knows_labels_sizes_clusters_and_parts() -> None:
    made = map_data(finished_run(), FREESOLV, projection="pca", clusters=4)
    titles = {colouring.title: colouring for colouring in made.colourings}
    assert list(titles) == ["expt", "cluster", "nodes", "split"]
    assert titles["nodes"].values.tolist() == made.dataset.store.node_counts.tolist()
    sizes = np.bincount(made.clusters)
    assert len(sizes) == 4 and (np.diff(sizes) <= 0).all() and sizes.sum() == 642
    assert made.clusters[made.centres].tolist() == [0, 1, 2, 3]
    split = titles["split"]
    assert (np.flatnonzero(split.values == 2) == np.sort(made.dataset.split["test"])).all()
    with pytest.raises(UnknownNameError, match="logP"):
        graph_map.check_colour(made, "logP")


def test_a_sample_keeps_everything_aligned() -> None:
    whole = load_dataset("freesolv")
    part = selected(whole, np.array([5, 9, 600]))
    assert list(part.smiles) == [whole.smiles[i] for i in (5, 9, 600)] and part.rows.tolist() == [5, 9, 600]
    assert part.store.ids == [whole.store.ids[i] for i in (5, 9, 600)]
    assert sum(map(len, part.split.values())) == 3
    where = {name for name, ids in whole.split.items() if 600 in ids}
    assert {name for name, ids in part.split.items() if 2 in ids} == where
    unnamed = selected(load_dataset(list(MOLECULES)), np.array([4, 7]))
    assert unnamed.store.ids == ["4", "7"]


def test_graphs_that_are_no_molecules_are_compared_by_statistics() -> None:
    from adgcl.experiments.planning import Request
    from adgcl.experiments.pretraining import pretrain

    store = random_store(30, node_sizes=(3,), edgeless=False)
    folder = finished_run().parent / "graphs"
    request = Request("adgcl", flags={"training": {"epochs": 1}}, assignments=("encoder.hidden_dim=8",))
    pretrain(Source(store), folder, request)
    made = find_neighbours(folder, Source(store), count=3)
    assert made.measure == STATISTICS and made.known[0].shape == (30, 3)


def test_encoders_alone_are_enough(tmp_path) -> None:
    from adgcl.training.checkpoints import load_checkpoint
    from adgcl.training.encoder_file import save_encoder

    whole = load_checkpoint(finished_run() / "checkpoint.safetensors")
    save_encoder(tmp_path / "encoder.safetensors", whole, half=False)
    dataset = load_dataset(list(MOLECULES))
    expected = open_encoder(finished_run()).embed(dataset)
    assert (open_encoder(tmp_path / "encoder.safetensors").embed(dataset) == expected).all()
    with pytest.raises(CheckpointError, match="packaged"):
        open_encoder("nosuch-gin")


def test_a_sample_in_other_features_is_read_from_its_smiles(tmp_path) -> None:
    from adgcl.experiments.planning import Request
    from adgcl.experiments.pretraining import pretrain
    from adgcl.insight.vectors import embed_source

    settings = ("encoder.hidden_dim=8", "encoder.num_layers=2", "data.atom_features=hu")
    request = Request("adgcl", flags={"training": {"epochs": 1}}, assignments=settings)
    pretrain(Source(list(MOLECULES)), tmp_path / "hu", request)
    whole = embed_source(tmp_path / "hu", FREESOLV)
    part = embed_source(tmp_path / "hu", FREESOLV, most=50)
    assert part.left_out == 592 and part.matrix == pytest.approx(whole.matrix[part.dataset.rows], abs=1e-5)


def test_molecules_that_cannot_be_read_leave_no_gap_between_rows_and_graphs() -> None:
    known = load_dataset(list(MOLECULES), y=list(range(len(MOLECULES))))
    spoilt = replace(known, smiles=["no molecule" if i == 4 else text for i, text in enumerate(MOLECULES)])
    assert as_read(spoilt, "ogb") is spoilt
    read = as_read(spoilt, "hu")
    left = [i for i in range(len(MOLECULES)) if i != 4]
    assert read.store.spec.name == "hu" and list(read.smiles) == [MOLECULES[i] for i in left]
    assert read.store.y[:, 0].tolist() == left and [int(read.store.id_of(i)) for i in range(len(read))] == left
    assert read.store.node_counts.tolist() == known.store.node_counts[left].tolist()


def test_one_graph_has_no_neighbours() -> None:
    with pytest.raises(DataError, match="only one graph"):
        find_neighbours(finished_run(), Source(["CCO"]))


def test_classes_of_queries_are_compared_by_name(tmp_path) -> None:
    (tmp_path / "data.csv").write_text("smiles,kind\nCCO,acid\nCCN,base\nCCC,salt\nCCCC,salt\n")
    (tmp_path / "asked.csv").write_text("smiles,kind\nCCN,base\nCCCC,salt\n")
    sources = [Source(str(tmp_path / name), label_columns=("kind",)) for name in ("data.csv", "asked.csv")]
    made = find_neighbours(finished_run(), *sources, count=1)
    assert made.known[0][:, 0].tolist() == [1, 3] and made.likeness()["known"] == 1.0


def test_labels_may_be_called_like_columns_of_the_map(tmp_path) -> None:
    rows = [f"{text},{i % 2},{i}" for i, text in enumerate(MOLECULES)]
    (tmp_path / "m.csv").write_text("smiles,cluster,nodes\n" + "\n".join(rows) + "\n")
    source = Source(str(tmp_path / "m.csv"), label_columns=("cluster", "nodes"), task="regression")
    made = map_data(finished_run(), source, projection="pca", clusters=3)
    assert sorted(np.bincount(made.clusters), reverse=True) == np.bincount(made.clusters).tolist()
    columns = map_columns(made)
    assert columns["nodes"].tolist() == made.dataset.store.node_counts.tolist()
    assert columns["nodes (label 2)"].tolist() == list(range(len(MOLECULES)))
    assert {"cluster", "cluster (label 1)"} <= set(columns)


def test_tables_hold_no_formulas(tmp_path) -> None:
    write_columns(tmp_path / "t.csv", {"=id": np.array(["=1+1", "b"], dtype=object), "x": np.array([-1.5, 2])}, ".csv")
    assert (tmp_path / "t.csv").read_text().splitlines() == ["'=id,x", "'=1+1,-1.5", "b,2"]
