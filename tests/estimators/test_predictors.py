"""GraphClassifier and GraphRegressor: the manners of scikit-learn, and that they learn."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.utils import estimator_checks

from adgcl import GraphClassifier, GraphEmbedder, GraphRegressor
from adgcl.core.errors import ConfigError, DataError

SMILES = [f"{'C' * (1 + i)}{end}" for end in ("O", "N", "F", "Cl") for i in range(6)]
LENGTH = np.array([float(1 + i) for _ in range(4) for i in range(6)])
KIND = np.array([kind for kind in ("polar", "polar", "halide", "halide") for _ in range(6)])
SMALL = {"encoder": {"hidden_dim": 16, "num_layers": 2, "dropout": 0.0}, "training": {"batch_size": 8}}
# All 24 molecules in every step: with the batch statistics of only eight, one run in twelve ends on a poor epoch.
WHOLE = {**SMALL, "training": {"batch_size": 24}, "method": {"lr": 0.01}}


def regressor(**changes: Any) -> GraphRegressor:
    return GraphRegressor(**{"epochs": 3, "settings": {**SMALL, "method": {"lr": 0.01}}, **changes})


def classifier(**changes: Any) -> GraphClassifier:
    return GraphClassifier(**{"epochs": 3, "settings": {**SMALL, "method": {"lr": 0.01}}, **changes})


def test_a_regressor_learns_what_it_is_shown() -> None:
    model = regressor(epochs=80, validation=0, settings=WHOLE).fit(SMILES, LENGTH)
    assert model.score(SMILES, LENGTH) > 0.9 and is_regressor(model)
    assert model.predict(SMILES[:2]).shape == (2,)


def test_a_classifier_learns_what_it_is_shown() -> None:
    model = classifier(epochs=60, validation=0, settings=WHOLE).fit(SMILES, KIND)
    assert model.score(SMILES, KIND) == 1.0 and is_classifier(model)
    assert model.classes_.tolist() == ["halide", "polar"]
    np.testing.assert_allclose(model.predict_proba(SMILES).sum(1), 1.0, rtol=1e-6)
    three = classifier(epochs=60, validation=0, settings=WHOLE).fit(SMILES, np.repeat([7, 8, 9, 9], 6))
    assert three.predict_proba(SMILES).shape == (24, 3) and three.score(SMILES, np.repeat([7, 8, 9, 9], 6)) == 1.0


def test_validation_chooses_the_epoch_and_members_spread() -> None:
    model = regressor(epochs=6, members=2, validation=0.25).fit(SMILES, LENGTH)
    assert len(model.runs_) == 2
    mean, std = model.predict(SMILES, return_std=True)
    assert mean.shape == std.shape == (24,) and (std > 0).any()
    positions = [run.checkpoint.position.epoch for run in model.runs_]
    assert all(1 <= epoch <= 6 for epoch in positions)
    again = regressor(epochs=6, members=2, validation=0.25).fit(SMILES, LENGTH)
    np.testing.assert_array_equal(again.predict(SMILES), mean)


def test_several_tasks_with_missing_labels() -> None:
    y = np.stack([LENGTH, -LENGTH], axis=1)
    y[::5, 0] = np.nan
    assert regressor().fit(SMILES, y).predict(SMILES).shape == (24, 2)
    answers = np.stack([KIND == "polar", LENGTH > 3], axis=1).astype(float)
    answers[::7, 1] = np.nan
    model = classifier(epochs=60, validation=0).fit(SMILES, answers)
    assert model.predict_proba(SMILES).shape == (24, 2) and set(np.unique(model.predict(SMILES))) <= {0.0, 1.0}
    labels = [None if i % 6 == 0 else kind for i, kind in enumerate(KIND)]
    assert set(classifier().fit(SMILES, labels).predict(SMILES).tolist()) <= set(KIND)


@pytest.mark.parametrize("y", [[1.0] * 24, [[1.0, 2.0]] * 24, [np.nan, *[3.0] * 23]])
def test_values_that_teach_nothing_are_refused(y: Any) -> None:
    with pytest.raises(DataError, match="nothing can be learned"):
        regressor().fit(SMILES, y)


@pytest.mark.parametrize(
    "model", [regressor(), classifier(), GraphEmbedder(epochs=1, settings=SMALL)], ids=lambda m: type(m).__name__
)
def test_checks_of_scikit_learn_that_make_sense(model: Any) -> None:
    name = type(model).__name__
    for check in (
        "check_estimator_cloneable", "check_estimator_repr", "check_get_params_invariance", "check_set_params",
        "check_no_attributes_set_in_init", "check_parameters_default_constructible",
    ):  # fmt: skip
        getattr(estimator_checks, check)(name, clone(model))
    fitted = clone(model).fit(SMILES, KIND if is_classifier(model) else LENGTH)
    with pytest.raises(NotFittedError):
        (clone(fitted).predict if hasattr(fitted, "predict") else clone(fitted).transform)(SMILES)


def test_cross_validation_pipelines_and_grids() -> None:
    scores = cross_val_score(classifier(validation=0), SMILES, KIND, cv=2)
    assert scores.shape == (2,) and (scores >= 0).all()
    pipeline = Pipeline([("model", regressor(epochs=1, validation=0))])
    grid = {"model__encoder__hidden_dim": [4, 6], "model__method__lr": [0.01]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(SMILES, LENGTH)
    assert search.best_estimator_[0].runs_[0].config.encoder.hidden_dim in (4, 6)


def test_pickles_carry_no_code_of_torch_and_predict_the_same(tmp_path: Path) -> None:
    import joblib

    fits = [regressor(members=2).fit(SMILES, LENGTH), classifier().fit(SMILES, KIND)]
    for model in fits:
        joblib.dump(model, tmp_path / "model.joblib")
        again = joblib.load(tmp_path / "model.joblib")
        np.testing.assert_array_equal(again.predict(SMILES), model.predict(SMILES))
    embedder = GraphEmbedder(epochs=1, settings=SMALL).fit(SMILES)
    content = pickle.dumps(embedder)
    np.testing.assert_array_equal(pickle.loads(content).transform(SMILES), embedder.transform(SMILES))
    assert {module for module, _ in globals_of(content)} <= {"adgcl.estimators.embedder"}
    assert pickle.loads(pickle.dumps(GraphEmbedder())).get_params() == GraphEmbedder().get_params()


def globals_of(content: bytes) -> set[tuple[str, str]]:
    """Every class or function that a pickle names."""
    found = set()

    class Noting(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            found.add((module, name))
            return super().find_class(module, name)

    Noting(io.BytesIO(content)).load()
    return found


def test_it_starts_from_a_trained_encoder(tmp_path: Path) -> None:
    run = GraphEmbedder(epochs=1, settings=SMALL).fit(SMILES).save(tmp_path / "run")
    model = regressor(start_from=str(run), epochs=1, settings={"method": {"frozen_encoder": True}}).fit(SMILES, LENGTH)
    embedder = GraphEmbedder.from_pretrained(run)
    # The frozen encoder is still the one it started from.
    mine = model.runs_[0].method.encoder.state_dict()
    assert all(np.array_equal(mine[k], v) for k, v in embedder.run_.method.encoder.state_dict().items())


def test_unreadable_inputs() -> None:
    with pytest.raises(DataError, match="unclosed ring"):
        regressor().fit([*SMILES, "C1CC"], [*LENGTH, 3.0])
    with pytest.warns(UserWarning, match="1 of 25"):
        model = classifier(on_error="nan").fit([*SMILES, "C1CC"], [*KIND, "polar"])
    with pytest.warns(UserWarning, match="1 of 2"):
        assert model.predict(["CCO", ""])[1] is None
    with pytest.warns(UserWarning, match="1 of 2"):
        assert np.isnan(model.predict_proba(["CCO", ""])).all(axis=1).tolist() == [False, True]


def test_nothing_readable_is_rows_of_nan_too() -> None:
    values = regressor(on_error="nan").fit(SMILES, LENGTH)
    with pytest.warns(UserWarning, match="2 of 2"):
        mean, spread = values.predict(["junk", ""], return_std=True)
    assert np.isnan(mean).tolist() == np.isnan(spread).tolist() == [True, True]
    with pytest.warns(UserWarning, match="1 of 1"):
        assert classifier(on_error="nan").fit(SMILES, KIND).predict(["junk"]).tolist() == [None]
    with pytest.raises(DataError, match="None of 1 SMILES"):
        regressor().fit(SMILES, LENGTH).predict(["junk"])


def test_the_rule_for_the_epoch_is_a_setting() -> None:
    last = regressor(settings={**SMALL, "protocol": {"rule": "last_epoch"}}, epochs=3).fit(SMILES, LENGTH)
    assert [run.checkpoint.position.epoch for run in last.runs_] == [3] * len(last.runs_)
    searched = regressor().set_params(protocol__rule="last_epoch")
    assert searched.settings["protocol"] == {"rule": "last_epoch"}
    with pytest.raises(ValueError, match="protocol__NAME"):
        regressor().set_params(nonsense__rule="last_epoch")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: regressor().fit(SMILES, LENGTH[:3]), "24 inputs but 3 labels"),
        (lambda: classifier().fit(SMILES, ["same"] * 24), "only one class"),
        (lambda: classifier().fit(SMILES, [None] * 24), "There is no label"),
        (lambda: regressor(members=0).fit(SMILES, LENGTH), "members = 0"),
        (lambda: regressor(validation=1.0).fit(SMILES, LENGTH), "validation = 1"),
        (lambda: regressor().fit(SMILES, np.full(24, np.nan)), "Every label in y is missing"),
        (lambda: regressor().fit(SMILES, ["long"] * 24), "y does not hold numbers"),
        (lambda: regressor(members=1.5).fit(SMILES, LENGTH), "members = 1.5"),
        (lambda: classifier().fit(SMILES, np.zeros((24, 2))), "nothing can be learned"),
        (lambda: classifier().fit(SMILES, [["a", "b"]] * 24), "y does not hold numbers"),
        (lambda: classifier().fit(SMILES, np.linspace(0, 1, 24)), "numbers with fractions"),
        (lambda: classifier().fit(SMILES, [1, "x"] * 12), "mixes texts and numbers"),
        (lambda: regressor(settings={"protocol": {"bogus": 3}}).fit(SMILES, LENGTH), "protocol.bogus"),
    ],
)
def test_nonsense_is_refused(make: Any, says: str) -> None:
    with pytest.raises((ConfigError, DataError), match=says):
        make()


def test_labels_that_pandas_calls_missing_do_not_teach() -> None:
    y = pd.Series(["a", "b", pd.NA, "a", "b", None], dtype="string")
    model = GraphClassifier(epochs=1, validation=0, settings=SMALL).fit(["CCO", "CCN", "C", "CCC", "CN", "CO"], y)
    assert model.classes_.tolist() == ["a", "b"]


def test_a_share_for_validation_leaves_something_to_train() -> None:
    model = GraphRegressor(epochs=1, validation=0.9, settings=SMALL)
    assert model.fit(["CCO", "CCN", "C", "CCC"], [1.0, 2, 3, 4]).predict(["CC"]).shape == (1,)
    for nothing in ([], 3.0):
        with pytest.raises(DataError, match="no labels"):
            model.fit([], nothing)
