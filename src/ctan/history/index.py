"""Who met whom, and when: a read-only temporal adjacency (T-CSR) with exact lookups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ctan.errors import ProtocolError
from ctan.history._build import in_memory, index_columns
from ctan.history._checks import as_cuts, as_nodes, at_least
from ctan.history._segment import AHEAD, choose, count_visible, fetch_near
from ctan.history._stored import stored_index

if TYPE_CHECKING:
    from ctan.events import EventStream

Ints = NDArray[np.integer[Any]]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Slots:
    """Neighbours of B queries in k columns, most recent first.

    Attributes:
        node: int64 [B, k], the neighbours; -1 where there is none.
        event: int64 [B, k], the position of the event that made each a neighbour; -1 where absent.
        count: int64 [B], how many of a row's columns are present (they come first).

    Example:
        >>> Slots(np.array([[4, -1]]), np.array([[0, -1]]), np.array([1])).count
        array([1])
    """

    node: NDArray[np.int64]
    event: NDArray[np.int64]
    count: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TemporalIndex:
    """For each node its incident events in stream order; built once, never changed.

    The rule: an interaction gives one entry at `src` and one at `dst`; a self-loop gives one entry
    at its node; a repeated edge gives one entry for each of its events. Events of any other kind
    give none. Every lookup names a *cut*: it sees exactly the events at positions < cut, so it
    sees an entry until it sees its deletion: of the edge (every earlier event from the same `src`
    to the same `dst`) or of a node (every earlier event at it).

    Attributes:
        ptr: int64 [N + 1], node u's entries are `ptr[u]:ptr[u + 1]`.
        neighbor: [entries], the other end; int32 where nodes and positions fit, else int64.
        event: [entries], the event's position in the stream, rising within a node; same dtype.
        t: [E], the stream's times, in their own dtype.
        until: int64 [E], the position that deletes an event, the largest int64 where none does;
            empty where the stream deletes nothing.
        near: int64 [N], how many entries the last lookup of each node saw: where the next one
            starts to search. No answer depends on it.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 0, 2], dst=[1, 2, 2], t=[10, 20, 20])
        >>> index = TemporalIndex.build(stream)
        >>> index.recent([0, 2], cut=3, k=2).node
        array([[2, 1],
               [2, 0]])
        >>> index.degree([0, 2], cut=index.cut_at(20)).tolist()
        [1, 0]
    """

    ptr: NDArray[np.int64]
    neighbor: Ints
    event: Ints
    t: NDArray[Any]
    until: NDArray[np.int64]
    near: NDArray[np.int64]

    @classmethod
    def build(cls, stream: EventStream) -> TemporalIndex:
        """Index a stream: O(E) time, and hardly more memory than the result.

        A stream of a store whose index was kept (see `store_index`) has it mapped instead.
        """
        columns = stored_index(stream) or index_columns(stream, in_memory)
        near = np.zeros(len(columns.ptr) - 1, np.int64)
        return cls(*columns[:3], np.asarray(stream.t), columns.until, near)

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return len(self.ptr) - 1

    @property
    def num_events(self) -> int:
        """Number of events E of the stream, of all kinds."""
        return len(self.t)

    def cut_at(self, times: ArrayLike) -> NDArray[np.int64]:
        """The cut that sees every event of strictly earlier time, for each of `times`.

        Exact: an integer column is never compared through a float.
        """
        times = np.asarray(times)
        if np.isnan(times).any():
            raise ProtocolError("a query time is NaN; each must be a number to say what it may see")
        if self.t.dtype.kind == "i" and times.dtype.kind == "f":
            # t < x for a whole t means t < ceil(x); searchsorted would copy all of t as floats.
            whole = np.ceil(times)
            beyond = whole >= 2.0**63
            whole = np.where(beyond, 0.0, np.maximum(whole, -(2.0**63))).astype(np.int64)
            return np.where(beyond, self.num_events, np.searchsorted(self.t, whole))
        return np.asarray(np.searchsorted(self.t, times.astype(self.t.dtype)), np.int64)

    def degree(self, nodes: ArrayLike, cut: ArrayLike) -> NDArray[np.int64]:
        """Number of entries each node sees before its cut.

        Args:
            nodes: [B].
            cut: one position for all, or [B].
        """
        asked = as_nodes(nodes, self.num_nodes)
        cuts = as_cuts(cut, len(asked))
        degree: Int64 = _degree(self.ptr, self.event, self.until, asked, cuts)
        return degree

    def recent(self, nodes: ArrayLike, cut: ArrayLike, k: int) -> Slots:
        """The last k entries before the cut.

        Args:
            nodes: [B].
            cut: one position for all, or [B].
            k: how many at most.
        """
        return self._select(nodes, cut, k, uniform=False, seed=0)

    def uniform(self, nodes: ArrayLike, cut: ArrayLike, k: int, seed: int) -> Slots:
        """min(k, n) distinct entries of the n visible ones, every subset equally likely.

        A draw depends on (seed, node, cut) alone: not on the batch, nor on earlier calls.

        Args:
            nodes: [B].
            cut: one position for all, or [B].
            k: how many at most.
            seed: names the draw; another epoch wants another seed.
        """
        return self._select(nodes, cut, k, uniform=True, seed=seed)

    def _select(self, nodes: ArrayLike, cut: ArrayLike, k: int, uniform: bool, seed: int) -> Slots:
        asked = as_nodes(nodes, self.num_nodes)
        at_least("k", k, 1)
        cuts = as_cuts(cut, len(asked))
        return Slots(
            *_slots(
                *(self.ptr, self.neighbor, self.event, self.until),
                *(asked, cuts, k, uniform, seed, self.near),
            )
        )


@njit(cache=True, nogil=True)
def _degree(ptr: Int64, event: Ints, until: Int64, nodes: Int64, cuts: Int64) -> NDArray[np.int64]:
    degree = np.empty(len(nodes), np.int64)
    for i in range(len(nodes)):
        start, stop = ptr[nodes[i]], ptr[nodes[i] + 1]
        cut = cuts[i if len(cuts) > 1 else 0]
        degree[i] = count_visible(event, until, start, stop, cut, stop - start)
    return degree


@njit(cache=True, nogil=True)
def _slots(
    ptr: Int64,
    neighbor: Ints,
    event: Ints,
    until: Int64,
    nodes: Int64,
    cuts: Int64,
    k: int,
    uniform: bool,
    seed: int,
    near: Int64,
) -> tuple[Int64, Int64, Int64]:
    node_out = np.empty((len(nodes), k), np.int64)
    event_out = np.empty((len(nodes), k), np.int64)
    count = np.empty(len(nodes), np.int64)
    chosen = np.empty(k, np.int64)
    for i in range(len(nodes)):
        u, cut = nodes[i], cuts[i if len(cuts) > 1 else 0]
        if i + AHEAD < len(nodes):
            fetch_near(ptr, neighbor, event, near, nodes[i + AHEAD], k)
        n = choose(event, until, ptr[u], ptr[u + 1], cut, k, uniform, seed, u, near, chosen)
        for j in range(n):
            node_out[i, j] = neighbor[chosen[j]]
            event_out[i, j] = event[chosen[j]]
        for j in range(n, k):
            node_out[i, j] = -1
            event_out[i, j] = -1
        count[i] = n
    return node_out, event_out, count
