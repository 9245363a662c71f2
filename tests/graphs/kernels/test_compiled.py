"""Compiled loops where nothing can be cached, and on what they work."""

from __future__ import annotations

import numba
import torch

from adgcl.graphs.kernels.compiled import addresses, compiled, compiles, floats


def test_without_a_place_to_cache_they_are_compiled_all_the_same(monkeypatch):
    real = numba.njit

    def nowhere(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **options)

    monkeypatch.setattr(numba, "njit", nowhere)

    @compiled
    def double(at, count):
        values = floats(at, (count,))
        for i in range(count):
            values[i] *= 2

    x = torch.arange(5.0)
    double(*addresses(x), len(x))
    assert x.tolist() == [0, 2, 4, 6, 8]


def test_they_are_for_32_bit_numbers_on_the_processor():
    assert compiles(torch.zeros(2), None)
    assert not compiles(torch.zeros(2), torch.zeros(2, dtype=torch.float64))
    assert not compiles(torch.zeros(2, dtype=torch.bfloat16))
    assert not compiles(torch.zeros(2, device="meta"))
    assert addresses(None) == (0,)
