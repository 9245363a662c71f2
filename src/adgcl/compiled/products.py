"""Dense products whose sums stay in registers, for matrices whose width is a multiple of 32.

A block of some rows by 16 columns is summed at a time: six rows take twelve of AVX2's sixteen registers, one row of the
other factor takes two, and a broadcast number of the first factor takes one. With bias and relu done before a block is
written, one core reaches 90 GFLOPS at width 32, where torch's products reach 60.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from adgcl.compiled.rows import FLAGS, FLOAT, LANES, LONG, emitted, number, part, put_number, put_row, row, splat

# For compiled loops: "no such array" or "no relu", and "yes". Plain numbers would each trigger a new compilation.
NONE, YES = np.int64(0), np.int64(1)
# Rows of nodes that go through a layer together, so that what belongs to them stays in the nearest cache.
TILE = 48
_COLUMNS = 16
_VECTOR = ir.VectorType(FLOAT, _COLUMNS)
_ZEROS = ir.Constant(_VECTOR, [0.0] * _COLUMNS)


def _block(rows: int) -> Any:
    """A function that computes `rows` by 16 numbers of a product.

    `a` is read at `i * a_row + k * a_col`, `b` and what is written have rows of `width`. Sums begin at `start`, whose
    rows are `start_row` apart (0: the same for all), or at 0. `relu` and `gate` are applied before sums are written.
    """

    @emitted(types.none, *[types.int64] * 11)
    def block(
        builder: Any, a: Any, a_row: Any, a_col: Any, b: Any, width: Any, out: Any, inner: Any, start: Any,
        start_row: Any, relu: Any, gate: Any,
    ) -> None:  # fmt: skip
        zero = ir.Constant(LONG, 0)
        numbers = {x: builder.inttoptr(x, FLOAT.as_pointer()) for x in (a, b, out, start, gate)}

        def vector(base: Any, index: Any) -> Any:
            return builder.bitcast(builder.gep(numbers[base], [index]), _VECTOR.as_pointer())

        def times(step: Any, i: int) -> Any:
            return builder.mul(step, ir.Constant(LONG, i))

        def shut(gates: Any, values: Any) -> Any:
            return builder.select(builder.fcmp_ordered("<=", gates, _ZEROS), _ZEROS, values)

        sums = [cgutils.alloca_once(builder, _VECTOR) for _ in range(rows)]
        for place in sums:
            builder.store(_ZEROS, place)
        with builder.if_then(builder.icmp_signed("!=", start, zero)):
            for i, place in enumerate(sums):
                builder.store(builder.load(vector(start, times(start_row, i)), align=4), place)
        with cgutils.for_range(builder, inner) as loop:
            factor = builder.load(vector(b, builder.mul(loop.index, width)), align=4)
            column = builder.mul(loop.index, a_col)
            for i, place in enumerate(sums):
                single = builder.load(builder.gep(numbers[a], [builder.add(column, times(a_row, i))]))
                product = builder.fmul(splat(builder, single, _COLUMNS), factor, flags=FLAGS)
                builder.store(builder.fadd(builder.load(place), product, flags=FLAGS), place)
        with builder.if_then(builder.icmp_signed("!=", relu, zero)):
            for place in sums:
                value = builder.load(place)
                builder.store(shut(value, value), place)
        with builder.if_then(builder.icmp_signed("!=", gate, zero)):
            for i, place in enumerate(sums):
                gates = builder.load(vector(gate, times(width, i)), align=4)
                builder.store(shut(gates, builder.load(place)), place)
        for i, place in enumerate(sums):
            builder.store(builder.load(place), vector(out, times(width, i)), align=4)

    return block


_one_row, _four_rows, _six_rows = _block(1), _block(4), _block(6)


@part
def product(a: int, b: int, out: int, count: int, inner: int, width: int, bias: int, relu: int, gate: int) -> None:
    """`out = a b + bias`; then 0 where it is not above 0 (`relu`), or where `gate` is not."""
    for panel in range(0, 4 * width, 4 * _COLUMNS):
        start = bias + panel if bias else 0
        i = 0
        while i + 6 <= count:
            place = 4 * i * width + panel
            shut = gate + place if gate else 0
            _six_rows(a + 4 * i * inner, inner, 1, b + panel, width, out + place, inner, start, 0, relu, shut)
            i += 6
        while i < count:
            place = 4 * i * width + panel
            shut = gate + place if gate else 0
            _one_row(a + 4 * i * inner, inner, 1, b + panel, width, out + place, inner, start, 0, relu, shut)
            i += 1


@part
def add_transposed_product(a: int, b: int, out: int, count: int, rows: int, width: int) -> None:
    """`out += a^T b`: what `count` rows of `a` and `b` contribute to the gradient of a weight."""
    for panel in range(0, 4 * width, 4 * _COLUMNS):
        i = 0
        while i + 4 <= rows:
            place = out + 4 * i * width + panel
            _four_rows(a + 4 * i, 1, rows, b + panel, width, place, count, place, width, 0, 0)
            i += 4
        while i < rows:
            place = out + 4 * i * width + panel
            _one_row(a + 4 * i, 1, rows, b + panel, width, place, count, place, width, 0, 0)
            i += 1


@part
def transpose(matrix: int, out: int, rows: int, columns: int) -> None:
    """`out = matrix^T`."""
    for i in range(rows):
        for j in range(columns):
            put_number(out, j * rows + i, number(matrix, i * columns + j))


@part
def add_rows(x: int, out: int, count: int, width: int, stride: int) -> None:
    """`out += ` the sum of `count` rows of `x`, which begin `stride` numbers apart."""
    for panel in range(0, width, LANES):
        total = row(out, panel)
        for i in range(count):
            total = total + row(x, i * stride + panel)
        put_row(out, panel, total)
