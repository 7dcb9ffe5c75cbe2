"""The kernels behind a neighbourhood: one pass outwards, a hash map, buffers that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ctan.compiled.counter import mix
from ctan.history._segment import AHEAD, choose, count_visible, fetch_near
from ctan.history._table import Table, locate, new_table

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
    heir: Int64,
    k: int,
    hops: int,
    uniform: bool,
    seed: int,
    near: Int64,
) -> tuple[Int64, Int64, Int64, Int64, Int64, Int64, Int64]:
    """Number the entries (node, group) outwards from the asked ones, breadth first.

    A group stands for one cut (and query time); the neighbours of a member of group g belong to
    group `heir[g]`: to g itself, unless those who are asked are kept apart.

    Returns:
        node [M], group [M], row [Q], sizes [hops + 1], slot [T, K], event [T, K] and count [M].
    """
    node, group = np.empty(len(asked), np.int64), np.empty(len(asked), np.int64)
    table = new_table(len(asked))
    row = np.empty(len(asked), np.int64)
    total = 0
    for q in range(len(asked)):
        place = locate(table, node, group, asked[q], asked_group[q])
        if table[place] < 0:
            table[place] = total
            node[total], group[total] = asked[q], asked_group[q]
            total += 1
        row[q] = table[place]

    sizes = np.empty(hops + 1, np.int64)
    sizes[0] = total
    slot, met = np.empty((0, k), np.int64), np.empty((0, k), np.int64)
    count = np.empty(0, np.int64)
    done = 0
    for hop in range(hops):
        rim = total
        slot, met, count = _rows_grown(slot, rim), _rows_grown(met, rim), _grown(count, rim)
        room = min(total + (rim - done) * k, (len(ptr) - 1) * len(cuts))
        if room > len(node):
            node, group = _grown(node, room), _grown(group, room)
            table = new_table(room)
            for entry in range(total):
                table[locate(table, node, group, node[entry], group[entry])] = entry
        total = _add_hop(
            ptr, neighbor, event, until, cuts, heir, k, uniform, seed, near,
            done, rim, table, node, group, slot, met, count,
        )  # fmt: skip
        done = rim
        sizes[hop + 1] = total

    widest = max(1, count.max()) if done else 1
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
        met[:, :widest].copy(),
        count,
    )


@njit(cache=True, nogil=True)
def _add_hop(
    ptr: Int64,
    neighbor: Ints,
    event: Ints,
    until: Int64,
    cuts: Int64,
    heir: Int64,
    k: int,
    uniform: bool,
    seed: int,
    near: Int64,
    done: int,
    rim: int,
    table: Table,
    node: Int64,
    group: Int64,
    slot: Int64,
    met: Int64,
    count: Int64,
) -> int:
    """Fill the slots of entries [done, rim), numbering whom they meet first; return the new total.

    All buffers have room: arrays that are never replaced in the loop cost it no reference counts.
    """
    total = rim
    chosen = np.empty(k, np.int64)
    for entry in range(done, rim):
        u, g = node[entry], group[entry]
        if entry + AHEAD < rim:
            fetch_near(ptr, neighbor, event, near, node[entry + AHEAD], k)
        inherited = heir[g]
        present = choose(
            event, until, ptr[u], ptr[u + 1], cuts[g], k, uniform, seed, u, near, chosen
        )
        for j in range(present):
            v = np.int64(neighbor[chosen[j]])
            place = locate(table, node, group, v, inherited)
            if table[place] < 0:
                table[place] = total
                node[total], group[total] = v, inherited
                total += 1
            slot[entry, j] = table[place]
            met[entry, j] = event[chosen[j]]
        for j in range(present, k):
            slot[entry, j] = 0
            met[entry, j] = 0
        count[entry] = present
    return total


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
