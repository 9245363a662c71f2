"""GraphEmbedder: the manners of a scikit-learn transformer."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adgcl import GraphEmbedder, load_dataset
from adgcl.core.errors import AdgclError, CheckpointError, ConfigError, DataError

SMILES = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "CCCC", "C1CCCCC1", "CC(C)O", "OCC(O)CO", "Cc1ccccc1", "Oc1ccccc1"]
SMALL = {"encoder": {"hidden_dim": 8, "num_layers": 2}, "training": {"batch_size": 5}}


def small(**changes: object) -> GraphEmbedder:
    return GraphEmbedder(**{"epochs": 2, "settings": SMALL, **changes})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def fitted() -> GraphEmbedder:
    return small().fit(SMILES)


def test_fit_transform_is_fit_then_transform(fitted: GraphEmbedder) -> None:
    vectors = small().fit_transform(SMILES)
    assert vectors.shape == (10, 8) and vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, fitted.transform(SMILES))


def test_transform_does_not_depend_on_the_others(fitted: GraphEmbedder) -> None:
    np.testing.assert_allclose(fitted.transform(["CCO", "CCCCCC"])[:1], fitted.transform(["CCO"]), rtol=1e-4, atol=1e-5)


def test_clone_forgets_what_was_learned(fitted: GraphEmbedder) -> None:
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params() and not hasattr(copy, "run_")
    with pytest.raises(NotFittedError):
        copy.transform(SMILES)


def test_pipeline_with_a_column_of_smiles() -> None:
    pipeline = make_pipeline(small(), StandardScaler(), Ridge())
    pipeline.fit(np.array(SMILES, dtype=object).reshape(-1, 1), np.arange(10.0))
    assert pipeline.predict(SMILES[:3]).shape == (3,)


def test_grid_search_over_settings() -> None:
    pipeline = make_pipeline(small(epochs=1), LogisticRegression())
    search = GridSearchCV(pipeline, {"graphembedder__seed": [0, 1]}, cv=2)
    search.fit(SMILES, [0, 1] * 5)
    assert search.best_params_["graphembedder__seed"] in (0, 1)


def test_grid_search_over_nested_settings() -> None:
    pipeline = make_pipeline(small(epochs=1), LogisticRegression())
    grid = {"graphembedder__method__reg_lambda": [0.5, 5.0], "graphembedder__encoder__hidden_dim": [4]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(SMILES, [0, 1] * 5)
    best = search.best_estimator_[0]
    assert best.settings["encoder"] == {"hidden_dim": 4, "num_layers": 2} and best.transform(SMILES).shape == (10, 4)
    assert best.settings["method"]["reg_lambda"] == search.best_params_["graphembedder__method__reg_lambda"]
    assert SMALL["encoder"]["hidden_dim"] == 8, "the caller's own settings are left alone"
    assert best.get_params()["method__reg_lambda"] == best.settings["method"]["reg_lambda"]
    with pytest.raises(ValueError, match="nonsense__x"):
        small().set_params(nonsense__x=1)


def test_threads_side_by_side_give_what_one_after_another_gives() -> None:
    from joblib import Parallel, delayed

    def vectors(seed: int) -> np.ndarray:
        settings = {**SMALL, "encoder": {**SMALL["encoder"], "dropout": 0.2}}
        return small(seed=seed, settings=settings).fit(SMILES).transform(SMILES)

    alone = [vectors(seed) for seed in (0, 1, 0, 1)]
    together = Parallel(2, backend="threading")(delayed(vectors)(seed) for seed in (0, 1, 0, 1))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_no_global_state_is_read_or_left_changed() -> None:
    import torch

    before = torch.get_rng_state(), np.random.get_state()[1].copy(), torch.get_num_threads()
    first = small().fit_transform(SMILES)
    assert torch.equal(torch.get_rng_state(), before[0]) and (np.random.get_state()[1] == before[1]).all()
    assert torch.get_num_threads() == before[2]
    torch.manual_seed(123)
    np.random.seed(123)
    np.testing.assert_array_equal(small().fit_transform(SMILES), first)


def test_a_frame_with_several_columns_is_never_flattened() -> None:
    pandas = pytest.importorskip("pandas")
    named = pandas.DataFrame({"name": list("abcdefghij"), "SMILES": SMILES})
    assert small(epochs=1).fit_transform(named).shape == (10, 8)
    with pytest.raises(DataError, match=r"several columns \(a, b\)"):
        small().fit(pandas.DataFrame({"a": SMILES, "b": SMILES}))
    with pytest.raises(DataError, match="2 columns without names"):
        small().fit(np.array([SMILES, SMILES], dtype=object).T)


def test_missing_inputs_are_rows_of_nan(fitted: GraphEmbedder) -> None:
    for missing in (None, float("nan")):
        with pytest.warns(UserWarning, match="1 of 3 inputs cannot be read .*missing"):
            vectors = fitted.transform(np.array(["CCO", missing, "CCN"], dtype=object))
        assert np.isnan(vectors).all(axis=1).tolist() == [False, True, False]


def test_supervised_learns_from_y() -> None:
    y = [0.1, 2.1, -0.2, -0.1, 2.9, 3.4, 0.1, -1.8, 2.7, 1.5]
    learned = small(method="supervised").fit(SMILES, y)
    assert learned.run_.checkpoint.task.kind == "regression" and learned.transform(SMILES).shape == (10, 8)
    with pytest.warns(UserWarning, match="1 of 11"):
        small(method="supervised", epochs=1).fit([*SMILES, "C1CC"], [*y, 7.0])
    with pytest.raises(DataError, match=r"(?s)learns from labels.*fit\(X, y\)"):
        small(method="supervised").fit(SMILES)
    with pytest.raises(DataError, match="10 inputs but 3 labels"):
        small(method="supervised").fit(SMILES, [1, 2, 3])


def test_save_and_load(fitted: GraphEmbedder, tmp_path: Path) -> None:
    folder = fitted.save(tmp_path / "kept")
    again = GraphEmbedder.load(folder)
    assert again.get_params() == fitted.get_params()
    np.testing.assert_array_equal(again.transform(SMILES), fitted.transform(SMILES))
    (folder / "estimator.json").unlink()
    as_a_run = GraphEmbedder.load(folder)
    assert as_a_run.method == "adgcl" and as_a_run.epochs == 2
    np.testing.assert_array_equal(as_a_run.transform(SMILES), fitted.transform(SMILES))
    assert clone(as_a_run).fit_transform(SMILES).shape == (10, 8)


def test_a_loaded_embedder_stays_on_the_device_it_was_loaded_for(fitted: GraphEmbedder, tmp_path: Path) -> None:
    fitted.save(tmp_path / "run")
    path = tmp_path / "run" / "estimator.json"
    path.write_text(path.read_text().replace('"auto"', '"cuda:7"'))
    for asked, kept in (("cpu", "cpu"), (None, "auto")):
        loaded = GraphEmbedder.load(tmp_path / "run", device=asked)
        assert loaded.device == kept
        again = pickle.loads(pickle.dumps(loaded))
        np.testing.assert_array_equal(again.transform(["CCO"]), loaded.transform(["CCO"]))


def test_load_says_what_is_wrong(fitted: GraphEmbedder, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no run, checkpoint or packaged encoder"):
        GraphEmbedder.load(tmp_path)
    folder = fitted.save(tmp_path / "kept")
    (folder / "estimator.json").write_text("{")
    with pytest.raises(CheckpointError, match="damaged"):
        GraphEmbedder.load(folder)


def test_unreadable_smiles(fitted: GraphEmbedder) -> None:
    with pytest.warns(UserWarning, match="1 of 3 inputs cannot be read"):
        vectors = fitted.transform(["CCO", "C1CC", "CCN"])
    assert np.isnan(vectors[1]).all() and np.isfinite(vectors[[0, 2]]).all()
    strict = clone(fitted).set_params(on_error="raise")
    with pytest.raises(DataError, match="unclosed ring"):
        strict.fit(["CCO", "C1CC", "CCN"])
    with pytest.raises(ConfigError):
        small(on_error="maybe").fit(SMILES)


def test_mols_and_missing_molecules(fitted: GraphEmbedder) -> None:
    from rdkit import Chem

    written = ["N[C@@H](C)C(=O)O", "CCN"]
    given = [Chem.MolFromSmiles(written[0]), None, "C[C@H](N)C(=O)O", float("nan"), "CCN"]
    for X in (given, np.array(given, dtype=object)):
        with pytest.warns(UserWarning, match="2 of 5 inputs cannot be read .*missing"):
            vectors = fitted.transform(X)
        assert np.isnan(vectors).all(axis=1).tolist() == [False, True, False, True, False]
        assert np.array_equal(vectors[0], vectors[2])
        np.testing.assert_allclose(vectors[[0, 4]], fitted.transform(written), rtol=1e-5)


def test_fit_transform_keeps_the_place_of_unreadable_rows() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vectors = small(epochs=1).fit_transform(["CCO", "", "CCN"])
    assert np.isnan(vectors).all(axis=1).tolist() == [False, True, False]


def test_other_kinds_of_graphs(data_dir: Path) -> None:
    rings = [nx.cycle_graph(n) for n in (3, 4, 5, 6)]
    embedder = small(epochs=1)
    assert embedder.fit_transform(rings).shape == (4, 8)
    assert embedder.transform([nx.path_graph(7)]).shape == (1, 8)
    dataset = load_dataset("MUTAG", data_dir=data_dir)
    some = dataset.store.select(np.arange(20))
    assert small(epochs=1).fit_transform(some).shape == (20, 8)
    named = small(epochs=1, data_dir=data_dir).fit(dataset)
    assert named.transform("MUTAG").shape == (188, 8)


def test_pytorch_geometric_graphs() -> None:
    import torch
    from torch_geometric.data import Data

    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    graphs = [Data(x=torch.randn(3, 4), edge_index=edges) for _ in range(6)]
    assert small(epochs=1).fit_transform(graphs).shape == (6, 8)


def test_graphs_of_another_kind_are_refused(fitted: GraphEmbedder) -> None:
    with pytest.raises(AdgclError, match="do not fit"):
        fitted.transform([nx.cycle_graph(5)])


def test_names_of_the_columns(fitted: GraphEmbedder) -> None:
    assert fitted.get_feature_names_out().tolist() == [f"e{i}" for i in range(8)]
    frame = clone(fitted).set_output(transform="pandas").fit_transform(SMILES)
    assert list(frame.columns) == [f"e{i}" for i in range(8)]


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="hidden_dimm"):
        GraphEmbedder(settings={"encoder": {"hidden_dimm": 3}}).fit(SMILES)


def test_the_package_offers_its_names_lazily() -> None:
    import subprocess
    import sys

    code = "import sys, adgcl; print('torch' in sys.modules, adgcl.__version__, 'GraphEmbedder' in dir(adgcl))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert answer.stdout.split()[::2] == ["False", "True"]


def test_fingerprint_counts_stand_beside_the_vectors(fitted: GraphEmbedder, tmp_path: Path) -> None:
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    both = small(features="embedding+ecfp").fit(SMILES)
    rows = both.transform(SMILES)
    np.testing.assert_array_equal(rows[:, :8], fitted.transform(SMILES))
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    wanted = [generator.GetCountFingerprintAsNumPy(Chem.MolFromSmiles(text)) for text in SMILES]
    np.testing.assert_array_equal(rows[:, 8:], wanted)
    assert rows.max() >= 4, "counts, not bits"
    assert both.get_feature_names_out()[[0, 7, 8, 2055]].tolist() == ["e0", "e7", "ecfp0", "ecfp2047"]
    alone = GraphEmbedder(features="ecfp")
    np.testing.assert_array_equal(alone.fit_transform(SMILES), wanted)
    with pytest.warns(UserWarning, match="1 of 2"):
        assert np.isnan(alone.transform(["CCO", "C1CC"])).all(axis=1).tolist() == [False, True]
    with pytest.raises(DataError, match="no fingerprints"):
        alone.transform([nx.cycle_graph(4)])
    with pytest.raises(ConfigError, match="embeddings"):
        small(features="embeddings").fit(SMILES)


def test_a_pretrained_encoder_is_opened_and_survives_clone(fitted: GraphEmbedder, tmp_path: Path) -> None:
    folder = fitted.save(tmp_path / "run")
    opened = GraphEmbedder.from_pretrained(folder)
    np.testing.assert_array_equal(opened.transform(SMILES), fitted.transform(SMILES))
    # In a search every clone must come back with the same encoder, and train nothing.
    np.testing.assert_array_equal(clone(opened).fit_transform(["CCO"]), fitted.transform(["CCO"]))
    wide = GraphEmbedder.from_pretrained(folder / "checkpoint.safetensors", features="embedding+ecfp")
    assert wide.transform(SMILES).shape == (10, 2056)
    with pytest.raises(CheckpointError, match="called 'zinc-gone'"):
        GraphEmbedder.from_pretrained("zinc-gone")


def test_parameters_from_a_search_are_saved(tmp_path: Path) -> None:
    made = small(epochs=np.int64(1)).fit(SMILES)
    again = GraphEmbedder.load(made.save(tmp_path / "run"))
    np.testing.assert_array_equal(again.transform(SMILES), made.transform(SMILES))


def test_features_are_checked_and_may_change_where_an_encoder_is_open(fitted: GraphEmbedder, tmp_path: Path) -> None:
    folder = fitted.save(tmp_path / "run")
    with pytest.raises(ConfigError, match=r"features = 'embedding\+ECFP'"):
        GraphEmbedder.from_pretrained(folder, features="embedding+ECFP")
    opened = GraphEmbedder.from_pretrained(folder)
    width = opened.n_features_out_
    opened.set_params(features="embedding+ecfp").set_output(transform="pandas")
    frame = opened.transform(["CCO", "CC"])
    assert frame.shape == (2, width + 2048) and list(frame.columns[[0, width]]) == ["e0", "ecfp0"]
    assert opened.set_params(features="ecfp").transform(["CCO"]).shape == (1, 2048)
    alone = GraphEmbedder(features="ecfp").fit(["CCO"])
    with pytest.raises(ConfigError, match="Call fit again"):
        alone.set_params(features="embedding").transform(["CCO"])
    assert not hasattr(GraphEmbedder(), "n_features_out_")


def test_nothing_readable_is_rows_of_nan_too(fitted: GraphEmbedder) -> None:
    with pytest.warns(UserWarning, match="2 of 2 inputs cannot be read"):
        rows = fitted.transform(["junk", None])
    assert rows.shape == (2, fitted.n_features_out_) and np.isnan(rows).all()
