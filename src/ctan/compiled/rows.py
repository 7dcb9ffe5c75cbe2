"""Rows of numbers in vector registers, ends included: for compiled loops over many short rows.

Rows are given by address and length, in elements; of arrays, :func:`address` has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from ctan.compiled.registers import BYTES, INT, INT32, POINTER, Registers

_LINE = 64  # bytes that memory hands over at a time


@njit(cache=True, nogil=True)
def address(array: Any, row: int, column: int = 0) -> int:
    """Where a row of an array ``[rows, columns]`` stands in memory, from a column on."""
    place: int = array.ctypes.data + row * array.strides[0] + column * array.itemsize
    return place


@intrinsic
def _pointer(typing: Any, zero: Any, place: Any) -> Any:
    """An address as a pointer to numbers of the type of ``zero``."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.inttoptr(given[1], POINTER)

    return types.CPointer(zero)(zero, types.intp), generate


@njit(cache=True, nogil=True)
def array_at(zero: Any, place: int, length: int) -> Any:
    """The numbers that stand at an address, of the type of ``zero``."""
    return carray(_pointer(zero, place), length)


def _along(registers: Registers, length: Any, step: Callable[[Any, Any], None]) -> None:
    """Call ``step(offset in bytes, mask)`` for each register of a row, the last with a mask."""
    builder, lanes = registers.builder, INT(registers.lanes)
    whole = builder.udiv(length, lanes)
    with cgutils.for_range(builder, whole) as loop:
        step(builder.mul(loop.index, INT(BYTES)), None)
    rest = builder.urem(length, lanes)
    with builder.if_then(builder.icmp_unsigned(">", rest, INT(0))):
        step(builder.mul(whole, INT(BYTES)), registers.first(rest))


@intrinsic
def dot(typing: Any, zero: Any, x: Any, y: Any, length: Any) -> Any:
    """The sum of the products of two rows, of the type of ``zero``."""
    signature = zero(zero, types.intp, types.intp, types.intp)

    def generate(_: Any, builder: Any, signature: Any, given: Any) -> Any:
        registers = Registers(builder, zero.bitwidth)
        _, x, y, length = given
        total = cgutils.alloca_once_value(builder, registers.zero)

        def step(offset: Any, mask: Any) -> None:
            left, right = (registers.load(builder.add(row, offset), mask) for row in (x, y))
            builder.store(registers.multiply_add(left, right, builder.load(total)), total)

        _along(registers, length, step)
        return registers.sum(builder.load(total))

    return signature, generate


@intrinsic
def weighted_sum(
    typing: Any, zero: Any, weights: Any, rows: Any, count: Any, to: Any, length: Any
) -> Any:
    """Write to the row ``to`` the sum of ``count`` rows, times a weight each.

    Of the type of ``zero``; ``weights`` and ``rows`` are addresses of weights and of addresses.
    """
    signature = types.void(zero, *[types.intp] * 5)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        registers = Registers(builder, zero.bitwidth)
        _, weights, rows, count, to, length = given

        def step(offset: Any, mask: Any) -> None:
            total = cgutils.alloca_once(builder, registers.vector)
            builder.store(registers.zero, total)
            with cgutils.for_range(builder, count) as loop:
                weight = registers.number_at(
                    builder.add(weights, builder.mul(loop.index, INT(registers.size)))
                )
                place = builder.add(rows, builder.mul(loop.index, INT(8)))
                row = builder.load(builder.inttoptr(place, POINTER), typ=INT)
                more = registers.load(builder.add(row, offset), mask)
                more = registers.multiply_add(
                    registers.everywhere(weight), more, builder.load(total)
                )
                builder.store(more, total)
            registers.store(builder.load(total), builder.add(to, offset), mask)

        _along(registers, length, step)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def add_both(typing: Any, a: Any, x: Any, b: Any, y: Any, to: Any, length: Any) -> Any:
    """Add ``a`` times the row ``x`` and ``b`` times the row ``y`` to the row ``to``."""
    signature = types.void(a, types.intp, b, types.intp, types.intp, types.intp)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        registers = Registers(builder, a.bitwidth)
        first, x, second, y, to, length = given
        first, second = registers.everywhere(first), registers.everywhere(second)

        def step(offset: Any, mask: Any) -> None:
            place = builder.add(to, offset)
            of_x, of_y = (registers.load(builder.add(row, offset), mask) for row in (x, y))
            total = registers.multiply_add(first, of_x, registers.load(place, mask))
            registers.store(registers.multiply_add(second, of_y, total), place, mask)

        _along(registers, length, step)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def fetch(typing: Any, row: Any, size: Any) -> Any:
    """Ask memory for ``size`` bytes of a row that will soon be read."""
    signature = types.void(types.intp, types.intp)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        row, size = given
        kind = ir.FunctionType(ir.VoidType(), [POINTER, INT32, INT32, INT32])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        with cgutils.for_range_slice(builder, INT(0), size, INT(_LINE), INT) as (offset, _):
            place = builder.inttoptr(builder.add(row, offset), POINTER)
            # To be read, soon needed again, as data.
            builder.call(prefetch, [place, INT32(0), INT32(3), INT32(1)])
        return context.get_dummy_value()

    return signature, generate
