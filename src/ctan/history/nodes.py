"""What became of each node, and when: its features, and whether it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ctan.events.kinds import EventKind
from ctan.history._checks import as_cuts, as_nodes

if TYPE_CHECKING:
    from ctan.events import EventStream

Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

_INTERACTION = int(EventKind.INTERACTION)
_NODE = int(EventKind.NODE)
_NODE_DELETED = int(EventKind.NODE_DELETED)


@dataclass(frozen=True, eq=False)
class NodeHistory:
    """For each node the events that change what it carries or whether it is there.

    The rule, for a query with a cut (it sees the events at positions < cut):

    - A node's features are those of its latest node event; before any, its row of `x`.
    - A deleted node is not there, until a node event or an interaction brings it back. Coming
      back, it starts anew: with its row of `x`, or with what its node event carries.

    Feature rows count through `x [N, dn]` followed by `x_update`, one row for each node event.

    Attributes:
        ptr: int64 [N + 1], node u's changes are `ptr[u]:ptr[u + 1]`.
        event: int64 [changes], the position of each, rising within a node.
        row: int64 [changes], the feature row that holds from then on.
        there: bool [changes], whether the node is there from then on.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(
        ...     src=[0, 1, 1, 0], dst=[1, 1, 1, 1], t=[0, 1, 2, 3], kind=[0, 1, 3, 0],
        ...     x=[[1.0], [2.0]], x_update=[[9.0]],
        ... )
        >>> history = NodeHistory.build(stream)
        >>> history.feature_row([1, 1, 1], cut=[1, 2, 3]).tolist()
        [1, 2, 1]
        >>> history.alive([1, 1, 1, 0], cut=[2, 3, 4, 3]).tolist()
        [True, False, True, True]
    """

    ptr: Int64
    event: Int64
    row: Int64
    there: Bools

    @classmethod
    def build(cls, stream: EventStream) -> NodeHistory:
        """Gather the changes of each node; the result is as long as they are many."""
        if stream.kind is None or not np.any(
            (stream.kind == EventKind.NODE) | (stream.kind == EventKind.NODE_DELETED)
        ):
            empty = np.empty(0, np.int64)
            ptr = np.zeros(stream.num_nodes + 1, np.int64)
            return cls(ptr, empty, empty, np.empty(0, np.bool_))
        has_features = stream.x_update is not None
        columns = np.asarray(stream.src), np.asarray(stream.dst), np.asarray(stream.kind)
        first = stream.num_nodes if has_features else -1
        ptr = np.zeros(stream.num_nodes + 1, np.int64)
        nothing = np.empty(0, np.int64)
        _scan(*columns, first, ptr, nothing, nothing, np.empty(0, np.bool_), False)
        ptr = np.cumsum(ptr)
        event, row = np.empty(ptr[-1], np.int64), np.empty(ptr[-1], np.int64)
        there = np.empty(ptr[-1], np.bool_)
        _scan(*columns, first, ptr[:-1].copy(), event, row, there, True)
        return cls(ptr, event, row, there)

    @property
    def changes(self) -> bool:
        """Whether anything ever changes: if not, nothing need be looked up."""
        return len(self.event) > 0

    def feature_row(self, nodes: ArrayLike, cut: ArrayLike) -> Int64:
        """The row of features that each node has at its cut.

        Args:
            nodes: [B].
            cut: one position for all, or [B].
        """
        asked = as_nodes(nodes, len(self.ptr) - 1)
        found: Int64 = _rows(self.ptr, self.event, self.row, asked, as_cuts(cut, len(asked)))
        return found

    def alive(self, nodes: ArrayLike, cut: ArrayLike) -> Bools:
        """Whether each node is there at its cut: not deleted, or back since.

        Args:
            nodes: [B].
            cut: one position for all, or [B].
        """
        asked = as_nodes(nodes, len(self.ptr) - 1)
        found: Bools = _alive(self.ptr, self.event, self.there, asked, as_cuts(cut, len(asked)))
        return found


@njit(cache=True, nogil=True)
def _scan(
    src: Int64,
    dst: Int64,
    kind: NDArray[np.uint8],
    first_update: int,
    free: Int64,
    event: Int64,
    row: Int64,
    there: Bools,
    write: bool,
) -> None:
    """Count each node's changes into `free[u + 1]`, or write them from `free[u]` on."""
    nodes = len(free) - 1 if not write else len(free)
    gone = np.zeros(nodes, np.bool_)
    current = np.arange(nodes)  # the feature row that holds now
    updates = 0
    for e in range(len(kind)):
        u, v = src[e], dst[e]
        if kind[e] == _NODE:
            if first_update >= 0:
                current[u] = first_update + updates
            updates += 1
            gone[u] = False
        elif kind[e] == _NODE_DELETED:
            current[u] = u
            gone[u] = True
        elif kind[e] != _INTERACTION or not (gone[u] or gone[v]):
            continue
        # An interaction changes only those of its ends that were gone.
        for side in range(2):
            w = u if side == 0 else v
            if side == 1 and v == u:
                continue
            if kind[e] == _INTERACTION:
                if not gone[w]:
                    continue
                gone[w] = False
            if write:
                event[free[w]], row[free[w]], there[free[w]] = e, current[w], not gone[w]
                free[w] += 1
            else:
                free[w + 1] += 1


@njit(cache=True, nogil=True)
def _latest(ptr: Int64, event: Int64, node: int, cut: int) -> int:
    """The place of a node's last change before the cut, or -1."""
    low, high = ptr[node], ptr[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if event[middle] < cut:
            low = middle + 1
        else:
            high = middle
    return low - 1 if low > ptr[node] else -1


@njit(cache=True, nogil=True)
def _rows(ptr: Int64, event: Int64, row: Int64, nodes: Int64, cuts: Int64) -> Int64:
    found = np.empty(len(nodes), np.int64)
    for i in range(len(nodes)):
        place = _latest(ptr, event, nodes[i], cuts[i if len(cuts) > 1 else 0])
        found[i] = nodes[i] if place < 0 else row[place]
    return found


@njit(cache=True, nogil=True)
def _alive(ptr: Int64, event: Int64, there: Bools, nodes: Int64, cuts: Int64) -> Bools:
    found = np.empty(len(nodes), np.bool_)
    for i in range(len(nodes)):
        place = _latest(ptr, event, nodes[i], cuts[i if len(cuts) > 1 else 0])
        found[i] = place < 0 or there[place]
    return found
