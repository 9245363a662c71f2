"""Which features graphs keep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adgcl.core.errors import ConfigError, UnknownNameError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.data.features import choose_features
from adgcl.data.load import load_dataset
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


def test_expanded_features_have_degrees_twice_and_what_the_source_has(store, bare):
    found = choose_features(store, "deg+odeg10")
    np.testing.assert_array_equal(found.x[:, 0], store.x[:, 0])
    assert found.x[:, 1].tolist() == [4, 1, 1, 1, 1, 0]
    np.testing.assert_array_equal(found.x_num, np.c_[store.x_num, [4, 1, 1, 1, 1, 0]])
    assert found.spec == FeatureSpec(Features((4, 11), 2), name="deg+odeg10")
    assert found.edge_attr is None and found.edge_num is None
    plain = choose_features(bare, "deg+odeg100")
    np.testing.assert_array_equal(plain.x_num, [[1, 1], [1, 1], [1, 1], [1, 0]])
    assert plain.spec.node == Features((101,), 2)


def test_expanded_features_count_labels_that_do_not_occur_unless_there_are_many():
    spec = FeatureSpec(Features((3,), 0, ((2, 4, 5),)))
    numbered = pack([3], [0], np.zeros((2, 0), int), x=np.array([0, 1, 2]), spec=spec)
    found = choose_features(numbered, "deg+odeg10")
    assert found.x[:, 0].tolist() == [0, 2, 3]
    assert found.spec.node == Features((4, 11), 1, ((2, 3, 4, 5), ()))
    far = replace(numbered, spec=FeatureSpec(Features((3,), 0, ((2, 4, 99),))))
    assert choose_features(far, "deg+odeg10").spec.node.sizes == (3, 11)


@pytest.mark.parametrize(
    ("name", "mode", "width"),
    [
        ("PROTEINS", "deg+odeg100", 106),
        ("NCI1", "deg+odeg100", 139),
        ("DD", "deg+odeg10", 101),
        ("COLLAB", "deg+odeg100", 103),
        ("REDDIT-BINARY", "deg+odeg10", 13),
    ],
)
def test_expanded_features_are_as_wide_as_published(data_dir, name, mode, width):
    node = load_dataset(name, data_dir=data_dir, features=mode).store.spec.node
    assert sum(node.sizes) + node.num_dim == width


def test_unknown_modes_and_caps(store):
    with pytest.raises(UnknownNameError, match="'degrees'"):
        choose_features(store, "degree")
    with pytest.raises(ConfigError, match="cap is 0"):
        choose_features(store, "degrees", cap=0)
