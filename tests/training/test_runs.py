"""New graphs brought into the shape a finished run knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adgcl.core.errors import DataError
from adgcl.core.schema import Features, FeatureSpec
from adgcl.data.families.tu import load_tu
from adgcl.training.runs import fit_features
from tests.graph_cases import random_store


def write_tu(folder, labels):
    """A path of as many nodes as there are labels, in the TU format."""
    folder.mkdir()
    n = len(labels)
    edges = [f"{i}, {i + 1}\n{i + 1}, {i}\n" for i in range(1, n)]
    (folder / f"{folder.name}_A.txt").write_text("".join(edges))
    (folder / f"{folder.name}_graph_indicator.txt").write_text("1\n" * n)
    (folder / f"{folder.name}_node_labels.txt").write_text("".join(f"{v}\n" for v in labels))
    return load_tu(folder).store


def test_labels_keep_their_meaning_in_other_data(tmp_path):
    """Both folders number their labels from 0; the same label must still be the same category."""
    known = write_tu(tmp_path / "A", [3, 7, 9, 7])
    other = write_tu(tmp_path / "B", [9, 7, 9])
    np.testing.assert_array_equal(other.x[:, 0], [1, 0, 1])
    fitted = fit_features(other, known.spec)
    np.testing.assert_array_equal(fitted.x[:, 0], [2, 1, 2])
    assert fitted.spec == known.spec


def test_a_label_the_run_never_saw_is_named(tmp_path):
    known = write_tu(tmp_path / "A", [3, 7])
    with pytest.raises(DataError, match="category 8"):
        fit_features(write_tu(tmp_path / "B", [3, 8]), known.spec)


def test_other_columns_are_refused():
    store = random_store(node_sizes=(4,), edge_sizes=(3,))
    for spec in (
        FeatureSpec(Features((4, 2)), store.spec.edge),
        FeatureSpec(store.spec.node, Features()),
        FeatureSpec(Features((4,), 1), store.spec.edge),
    ):
        with pytest.raises(DataError, match="do not fit"):
            fit_features(store, spec)


def test_a_narrower_vocabulary_fits_if_its_codes_do():
    store = random_store(node_sizes=(4,))
    wide = replace(store.spec, node=Features((9,)))
    assert fit_features(store, wide).spec == wide
    with pytest.raises(DataError, match="never saw"):
        fit_features(store, replace(store.spec, node=Features((2,))))
