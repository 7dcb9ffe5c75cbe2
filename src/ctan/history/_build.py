"""Kernels that turn event columns into a temporal index."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ctan.events.kinds import EventKind
from ctan.history._table import locate, new_table

Ints = NDArray[np.integer[Any]]
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

NEVER = np.iinfo(np.int64).max
_EDGE_DELETED = int(EventKind.EDGE_DELETED)
_NODE_DELETED = int(EventKind.NODE_DELETED)


@njit(cache=True, nogil=True)
def count_entries(src: Int64, dst: Int64, counted: Bools, ptr: Int64) -> None:
    """Write the segments' bounds: the running sum of entries per node."""
    for e in range(len(src)):
        if len(counted) == 0 or counted[e]:
            ptr[src[e] + 1] += 1
            if dst[e] != src[e]:
                ptr[dst[e] + 1] += 1
    for u in range(len(ptr) - 1):
        ptr[u + 1] += ptr[u]


@njit(cache=True, nogil=True)
def fill_entries(
    src: Int64, dst: Int64, counted: Bools, free: Int64, neighbor: Ints, event: Ints
) -> None:
    """Deal the events out to their nodes' segments; `free` is each segment's next free place."""
    for e in range(len(src)):
        if len(counted) == 0 or counted[e]:
            u, v = src[e], dst[e]
            neighbor[free[u]] = v
            event[free[u]] = e
            free[u] += 1
            if v != u:
                neighbor[free[v]] = u
                event[free[v]] = e
                free[v] += 1


@njit(cache=True, nogil=True)
def first_deletion(src: Int64, dst: Int64, kind: NDArray[np.uint8], num_nodes: int) -> Int64:
    """The position that deletes each event: the next deletion of its pair or of either end [E].

    One pass backwards, holding the next deletion of each node and of each pair ever deleted.
    """
    deletions = 0
    for e in range(len(kind)):
        deletions += kind[e] == _EDGE_DELETED
    pair_src, pair_dst = np.empty(deletions, np.int64), np.empty(deletions, np.int64)
    next_pair = np.empty(deletions, np.int64)
    next_node = np.full(num_nodes, NEVER, np.int64)
    table = new_table(deletions)
    pairs = 0
    until = np.full(len(src), NEVER, np.int64)
    for e in range(len(src) - 1, -1, -1):
        u, v = src[e], dst[e]
        if kind[e] == _NODE_DELETED:
            next_node[u] = e
            continue
        place = locate(table, pair_src, pair_dst, u, v)
        if kind[e] == _EDGE_DELETED:
            if table[place] < 0:
                table[place] = pairs
                pair_src[pairs], pair_dst[pairs] = u, v
                pairs += 1
            next_pair[table[place]] = e
        else:
            until[e] = min(next_node[u], next_node[v])
            if table[place] >= 0:
                until[e] = min(until[e], next_pair[table[place]])
    return until
