"""A hash map from pairs of int64 to entry numbers: open addressing, keys kept by the caller."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Table = NDArray[np.int32]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_32 = np.uint64(32)


@njit(cache=True, nogil=True)
def new_table(capacity: int) -> Table:
    """Places for `capacity` keys at half load or less, a power of two; -1 marks a free one."""
    size = 16
    while size < 2 * capacity:
        size *= 2
    return np.full(size, -1, np.int32)


@njit(cache=True, nogil=True)
def locate(table: Table, first: Int64, second: Int64, a: int, b: int) -> int:
    """The place whose entry has key (a, b), or the free place where that key belongs.

    Args:
        table: entry numbers by place.
        first: first half of each entry's key.
        second: second half of each entry's key.
        a: first half of the key looked for.
        b: second half of the key looked for.
    """
    # Leaving by `return`, not `break`: numba then drops the reference counts of all three arrays,
    # which otherwise cost twenty times the lookup.
    mask = len(table) - 1
    key = np.uint64(a) * _GOLDEN + np.uint64(b)
    place = np.int64((key * _GOLDEN) >> _32) & mask
    while table[place] >= 0:
        entry = table[place]
        if first[entry] == a and second[entry] == b:
            return place  # type: ignore[return-value]
        place = (place + 1) & mask
    return place  # type: ignore[return-value]
