"""Distinct values against those of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.graphs.kernels.distinct import distinct
from adgcl.graphs.kernels.structure import hashed

TOP = np.uint64(1 << 63)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 64, 65, 1000])
@pytest.mark.parametrize("kinds", [1, 7, 10_000])
def test_they_are_those_of_numpy_in_order_of_appearance(size, kinds):
    values = hashed(np.random.default_rng(size).integers(kinds, size=size).astype(np.uint64))
    first, member, counts = distinct(values)
    _, slow_first, slow_member, slow_counts = np.unique(
        values, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(slow_first)
    assert first.tolist() == slow_first[order].tolist() and counts.tolist() == slow_counts[order].tolist()
    assert member.tolist() == np.argsort(order)[slow_member].tolist()


def test_values_that_want_the_same_place_stay_apart():
    # The same low bits throughout, also at the end of the table and with the highest bit, which is a sign elsewhere.
    values = (np.arange(20, dtype=np.uint64) % np.uint64(10) << np.uint64(32)) | np.uint64(0xFFFF) | TOP
    first, member, counts = distinct(values)
    assert first.tolist() == list(range(10)) and counts.tolist() == [2] * 10
    assert member.tolist() == [*range(10), *range(10)]


def test_a_strided_array_is_read_as_it_is():
    values = hashed(np.arange(12, dtype=np.uint64))
    assert distinct(values[::3])[1].tolist() == [0, 1, 2, 3]
