"""The heart of a matrix product: a tile of the result that stays in registers.

numba compiles loops but cannot say "these sums stay in vector registers", which is all the
difference in a matrix product. So the tile is written in the compiler's own language and called
from numba like any function; :mod:`ctan.nn.kernels.matmul` has the loops around it.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_FEATURES = llvmlite.binding.get_host_cpu_features()
#: Bytes of a vector register, and how many of them a row of a tile may take.
VECTOR_BYTES, WIDTH = (
    (64, 4) if _FEATURES.get("avx512f") else (32, 2) if _FEATURES.get("avx2") else (16, 2)
)
#: Rows of a tile: 6 x 4 sums leave room for operands in 32 registers, 6 x 2 in 16.
ROWS = 6

_INT, _INT32, _POINTER = ir.IntType(64), ir.IntType(32), ir.PointerType()


@intrinsic(prefer_literal=True)
def tile(
    typing: Any,
    zero: Any,
    width: Any,
    whole: Any,
    places: Any,
    strides: Any,
    extent: Any,
    from_start: Any,
) -> Any:
    """Compute one tile of ``out = start + a @ b``; to be called from compiled functions.

    The columns of b, start and out must lie side by side.

    Args:
        typing: numba's.
        zero: a number of the type of all others.
        width: how many registers a row of the tile takes; a constant.
        whole: whether the last of them is full, else it needs a mask; a constant.
        places: addresses of ``a [rows, depth]``, ``b [depth, columns]``, ``start`` and ``out``,
            both ``[rows, columns]``.
        strides: in bytes: of a from row to row and from column to column; of b, start and out from
            row to row.
        extent: rows, at most :data:`ROWS`; depth; and how many numbers the last register of a row
            holds.
        from_start: whether ``start`` counts, or is 0.
    """
    integers = [types.UniTuple(types.intp, count) for count in (4, 5, 3)]
    signature = types.void(zero, width, whole, *integers, types.boolean)
    bits, registers, full = zero.bitwidth, width.literal_value, bool(whole.literal_value)

    def generate(context: Any, builder: Any, _: Any, given: Any) -> Any:
        places, strides, extent = (cgutils.unpack_tuple(builder, x) for x in given[3:6])
        row = _Registers(builder, bits, registers, full, filled=extent[2])
        _write_tile(row, places, strides, extent, from_start=given[6])
        return context.get_dummy_value()

    return signature, generate


class _Registers:
    """Rows of numbers as vector registers: what one tile needs of the compiler's language."""

    def __init__(self, builder: Any, bits: int, width: int, whole: bool, filled: Any) -> None:
        self.builder, self.width, self.whole = builder, width, whole
        self.align, self.lanes = bits // 8, 8 * VECTOR_BYTES // bits
        self.number = ir.FloatType() if bits == 32 else ir.DoubleType()
        self.vector = self._of(self.number)
        self.zero = ir.Constant(self.vector, [0.0] * self.lanes)
        lane = ir.Constant(self._of(_INT), list(range(self.lanes)))
        self.mask = builder.icmp_signed("<", lane, self.everywhere(filled))
        kind, some = f"v{self.lanes}f{bits}", self.mask.type
        self._fma = self._function(f"fma.{kind}", self.vector, *[self.vector] * 3)
        self._load = self._function(
            f"masked.load.{kind}.p0", self.vector, _POINTER, some, self.vector
        )
        self._store = self._function(
            f"masked.store.{kind}.p0", ir.VoidType(), self.vector, _POINTER, some
        )

    def _of(self, kind: Any) -> Any:
        return ir.VectorType(kind, self.lanes)

    def _function(self, name: str, result: Any, *given: Any) -> Any:
        kind = ir.FunctionType(result, given)
        return cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}")

    def everywhere(self, value: Any) -> Any:
        """One value in all lanes."""
        nothing = ir.Constant(self._of(value.type), ir.Undefined)
        one = self.builder.insert_element(nothing, value, _INT32(0))
        return self.builder.shuffle_vector(one, nothing, ir.Constant(self._of(_INT32), None))

    def number_at(self, address: Any) -> Any:
        """The number at an address."""
        return self.builder.load(self._pointer(address), typ=self.number)

    def load(self, address: Any, column: int) -> Any:
        """The register ``column`` of a row; lanes without a number are 0."""
        place = self._pointer(address, column)
        if self._full(column):
            return self.builder.load(place, typ=self.vector, align=self.align)
        return self.builder.call(self._load, [place, self.mask, self.zero])

    def store(self, value: Any, address: Any, column: int) -> None:
        """Write a register; lanes without a number leave memory alone."""
        place = self._pointer(address, column)
        if self._full(column):
            self.builder.store(value, place, align=self.align)
        else:
            self.builder.call(self._store, [value, place, self.mask])

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        """``a * b + c``."""
        return self.builder.call(self._fma, [a, b, c])

    def _full(self, column: int) -> bool:
        return self.whole or column < self.width - 1

    def _pointer(self, address: Any, column: int = 0) -> Any:
        place = self.builder.add(address, _INT(column * VECTOR_BYTES))
        return self.builder.inttoptr(place, _POINTER)


def _write_tile(
    registers: _Registers, places: Any, strides: Any, extent: Any, from_start: Any
) -> None:
    builder, width = registers.builder, registers.width
    a, b, start, out = places
    a_row, a_column, b_row, start_row, out_row = strides
    rows, depth, _ = extent
    # Rows beyond the last repeat it: they write the same numbers to the same place again.
    last = builder.sub(rows, _INT(1))
    row = [
        builder.select(builder.icmp_signed("<", _INT(i), rows), _INT(i), last) for i in range(ROWS)
    ]
    a_at, start_at, out_at = (
        [builder.add(base, builder.mul(i, stride)) for i in row]
        for base, stride in ((a, a_row), (start, start_row), (out, out_row))
    )
    # Variables whose addresses go nowhere: the compiler keeps them in registers.
    sums = list(product(range(ROWS), range(width)))
    total = {at: cgutils.alloca_once(builder, registers.vector) for at in sums}
    with builder.if_else(from_start) as (then, otherwise):
        with then:
            for i, j in sums:
                builder.store(registers.load(start_at[i], j), total[i, j])
        with otherwise:
            for at in sums:
                builder.store(registers.zero, total[at])
    with cgutils.for_range(builder, depth) as loop:
        b_at = builder.add(b, builder.mul(loop.index, b_row))
        a_along = builder.mul(loop.index, a_column)
        of_b = [registers.load(b_at, j) for j in range(width)]
        for i in range(ROWS):
            of_a = registers.everywhere(registers.number_at(builder.add(a_at[i], a_along)))
            for j in range(width):
                more = registers.multiply_add(of_a, of_b[j], builder.load(total[i, j]))
                builder.store(more, total[i, j])
    # All sums of a tile are made before the first is written: `out` may be `start`.
    for i, j in sums:
        registers.store(builder.load(total[i, j]), out_at[i], j)
