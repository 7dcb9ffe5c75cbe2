"""Kernels behind `Candidates`: what to leave out, and draws from what remains."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ctan.compiled.counter import below, mix

Int64 = NDArray[np.int64]
Times = NDArray[Any]

_RANDOM, _INDUCTIVE = 0, 2


@njit(cache=True, nogil=True)
def lower(values: Times, low: int, high: int, wanted: Any) -> int:
    """First place of the rising values [low, high) that is not below the wanted one."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _met_now(
    event: Int64, source_ptr: Int64, dst: Int64, t: Times, u: int, now: Any
) -> tuple[Int64, int]:
    """The distinct destinations that u meets at one time, rising; and u's first place then."""
    low, high = source_ptr[u], source_ptr[u + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if t[event[middle]] < now:
            low = middle + 1
        else:
            high = middle
    high = low
    while high < end and t[event[high]] == now:
        high += 1
    found = np.unique(dst[event[low:high]])
    return found, low


@njit(cache=True, nogil=True)
def _places_of(values: Int64, low: int, high: int, wanted: Int64) -> Int64:
    """Places within the rising values [low, high), counted from low, of those that are there."""
    places = np.empty(len(wanted), np.int64)
    n = 0
    for v in wanted:
        place = lower(values, low, high, v)
        if place < high and values[place] == v:
            places[n] = place - low
            n += 1
    return places[:n]


@njit(cache=True, nogil=True)
def every(
    src: Int64,
    dst: Int64,
    t: Times,
    kind: Int64,
    pool: Int64,
    pool_ptr: Int64,
    event: Int64,
    source_ptr: Int64,
    asked: Int64,
) -> tuple[Int64, Int64]:
    """The pool of each event without the destinations its source meets at that time."""
    ptr = np.zeros(len(asked) + 1, np.int64)
    for i in range(len(asked)):
        e = asked[i]
        low, high = pool_ptr[kind[dst[e]]], pool_ptr[kind[dst[e]] + 1]
        left_out, _ = _met_now(event, source_ptr, dst, t, src[e], t[e])
        ptr[i + 1] = ptr[i] + high - low - len(_places_of(pool, low, high, left_out))
    node = np.empty(ptr[-1], np.int64)
    for i in range(len(asked)):
        e = asked[i]
        low, high = pool_ptr[kind[dst[e]]], pool_ptr[kind[dst[e]] + 1]
        left_out, _ = _met_now(event, source_ptr, dst, t, src[e], t[e])
        free, start = ptr[i], low
        for gap in _places_of(pool, low, high, left_out):
            stop = low + gap
            node[free : free + stop - start] = pool[start:stop]
            free, start = free + stop - start, stop + 1
        node[free : ptr[i + 1]] = pool[start:high]
    return ptr, node


@njit(cache=True, nogil=True)
def _choose(state: np.uint64, n: int, left_out: Int64, chosen: Int64) -> int:
    """Distinct places of [0, n) without those left out (rising), as many as fit; how many."""
    free = n - len(left_out)
    count = min(free, len(chosen))
    if free <= 4 * len(chosen):  # shuffle the first `count` of all places
        places = np.arange(free)
        for j in range(count):
            other = j + below(mix(state, j), free - j)
            places[j], places[other] = places[other], places[j]
            chosen[j] = places[j]
    else:  # draw again what was drawn before: at least three of four draws are new
        j, draw = 0, 0
        while j < count:
            place = below(mix(state, draw), free)
            draw += 1
            if not _holds(chosen, j, place):
                chosen[j] = place
                j += 1
    for j in range(count):  # the p-th place that is not left out
        for gap in left_out:
            chosen[j] += gap <= chosen[j]
    return count


@njit(cache=True, nogil=True)
def _holds(values: Int64, length: int, wanted: int) -> bool:
    for i in range(length):  # noqa: SIM110  (numba has no `any` of a generator)
        if values[i] == wanted:
            return True
    return False


@njit(cache=True, nogil=True)
def sample(
    src: Int64,
    dst: Int64,
    t: Times,
    kind: Int64,
    pool: Int64,
    pool_ptr: Int64,
    event: Int64,
    source_ptr: Int64,
    ptr: Int64,
    known: Int64,
    place: Int64,
    met: Int64,
    first: Int64,
    asked: Int64,
    count: int,
    rule: int,
    train_end: int,
    seed: int,
    epoch: int,
) -> tuple[Int64, Int64]:
    """Draw `count` candidates for each event by a rule, the pool giving what the rule cannot."""
    node = np.full((len(asked), count), -1, np.int64)
    short = np.zeros(len(asked), np.int64)
    base = mix(mix(np.uint64(0), seed), epoch)
    for i in range(len(asked)):
        e = asked[i]
        u, row = src[e], node[i]
        left_out, _ = _met_now(event, source_ptr, dst, t, u, t[e])
        state = mix(base, e)
        given = 0
        if rule != _RANDOM:
            key = u * (len(pool_ptr) - 1) + kind[dst[e]]
            low, high = ptr[key], ptr[key + 1]
            # First meetings rise within a key: the earlier times are a prefix, training another.
            start = lower(first, low, high, train_end) if rule == _INDUCTIVE else low
            stop = start
            stop_high = high
            while stop < stop_high:
                middle = (stop + stop_high) >> 1
                if t[first[middle]] < t[e]:
                    stop = middle + 1
                else:
                    stop_high = middle
            gaps = low + _places_of(known, low, high, left_out)
            inside = np.sort(place[gaps]) - start
            inside = inside[(inside >= 0) & (inside < stop - start)]
            given = _choose(mix(state, 1), stop - start, inside, row)
            for j in range(given):
                row[j] = met[start + row[j]]
            short[i] = count - given
        low, high = pool_ptr[kind[dst[e]]], pool_ptr[kind[dst[e]] + 1]
        gaps = _places_of(pool, low, high, left_out)
        while given < count:
            taken = _choose(mix(mix(state, 2), given), high - low, gaps, row[given:])
            if taken == 0:
                row[:] = -1
                break
            for j in range(given, given + taken):
                row[j] = pool[low + row[j]]
            given += taken
    return node, short
