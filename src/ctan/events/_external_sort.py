"""Sorting columns that do not fit in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from ctan.stored import Array, new_mapped

_RUN = 1 << 22  # rows sorted at once in memory


def stable_order(t: Array, scratch: Path, run: int = _RUN) -> Array:
    """The order that sorts `t [E]`, ties in order of row; `[E]`, in a file below `scratch`.

    Runs of rows are sorted in memory, then merged in pairs from file to file: each pass reads and
    writes in sequence, and memory holds one run.

    Example:
        >>> import tempfile
        >>> t = np.array([3, 1, 2, 1, 0])
        >>> stable_order(t, Path(tempfile.mkdtemp()), run=2).tolist()
        [4, 1, 3, 2, 0]
    """
    count = len(t)
    times, order = (_file(scratch, f"{name}0", count, dtype) for name, dtype in _pair(t))
    for start in range(0, count, run):
        within = np.argsort(t[start : start + run], kind="stable")
        order[start : start + run] = start + within
        times[start : start + run] = t[start : start + run][within]
    number = 0
    while run < count:
        number += 1
        to_times, to_order = (
            _file(scratch, f"{name}{number % 2}", count, dtype) for name, dtype in _pair(t)
        )
        for start in range(0, count, 2 * run):
            middle, end = min(start + run, count), min(start + 2 * run, count)
            _merge(times, order, to_times, to_order, start, middle, end)
        times, order, run = to_times, to_order, 2 * run
    return order


def _pair(t: Array) -> tuple[tuple[str, np.dtype[Any]], tuple[str, np.dtype[Any]]]:
    return ("times", t.dtype), ("order", np.dtype(np.int64))


def _file(scratch: Path, name: str, count: int, dtype: np.dtype[Any]) -> Array:
    return new_mapped(scratch / f"{name}.npy", dtype, count)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _merge(
    t: Array, order: Array, to_t: Array, to_order: Array, start: int, middle: int, end: int
) -> None:
    """Merge the sorted rows [start, middle) and [middle, end); of equal times the first run's."""
    a, b = start, middle
    for place in range(start, end):
        if a < middle and (b >= end or t[a] <= t[b]):
            to_t[place], to_order[place] = t[a], order[a]
            a += 1
        else:
            to_t[place], to_order[place] = t[b], order[b]
            b += 1
