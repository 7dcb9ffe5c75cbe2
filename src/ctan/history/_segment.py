"""Kernels on one node's segment of a temporal index: what a cut lets it see, and a choice of k.

An entry of event e is visible to a cut p where e < p, and e was not deleted at a position < p:
`until[e] >= p`. Events rise strictly within a segment (a node meets an event once at most), so the
first condition is a prefix. `until` is empty where nothing is ever deleted: the visible entries
are then the prefix itself, and only streams with deletions pay for walking over the dead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ctan.history._counter import below, mix

Ints = NDArray[np.integer[Any]]
Int64 = NDArray[np.int64]


@njit(cache=True, nogil=True)
def prefix_end(event: Ints, start: int, stop: int, cut: int) -> int:
    """First place of the segment [start, stop) whose event is at or after the cut."""
    if start == stop or event[stop - 1] < cut:  # the usual case where a stream is being followed
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
def count_visible(event: Ints, until: Int64, start: int, stop: int, cut: int, enough: int) -> int:
    """Number of visible entries of the segment [start, stop), or `enough` where it is less."""
    if len(until) == 0:
        if stop - start > enough:  # the first `enough` decide
            stop = start + enough
        return prefix_end(event, start, stop, cut) - start
    n = 0
    for place in range(prefix_end(event, start, stop, cut) - 1, start - 1, -1):
        if n == enough:
            break
        if until[event[place]] >= cut:
            n += 1
    return n


@njit(cache=True, nogil=True)
def choose(
    event: Ints,
    until: Int64,
    start: int,
    stop: int,
    cut: int,
    k: int,
    uniform: bool,
    seed: int,
    node: int,
    chosen: Int64,
) -> int:
    """Write the places of min(k, n) of the n visible entries, latest first; return how many."""
    end = prefix_end(event, start, stop, cut)
    n = end - start
    if len(until):
        n = count_visible(event, until, start, stop, cut, n if uniform else min(k, n))
    m = min(k, n)
    if uniform and n > k:
        state = mix(mix(mix(np.uint64(0), seed), node), cut)
        _choose_ranks(n, k, state, chosen)
    else:
        for j in range(m):
            chosen[j] = j
    if len(until) == 0:
        for j in range(m):
            chosen[j] = end - 1 - chosen[j]
        return m
    rank, j, place = 0, 0, end
    while j < m:
        place -= 1
        if until[event[place]] >= cut:
            if chosen[j] == rank:
                chosen[j] = place
                j += 1
            rank += 1
    return m


@njit(cache=True, nogil=True)
def _choose_ranks(n: int, k: int, state: np.uint64, chosen: Int64) -> None:
    """Write k distinct numbers of [0, n), n > k, rising; every subset equally likely.

    Floyd's sampling: for j = n-k, ..., n-1 draw r in [0, j] and take r, or j where r was taken.
    """
    for j in range(n - k, n):
        taken = j - (n - k)
        draw = below(mix(state, j), j + 1)
        for i in range(taken):
            if chosen[i] == draw:
                draw = j
                break
        place = taken
        while place > 0 and chosen[place - 1] > draw:
            chosen[place] = chosen[place - 1]
            place -= 1
        chosen[place] = draw
