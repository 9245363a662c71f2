"""Rows and dense products in compiled loops, against NumPy in 64 bits."""

from __future__ import annotations

import numpy as np
import pytest

from adgcl.compiled import products, rows
from adgcl.graphs.kernels.compiled import compiled


@compiled
def _product(a, b, out, count, inner, width, bias, relu, gate):
    products.product(a, b, out, count, inner, width, bias, relu, gate)


@compiled
def _add_transposed(a, b, out, count, size, width):
    products.add_transposed_product(a, b, out, count, size, width)


@compiled
def _row_sums(x, out, count):
    for i in range(count):
        values = rows.row(x, 32 * i)
        rows.put_number(out, i, rows.total(rows.where_above(values, values + values)))


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def at(array):
    return array.ctypes.data


@pytest.mark.parametrize("count", [1, 5, 6, 7, 48, 101])
@pytest.mark.parametrize(("inner", "width"), [(1, 32), (3, 64), (32, 32), (37, 96), (160, 160)])
def test_product(count, inner, width):
    a, b, bias, gate = numbers(count, inner), numbers(inner, width), numbers(width), numbers(count, width, seed=1)
    out = np.empty((count, width), np.float32)
    exact = a.astype(np.float64) @ b
    _product(at(a), at(b), at(out), count, inner, width, 0, 0, 0)
    np.testing.assert_allclose(out, exact, rtol=1e-4, atol=1e-4)
    _product(at(a), at(b), at(out), count, inner, width, at(bias), 1, 0)
    np.testing.assert_allclose(out, np.maximum(exact + bias, 0), rtol=1e-4, atol=1e-4)
    _product(at(a), at(b), at(out), count, inner, width, 0, 0, at(gate))
    np.testing.assert_allclose(out, np.where(gate > 0, exact, 0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("count", [1, 48, 101])
@pytest.mark.parametrize(("size", "width"), [(1, 32), (37, 32), (64, 96)])
def test_transposed_product_is_added(count, size, width):
    a, b, out = numbers(count, size), numbers(count, width, seed=1), numbers(size, width, seed=2)
    expected = out + a.T.astype(np.float64) @ b
    _add_transposed(at(a), at(b), at(out), count, size, width)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


def test_rows_keep_nan_and_shut_what_is_not_above_0():
    x, out = numbers(4, 32), np.empty(4, np.float32)
    x[2, 5] = np.nan
    _row_sums(at(x), at(out), 4)
    expected = np.where(x <= 0, 0, 2 * x).sum(1)
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    assert np.isnan(out[2])


def test_nan_passes_through_a_product():
    a, b, out = numbers(7, 32), numbers(32, 32), np.empty((7, 32), np.float32)
    a[6, 0] = np.nan
    _product(at(a), at(b), at(out), 7, 32, 32, 0, 1, 0)
    assert np.isnan(out[6]).all()
    assert np.isfinite(out[:6]).all()
