"""Which features graphs keep."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.core.errors import ConfigError, UnknownNameError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.data.features import choose_features
from adgcl.graphs.store.store import pack
from tests.graph_strategies import Plain, assert_same_store, packed


@pytest.fixture
def store():
    star = [(0, i, 1) for i in range(1, 5)] + [(i, 0, 2) for i in range(1, 5)]
    return packed([Plain([3, 1, 1, 2, 0], star), Plain([1], [])])


@pytest.fixture
def bare():
    return pack([3, 1], [3, 0], [[0, 1, 2], [1, 2, 0]], edge_attr=np.array([0, 1, 0]))


def test_labels_are_the_store_itself(store):
    assert choose_features(store, "labels") is store
    assert choose_features(store, "auto") is store


def test_constant_leaves_nothing(store):
    plain = choose_features(store, "constant")
    assert plain.spec == FeatureSpec(name="constant")
    assert (plain.x, plain.x_num, plain.edge_attr, plain.edge_num) == (None,) * 4
    assert plain.y is store.y
    assert plain.batch([0, 1]).x is None


def test_degrees_are_one_capped_category(store):
    found = choose_features(store, "degrees", cap=3)
    assert found.x[:, 0].tolist() == [3, 1, 1, 1, 1, 0]
    assert found.spec == FeatureSpec(Features((4,)), name="degrees")
    assert found.x_num is None and found.edge_attr is None
    assert choose_features(store, "degrees").spec.node.sizes == (101,)


def test_labels_and_degrees_stand_side_by_side(store):
    found = choose_features(store, "labels+degrees", cap=300)
    np.testing.assert_array_equal(found.x[:, 0], store.x[:, 0])
    assert found.x[:, 1].tolist() == [4, 1, 1, 1, 1, 0]
    assert found.spec.node == Features((4, 301), 1)
    assert found.spec.edge == store.spec.edge
    assert found.spec.name == "own+degrees"
    assert_same_store(choose_features(store, "labels"), store)


def test_auto_takes_degrees_where_nodes_carry_nothing(bare):
    found = choose_features(bare, "auto")
    assert found.x[:, 0].tolist() == [1, 1, 1, 0]
    assert found.spec.edge == Features((2,))
    assert choose_features(choose_features(bare, "constant"), "auto").spec.name == "degrees"


def test_unknown_modes_and_caps(store):
    with pytest.raises(UnknownNameError, match="'degrees'"):
        choose_features(store, "degree")
    with pytest.raises(ConfigError, match="cap is 0"):
        choose_features(store, "degrees", cap=0)
