"""Kernels on one node's segment of a temporal index: what a cut lets it see, and a choice of k."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ctan.history._counter import below, mix


@njit(cache=True, nogil=True)
def visible_end(event: NDArray[np.integer[Any]], start: int, stop: int, cut: int) -> int:
    """First place of the segment [start, stop) whose event the cut hides.

    A node meets an event once at most, so events rise strictly within a segment.
    """
    if start == stop or event[stop - 1] < cut:  # training's edge: nothing later exists yet
        return stop
    low, high = start, stop - 1
    while low < high:
        middle = (low + high) >> 1
        if event[middle] < cut:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def choose_recent(start: int, end: int, k: int, chosen: NDArray[np.int64]) -> int:
    """Write the last min(k, n) places of [start, end), latest first; return how many."""
    n = min(k, end - start)
    for j in range(n):
        chosen[j] = end - 1 - j
    return n


@njit(cache=True, nogil=True)
def choose_uniform(
    start: int, end: int, k: int, seed: int, node: int, cut: int, chosen: NDArray[np.int64]
) -> int:
    """Write min(k, n) distinct places of [start, end), every subset equally likely, latest first.

    Floyd's sampling: to choose k of n, for j = n-k .. n-1 draw r in [0, j] and take r, or j where
    r was taken before. The list is kept sorted, so "taken before" falls out of the insertion.
    """
    n = end - start
    if n <= k:
        return choose_recent(start, end, k, chosen)
    state = mix(mix(mix(np.uint64(0), seed), node), cut)
    for j in range(n - k, n):
        draw = start + below(mix(state, j), j + 1)
        taken = j - (n - k)
        for i in range(taken):
            if chosen[i] == draw:
                draw = start + j
                break
        place = taken
        while place > 0 and chosen[place - 1] < draw:
            chosen[place] = chosen[place - 1]
            place -= 1
        chosen[place] = draw
    return k
