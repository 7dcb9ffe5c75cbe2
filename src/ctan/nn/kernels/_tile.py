"""The heart of a matrix product: a tile of the result that stays in registers.

numba compiles loops but cannot say "these sums stay in vector registers", which is all the
difference in a matrix product. So the tile is written in the compiler's own language and called
from numba like any function; :mod:`ctan.nn.kernels.matmul` has the loops around it.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ctan.compiled.registers import BYTES, INT, Registers

#: Rows of a tile: 6 x 4 sums leave room for operands in 32 registers, 6 x 2 in 16.
ROWS = 6


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
    bits, wide, full = zero.bitwidth, width.literal_value, bool(whole.literal_value)

    def generate(context: Any, builder: Any, _: Any, given: Any) -> Any:
        places, strides, extent = (cgutils.unpack_tuple(builder, x) for x in given[3:6])
        registers = Registers(builder, bits)
        masks = [None] * wide if full else [*[None] * (wide - 1), registers.first(extent[2])]
        _write_tile(registers, masks, places, strides, extent, from_start=given[6])
        return context.get_dummy_value()

    return signature, generate


def _write_tile(
    registers: Registers, masks: list[Any], places: Any, strides: Any, extent: Any, from_start: Any
) -> None:
    builder, columns = registers.builder, list(enumerate(masks))
    a, b, start, out = places
    a_row, a_column, b_row, start_row, out_row = strides
    rows, depth, _ = extent
    # Rows beyond the last repeat it: they write the same numbers to the same place again.
    last = builder.sub(rows, INT(1))
    row = [
        builder.select(builder.icmp_signed("<", INT(i), rows), INT(i), last) for i in range(ROWS)
    ]
    a_at, start_at, out_at = (
        [builder.add(base, builder.mul(i, stride)) for i in row]
        for base, stride in ((a, a_row), (start, start_row), (out, out_row))
    )

    def register(base: Any, column: int) -> Any:
        return builder.add(base, INT(column * BYTES))

    # Variables whose addresses go nowhere: the compiler keeps them in registers.
    sums = [(i, j, mask) for i, (j, mask) in product(range(ROWS), columns)]
    total = {(i, j): cgutils.alloca_once(builder, registers.vector) for i, j, _ in sums}
    with builder.if_else(from_start) as (then, otherwise):
        with then:
            for i, j, mask in sums:
                builder.store(registers.load(register(start_at[i], j), mask), total[i, j])
        with otherwise:
            for i, j, _ in sums:
                builder.store(registers.zero, total[i, j])
    with cgutils.for_range(builder, depth) as loop:
        b_at = builder.add(b, builder.mul(loop.index, b_row))
        a_along = builder.mul(loop.index, a_column)
        of_b = [registers.load(register(b_at, j), mask) for j, mask in columns]
        for i in range(ROWS):
            of_a = registers.everywhere(registers.number_at(builder.add(a_at[i], a_along)))
            for j, _ in columns:
                more = registers.multiply_add(of_a, of_b[j], builder.load(total[i, j]))
                builder.store(more, total[i, j])
    # All sums of a tile are made before the first is written: `out` may be `start`.
    for i, j, mask in sums:
        registers.store(builder.load(total[i, j]), register(out_at[i], j), mask)
