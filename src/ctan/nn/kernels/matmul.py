"""Matrix products on the CPU, compiled for the processor at hand.

torch's float32 products go to MKL, which on AMD processors stays with 256-bit registers: about 100
GFLOP/s a thread, where this reaches 200 for the shapes of a training step. Besides, a call takes
few microseconds, any strides, and what the product is to be added to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import from_dtype, njit, types

from ctan.compiled.registers import BYTES, WIDTH
from ctan.compiled.team import Team, spread, team
from ctan.nn.kernels._arrays import Floats
from ctan.nn.kernels._tile import ROWS, tile

#: So many rows of ``b`` are used up at a time: 32 kB at the width of a tile, which stay near.
_DEPTH = 128


@njit(cache=True, nogil=True)
def _multiply(
    zero: Any,
    size: int,
    shape: tuple[int, int, int],
    places: tuple[int, int, int, int],
    strides: tuple[int, int, int, int, int],
    from_start: bool,
) -> None:
    """All tiles of a product of ``shape`` (m, k, n); see :func:`ctan.nn.kernels._tile.tile`.

    Apart from :func:`_rows`, so that it is compiled once and not for each layout of arrays.
    """
    m, k, n = shape
    a, b, start, out = places
    a_row, a_column, b_row, start_row, out_row = strides
    lanes = BYTES // size
    for done in range(0, max(k, 1), _DEPTH):
        depth = min(_DEPTH, k - done)
        strides = (a_row, a_column, b_row, start_row, out_row)
        column = 0
        while column < n:
            # Five registers as three and two: one alone would wait for its own sums.
            left = (n - column + lanes - 1) // lanes
            width = WIDTH - 1 if left == WIDTH + 1 else min(WIDTH, left)
            filled = min(lanes, n - column - (width - 1) * lanes)
            for row in range(0, m, ROWS):
                at = (
                    a + row * a_row + done * a_column,
                    b + done * b_row + column * size,
                    start + row * start_row + column * size,
                    out + row * out_row + column * size,
                )
                extent = (min(ROWS, m - row), depth, filled)
                # What a tile takes of registers is fixed when it is compiled.
                if filled == lanes:
                    if width == 1:
                        tile(zero, 1, True, at, strides, extent, from_start)
                    elif width == 2:
                        tile(zero, 2, True, at, strides, extent, from_start)
                    elif width == 3:
                        tile(zero, 3, True, at, strides, extent, from_start)
                    else:
                        tile(zero, 4, True, at, strides, extent, from_start)
                elif width == 1:
                    tile(zero, 1, False, at, strides, extent, from_start)
                elif width == 2:
                    tile(zero, 2, False, at, strides, extent, from_start)
                elif width == 3:
                    tile(zero, 3, False, at, strides, extent, from_start)
                else:
                    tile(zero, 4, False, at, strides, extent, from_start)
            column += width * lanes
        # What follows is added to what is there now.
        start, start_row, from_start = out, out_row, True


@njit(cache=True, nogil=True)
def _rows(part: int, parts: int, a: Floats, b: Floats, start: Floats, out: Floats) -> None:
    """One part of the rows of a product, whole tiles; arguments as :func:`multiply` has them."""
    tiles = (a.shape[0] + ROWS - 1) // ROWS
    first, last = tiles * part // parts * ROWS, tiles * (part + 1) // parts * ROWS
    of_a, to = a[first:last], out[first:last]
    start_row = start.strides[0] if start.shape[0] > 1 else 0
    _multiply(
        out.dtype.type(0),
        out.itemsize,
        (of_a.shape[0], a.shape[1], b.shape[1]),
        (of_a.ctypes.data, b.ctypes.data, start.ctypes.data + first * start_row, to.ctypes.data),
        (a.strides[0], a.strides[1], b.strides[0], start_row, out.strides[0]),
        start.size > 0,
    )


@njit(cache=True, nogil=True)
def _in_parts(team: Team, a: Floats, b: Floats, start: Floats, out: Floats) -> None:
    spread(team, _rows, (a, b, start, out))


@cache
def _compiled(dtype: np.dtype[Any]) -> Callable[..., None]:
    """:func:`_in_parts`, compiled once for all layouts of arrays and not for each it meets."""
    given, out = (
        types.Array(from_dtype(dtype), 2, "A", readonly=readonly) for readonly in (True, False)
    )
    _in_parts.disable_compile(False)
    _in_parts.compile((types.UniTuple(types.int64, 4), given, given, given, out))
    _in_parts.disable_compile()
    run: Callable[..., None] = _in_parts
    return run


def multiply(a: Floats, b: Floats, start: Floats, out: Floats) -> None:
    """``out = start + a @ b``, all of one type; shapes are not checked.

    Args:
        a: ``[m, k]``, of any strides.
        b: ``[k, n]``; copied where its columns do not lie side by side.
        start: ``[m, n]``, or ``[1, n]`` for all rows, or of size 0 for zero; may be ``out``. Its
            columns lie side by side, as those of ``out``.
        out: ``[m, n]``, written.
    """
    if b.strides[1] != b.itemsize:
        b = np.ascontiguousarray(b)
    _compiled(out.dtype)(team(a.shape[0] * b.size), a, b, start, out)


def matmul(a: Floats, b: Floats, start: Floats | None = None) -> Floats:
    """``start + a [m, k] @ b [k, n]`` as a new array; ``start [m, n]`` or ``[1, n]``.

    Example:
        >>> matmul(np.ones((2, 3)), np.ones((3, 1)), start=np.array([[0.5]])).tolist()
        [[3.5], [3.5]]
    """
    if a.shape[1] != b.shape[0]:
        # The compiled loops do not check: they would read beyond the end.
        raise ValueError(f"{a.shape} @ {b.shape}: the sizes between the two differ")
    out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    multiply(a, b, out[:0] if start is None else start, out)
    return out
