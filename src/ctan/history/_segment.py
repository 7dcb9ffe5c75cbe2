"""Kernels on one node's segment of a temporal index: what a cut lets it see, and a choice of k.

An entry of event e is visible to a cut p where e < p, and e was not deleted at a position < p:
`until[e] >= p`. Events rise strictly within a segment (a node meets an event once at most), so the
first condition is a prefix. `until` is empty where nothing is ever deleted: the visible entries
are then the prefix itself, and only streams with deletions pay for walking over the dead.

The kernels are inlined into their callers: a call would count references to every array it is
given, which takes longer than the lookup.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ctan.compiled.counter import below, mix
from ctan.compiled.rows import fetch

#: A lookup that starts so many lookups ahead has found its memory when its turn comes.
AHEAD = 6

Ints = NDArray[np.integer[Any]]
Int64 = NDArray[np.int64]


@njit(cache=True, nogil=True, forceinline=True)
def _bisect(event: Ints, low: int, high: int, cut: int) -> int:
    """First place of [low, high) whose event is at or after the cut; else high."""
    while low < high:
        middle = (low + high) >> 1
        if event[middle] < cut:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True, forceinline=True)
def prefix_end(event: Ints, start: int, stop: int, cut: int) -> int:
    """First place of the segment [start, stop) whose event is at or after the cut."""
    if start == stop or event[stop - 1] < cut:  # the usual case where a stream is being followed
        return stop
    end: int = _bisect(event, start, stop - 1, cut)
    return end


@njit(cache=True, nogil=True, forceinline=True)
def prefix_end_near(event: Ints, start: int, stop: int, cut: int, guess: int) -> int:
    """The same, looked for around a place: each step from it goes twice as far as the last."""
    low = high = min(max(guess, start), stop)
    step = 1
    if low < stop and event[low] < cut:
        low += 1
        while low + step <= stop and event[low + step - 1] < cut:
            low += step
            step *= 2
        high = min(stop, low + step - 1)
    else:
        while high - step >= start and event[high - step] >= cut:
            high -= step
            step *= 2
        low = max(start, high - step + 1)
    end: int = _bisect(event, low, high, cut)
    return end


@njit(cache=True, nogil=True, forceinline=True)
def count_visible(event: Ints, until: Int64, start: int, stop: int, cut: int, enough: int) -> int:
    """Number of visible entries of the segment [start, stop), or `enough` where it is less."""
    if len(until) == 0 and stop - start > enough:  # the first `enough` decide
        stop = start + enough
    end: int = prefix_end(event, start, stop, cut)
    if len(until) == 0:
        return end - start
    n = 0
    for place in range(end - 1, start - 1, -1):
        n += until[event[place]] >= cut
        if n >= enough:
            return enough
    return n


@njit(cache=True, nogil=True, forceinline=True)
def fetch_near(ptr: Int64, neighbor: Ints, event: Ints, near: Int64, node: int, k: int) -> None:
    """Ask memory for where a lookup of the last k entries of a node will read."""
    place = (ptr[node] + max(near[node] - k, 0)) * event.itemsize
    fetch(event.ctypes.data + place, k * event.itemsize)
    fetch(neighbor.ctypes.data + place, k * event.itemsize)


@njit(cache=True, nogil=True, forceinline=True)
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
    near: Int64,
    chosen: Int64,
) -> int:
    """Write the places of min(k, n) of the n visible entries, latest first; return how many.

    `near` holds how many entries of each node the last lookup saw; a stream that is followed asks
    for few more the next time.
    """
    end = prefix_end_near(event, start, stop, cut, start + near[node])
    near[node] = end - start
    m: int = min(k, end - start)
    if len(until):
        m = _choose_alive(event, until, start, end, cut, k, uniform, seed, node, chosen)
    elif uniform:
        _choose_ranks(end - start, k, uniform, seed, node, cut, chosen)
        for j in range(m):
            chosen[j] = end - 1 - chosen[j]
    else:
        for j in range(m):
            chosen[j] = end - 1 - j
    return m


@njit(cache=True, nogil=True, forceinline=True)
def _choose_alive(
    event: Ints,
    until: Int64,
    start: int,
    end: int,
    cut: int,
    k: int,
    uniform: bool,
    seed: int,
    node: int,
    chosen: Int64,
) -> int:
    """Choose among the entries of [start, end) that are not dead: find the chosen ranks' places."""
    n = count_visible(event, until, start, end, cut, end - start if uniform else k)
    m: int = _choose_ranks(n, k, uniform, seed, node, cut, chosen)
    rank, j, place = 0, 0, end
    while j < m:
        place -= 1
        if until[event[place]] >= cut:
            if chosen[j] == rank:
                chosen[j] = place
                j += 1
            rank += 1
    return m


@njit(cache=True, nogil=True, forceinline=True)
def _choose_ranks(
    n: int, k: int, uniform: bool, seed: int, node: int, cut: int, chosen: Int64
) -> int:
    """Write min(k, n) distinct numbers of [0, n), rising: the first ones, or any, all alike."""
    if uniform and n > k:
        state = mix(mix(mix(np.uint64(0), seed), node), cut)
        for j in range(n - k, n):  # Floyd: draw r in [0, j] and take r, or j where r was taken
            taken = j - (n - k)
            draw = below(mix(state, j), j + 1)
            if _holds(chosen, taken, draw):
                draw = j
            while taken > 0 and chosen[taken - 1] > draw:
                chosen[taken] = chosen[taken - 1]
                taken -= 1
            chosen[taken] = draw
        return k
    m = min(k, n)
    for j in range(m):
        chosen[j] = j
    return m


@njit(cache=True, nogil=True, forceinline=True)
def _holds(chosen: Int64, length: int, value: int) -> bool:
    for i in range(length):  # noqa: SIM110  (numba has no `any` of a generator)
        if chosen[i] == value:
            return True
    return False
