"""Kernels that turn event columns into a temporal index."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ctan.events.kinds import EventKind
from ctan.history._checks import interactions
from ctan.history._table import locate, new_table

if TYPE_CHECKING:
    from ctan.events import EventStream

Ints = NDArray[np.integer[Any]]
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

NEVER = np.iinfo(np.int64).max
_EDGE_DELETED = int(EventKind.EDGE_DELETED)
_NODE_DELETED = int(EventKind.NODE_DELETED)


class IndexColumns(NamedTuple):
    """The columns of a `TemporalIndex` that do not come from the stream itself."""

    ptr: Int64
    neighbor: Ints
    event: Ints
    until: Int64


#: Makes an uninitialised column of a name, a length and a type.
Empty = Callable[[str, int, np.dtype[Any]], NDArray[Any]]


def in_memory(name: str, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """An uninitialised column in memory."""
    return np.empty(count, dtype)


def index_columns(stream: EventStream, empty: Empty) -> IndexColumns:
    """Index a stream by counting sort: O(E) time, and hardly more memory than the result."""
    src, dst, counted = np.asarray(stream.src), np.asarray(stream.dst), interactions(stream)
    ptr = empty("ptr", stream.num_nodes + 1, np.dtype(np.int64))
    ptr[:] = 0
    count_entries(src, dst, counted, ptr)
    fits = max(stream.num_nodes, len(src)) <= np.iinfo(np.int32).max
    entry = np.dtype(np.int32 if fits else np.int64)
    neighbor, event = (empty(name, int(ptr[-1]), entry) for name in ("neighbor", "event"))
    fill_entries(src, dst, counted, ptr[:-1].copy(), neighbor, event)
    until = np.empty(0, np.int64)
    if stream.kind is not None and np.any(stream.kind >= EventKind.EDGE_DELETED):
        until = first_deletion(src, dst, np.asarray(stream.kind), stream.num_nodes)
    for column in (ptr, neighbor, event, until):
        column.flags.writeable = False
    return IndexColumns(ptr, neighbor, event, until)


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
