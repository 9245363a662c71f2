"""Rows: 32 numbers that stay in the processor's registers, as a type of their own in compiled loops.

A row is an LLVM vector, so a loop over rows is vectorised by construction and not because the compiler happens to spot
it. Loops get memory as addresses (`Tensor.data_ptr()`) and count in numbers from there, not in bytes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

# How many numbers a row has.
LANES = 32

# Sums may be reordered and fused; NaN and infinity are kept, because they reveal failures.
FLAGS = ("contract", "reassoc", "nsz")
FLOAT, LONG, _INT = ir.FloatType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(FLOAT, LANES)
_ZEROS = ir.Constant(_VECTOR, [0.0] * LANES)


class _RowType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Row")


ROW = _RowType()


@register_model(_RowType)
class _RowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that compiled loops call; it becomes part of them, always (see `callable_in_loops`)."""
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": set(FLAGS),
        "forceinline": True,
    }
    compiled: Callable[..., Any] = numba.njit(**options)(function)
    return compiled


def emitted(result: Any, *arguments: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a function that writes LLVM code, `emit(builder, *values)`, callable in compiled loops."""

    def decorate(emit: Callable[..., Any]) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            made = emit(builder, *values)
            return context.get_dummy_value() if result is types.none else made

        names = ", ".join(f"a{i}" for i in range(len(arguments)))
        # Numba reads the number of arguments off the function.
        space: dict[str, Any] = {"made": (result(*arguments), generate)}
        exec(f"def {emit.__name__}(typing_context, {names}):\n    return made", space)
        return intrinsic(space[emit.__name__])

    return decorate


def _place(builder: Any, address: Any, index: Any, kind: Any) -> Any:
    base = builder.inttoptr(address, (LONG if kind is LONG else FLOAT).as_pointer())
    place = builder.gep(base, [index])
    return builder.bitcast(place, _VECTOR.as_pointer()) if kind is _VECTOR else place


@emitted(ROW, types.int64, types.int64)
def row(builder: Any, address: Any, index: Any) -> Any:
    """The 32 floats from number `index` on."""
    return builder.load(_place(builder, address, index, _VECTOR), align=4)


@emitted(types.none, types.int64, types.int64, ROW)
def put_row(builder: Any, address: Any, index: Any, value: Any) -> Any:
    """Write 32 floats from number `index` on."""
    builder.store(value, _place(builder, address, index, _VECTOR), align=4)


@emitted(types.float32, types.int64, types.int64)
def number(builder: Any, address: Any, index: Any) -> Any:
    """The float number `index`."""
    return builder.load(_place(builder, address, index, FLOAT))


@emitted(types.none, types.int64, types.int64, types.float32)
def put_number(builder: Any, address: Any, index: Any, value: Any) -> Any:
    """Write float number `index`."""
    builder.store(value, _place(builder, address, index, FLOAT))


@emitted(types.int64, types.int64, types.int64)
def whole(builder: Any, address: Any, index: Any) -> Any:
    """The 64-bit integer number `index`."""
    return builder.load(_place(builder, address, index, LONG))


def splat(builder: Any, value: Any, lanes: int = LANES) -> Any:
    """LLVM code for a vector of one number."""
    empty = ir.Constant(ir.VectorType(FLOAT, lanes), ir.Undefined)
    first = builder.insert_element(empty, value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_INT, lanes), [0] * lanes))


@emitted(ROW, types.float32)
def spread(builder: Any, value: Any) -> Any:
    """A row of one number."""
    return splat(builder, value)


@emitted(ROW, types.float32, ROW, ROW)
def plus_times(builder: Any, factor: Any, values: Any, total: Any) -> Any:
    """`total + factor * values`."""
    return builder.fadd(total, builder.fmul(splat(builder, factor), values, flags=FLAGS), flags=FLAGS)


@emitted(ROW, ROW, ROW)
def where_above(builder: Any, gate: Any, values: Any) -> Any:
    """`values` where `gate` is above 0, else 0. A NaN in the gate passes: it has to come out as NaN."""
    return builder.select(builder.fcmp_ordered("<=", gate, _ZEROS), _ZEROS, values)


@emitted(types.float32, ROW)
def total(builder: Any, values: Any) -> Any:
    """The sum of a row."""
    kind = ir.FunctionType(FLOAT, [FLOAT, _VECTOR])
    name = f"llvm.vector.reduce.fadd.v{LANES}f32"
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    return builder.call(function, [ir.Constant(FLOAT, -0.0), values], fastmath=FLAGS)


class _Arithmetic(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        return signature(ROW, *arguments) if arguments == (ROW, ROW) else None


def _operators() -> None:
    """`a + b` and the like for two rows."""
    named = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv"}
    for sign, name in named.items():
        infer_global(sign)(type(f"_Row{name}", (_Arithmetic,), {}))

        def lower(context: Any, builder: Any, signature: Any, values: Any, name: str = name) -> Any:
            return getattr(builder, name)(*values, flags=FLAGS)

        lower_builtin(sign, _RowType, _RowType)(lower)


_operators()
