"""The kernels behind a neighbourhood: one pass outwards, a hash map, buffers that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ctan.history._counter import mix
from ctan.history._segment import choose, count_visible
from ctan.history._table import locate, new_table

Ints = NDArray[np.integer[Any]]
Int64 = NDArray[np.int64]


@njit(cache=True, nogil=True)
def group_pairs(cuts: Int64, bits: Int64) -> tuple[Int64, Int64]:
    """Number the distinct pairs (cut, time bits) in order of first appearance.

    Returns:
        The group of each row [Q], and the row at which each group first appears [G].
    """
    group, first = np.empty(len(cuts), np.int64), np.empty(len(cuts), np.int64)
    seen_cut, seen_bits = np.empty(len(cuts), np.int64), np.empty(len(cuts), np.int64)
    table = new_table(len(cuts))
    groups = 0
    for i in range(len(cuts)):
        word = np.int64(mix(np.uint64(0), bits[i]))  # one to one; floats alone spread badly
        place = locate(table, seen_cut, seen_bits, cuts[i], word)
        if table[place] < 0:
            table[place] = groups
            seen_cut[groups], seen_bits[groups], first[groups] = cuts[i], word, i
            groups += 1
        group[i] = table[place]
    return group, first[:groups].copy()


@njit(cache=True, nogil=True)
def _grown(old: Int64, size: int) -> Int64:
    new = np.empty(size, np.int64)
    new[: len(old)] = old
    return new


@njit(cache=True, nogil=True)
def _rows_grown(old: Int64, rows: int) -> Int64:
    new = np.empty((rows, old.shape[1]), np.int64)
    new[: len(old)] = old
    return new


@njit(cache=True, nogil=True)
def expand(
    ptr: Int64,
    neighbor: Ints,
    event: Ints,
    until: Int64,
    asked: Int64,
    asked_group: Int64,
    cuts: Int64,
    k: int,
    hops: int,
    uniform: bool,
    seed: int,
) -> tuple[Int64, Int64, Int64, Int64, Int64, Int64, Int64]:
    """Number the entries (node, group) outwards from the asked ones, breadth first.

    A group stands for one cut (and query time); neighbours keep the group they were reached with.

    Returns:
        node [M], group [M], row [Q], sizes [hops + 1], slot [T, K], event [T, K] and count [M].
    """
    # Room for one hop at once; no more than all keys there are.
    capacity = len(asked)
    if hops > 0:
        capacity = max(capacity, min(capacity * (k + 1), (len(ptr) - 1) * len(cuts)))
    capacity += k + 1
    node, group = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    table = new_table(capacity)
    total = 0

    row = np.empty(len(asked), np.int64)
    for q in range(len(asked)):
        place = locate(table, node, group, asked[q], asked_group[q])
        if table[place] < 0:
            table[place] = total
            node[total], group[total] = asked[q], asked_group[q]
            total += 1
        row[q] = table[place]

    sizes = np.empty(hops + 1, np.int64)
    sizes[0] = total
    slot, slot_event = np.empty((0, k), np.int64), np.empty((0, k), np.int64)
    count = np.empty(0, np.int64)
    chosen = np.empty(k, np.int64)
    widest = 1
    done = 0
    for hop in range(hops):
        rim = total
        slot, slot_event = _rows_grown(slot, rim), _rows_grown(slot_event, rim)
        count = _grown(count, rim)
        for entry in range(done, rim):
            if total + k > len(node):
                node, group = _grown(node, 2 * len(node)), _grown(group, 2 * len(group))
                table = new_table(len(node))
                for old in range(total):
                    table[locate(table, node, group, node[old], group[old])] = old
            u, g = node[entry], group[entry]
            present = choose(event, until, ptr[u], ptr[u + 1], cuts[g], k, uniform, seed, u, chosen)
            for j in range(present):
                v = np.int64(neighbor[chosen[j]])
                place = locate(table, node, group, v, g)
                if table[place] < 0:
                    table[place] = total
                    node[total], group[total] = v, g
                    total += 1
                slot[entry, j] = table[place]
                slot_event[entry, j] = event[chosen[j]]
            slot[entry, present:] = 0
            slot_event[entry, present:] = 0
            count[entry] = present
            widest = max(widest, present)
        done = rim
        sizes[hop + 1] = total

    count = _grown(count, total)
    for entry in range(done, total):
        u = node[entry]
        count[entry] = count_visible(event, until, ptr[u], ptr[u + 1], cuts[group[entry]], k)
    return (
        node[:total].copy(),
        group[:total].copy(),
        row,
        sizes,
        slot[:, :widest].copy(),
        slot_event[:, :widest].copy(),
        count,
    )


@njit(cache=True, nogil=True)
def reach(
    slot: Int64, count: Int64, start: Int64, total: int, hops: int
) -> tuple[NDArray[np.bool_], int]:
    """Which of `total` entries lie within `hops` of `start`.

    Returns:
        A mark for each entry [M], and an entry whose neighbours were needed but not sampled (-1).
    """
    inside = np.zeros(total, np.bool_)
    queue = np.empty(total, np.int64)
    filled = 0
    for entry in start:
        if not inside[entry]:
            inside[entry] = True
            queue[filled] = entry
            filled += 1
    done = 0
    for _ in range(hops):
        rim = filled
        for i in range(done, rim):
            entry = queue[i]
            if count[entry] > 0 and entry >= len(slot):
                return inside, entry
            for j in range(count[entry]):
                reached = slot[entry, j]
                if not inside[reached]:
                    inside[reached] = True
                    queue[filled] = reached
                    filled += 1
        done = rim
    return inside, -1
