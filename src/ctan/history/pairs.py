"""How often and when two nodes met before a cut: exact, for any pair and any cut."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ctan.errors import ProtocolError
from ctan.events.kinds import EventKind
from ctan.history._build import first_deletion
from ctan.history._checks import as_cuts, as_nodes, interactions

if TYPE_CHECKING:
    from ctan.events import EventStream

Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Met:
    """The earlier events of B pairs.

    Attributes:
        count: int64 [B], how many.
        first: int64 [B], position of the first; -1 where there is none.
        last: int64 [B], position of the last; -1 where there is none.

    Example:
        >>> Met(np.array([2]), np.array([0]), np.array([5])).count
        array([2])
    """

    count: Int64
    first: Int64
    last: Int64


@dataclass(frozen=True, eq=False)
class PairIndex:
    """For each pair (src, dst) the positions of its events; built once, never changed.

    A pair is directed, as its events are. Every lookup names a cut and sees exactly the
    interactions at positions < cut that were not deleted before it, as `TemporalIndex` does.

    Attributes:
        ptr: int64 [N + 1], the pairs of source u are `ptr[u]:ptr[u + 1]`.
        dst: int64 [pairs], their destinations, rising within a source.
        start: int64 [pairs + 1], the events of pair p are `event[start[p]:start[p + 1]]`.
        event: int64 [interactions], positions, rising within a pair.
        t: [E], the stream's times.
        until: int64 [E], the position that deletes an event; empty where nothing is deleted.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 0, 0], dst=[1, 2, 1], t=[10, 20, 30])
        >>> pairs = PairIndex.build(stream)
        >>> pairs.met([0, 0, 1], [1, 1, 0], cut=[3, 1, 3]).count.tolist()
        [2, 1, 0]
    """

    ptr: Int64
    dst: Int64
    start: Int64
    event: Int64
    t: NDArray[Any]
    until: Int64

    @classmethod
    def build(cls, stream: EventStream) -> PairIndex:
        """Sort the interactions by pair, stably."""
        src, dst, counted = np.asarray(stream.src), np.asarray(stream.dst), interactions(stream)
        kept = np.flatnonzero(counted) if len(counted) else np.arange(len(src))
        order = kept[np.lexsort((dst[kept], src[kept]))]
        u, v = src[order], dst[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (u[1:] != u[:-1]) | (v[1:] != v[:-1])
        first = np.flatnonzero(new)
        until = np.empty(0, np.int64)
        if stream.kind is not None and np.any(stream.kind >= EventKind.EDGE_DELETED):
            until = first_deletion(src, dst, np.asarray(stream.kind), stream.num_nodes)
        ptr = np.searchsorted(u[first], np.arange(stream.num_nodes + 1))
        columns = (ptr, v[first], np.append(first, len(order)), order, until)
        for column in columns:
            column.flags.writeable = False
        return cls(*columns[:4], np.asarray(stream.t), until)

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return len(self.ptr) - 1

    def met(self, src: ArrayLike, dst: ArrayLike, cut: ArrayLike) -> Met:
        """The earlier events of each pair.

        Args:
            src: [B], sources.
            dst: [B], destinations.
            cut: one position for all, or [B].
        """
        sources = as_nodes(src, self.num_nodes, "src")
        destinations = as_nodes(dst, self.num_nodes, "dst")
        if len(sources) != len(destinations):
            raise ProtocolError(
                f"{len(sources)} sources but {len(destinations)} destinations: expected pairs"
            )
        cuts = as_cuts(cut, len(sources))
        table = self.ptr, self.dst, self.start, self.event, self.until
        return Met(*_met(*table, sources, destinations, cuts))

    def distinct(self, cut: ArrayLike) -> Int64:
        """How many distinct pairs met before each cut; deletions take none back.

        Args:
            cut: [B].
        """
        pairs: Int64 = self._running[0][np.asarray(cut)]
        return pairs

    def events(self, cut: ArrayLike) -> Int64:
        """How many interactions lie before each cut; deletions take none back.

        Args:
            cut: [B].
        """
        events: Int64 = self._running[1][np.asarray(cut)]
        return events

    def mean_gap(self, cut: ArrayLike) -> NDArray[np.float64]:
        """Mean over the pairs met before each cut of a pair's mean time between its events.

        A pair that met once has a gap of 0; so has a past without pairs. Deletions take no pair
        and no event back.

        Args:
            cut: [B].
        """
        pairs = self.distinct(cut)
        gaps: NDArray[np.float64] = self._running[2][np.asarray(cut)] / np.maximum(pairs, 1)
        return gaps

    @cached_property
    def _running(self) -> tuple[Int64, Int64, NDArray[np.float64]]:
        """Before each cut [E + 1]: distinct pairs, interactions, and the sum of mean gaps."""
        pair = np.full(len(self.t), -1, np.int64)
        pair[self.event] = np.repeat(np.arange(len(self.dst)), np.diff(self.start))
        running: tuple[Int64, Int64, NDArray[np.float64]] = _running(pair, self.t, len(self.dst))
        return running


@njit(cache=True, nogil=True)
def _met(
    ptr: Int64,
    dst: Int64,
    start: Int64,
    event: Int64,
    until: Int64,
    sources: Int64,
    destinations: Int64,
    cuts: Int64,
) -> tuple[Int64, Int64, Int64]:
    count = np.zeros(len(sources), np.int64)
    first, last = np.full(len(sources), -1, np.int64), np.full(len(sources), -1, np.int64)
    for i in range(len(sources)):
        low, stop = ptr[sources[i]], ptr[sources[i] + 1]
        wanted, high = destinations[i], stop
        while low < high:
            middle = (low + high) >> 1
            if dst[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == stop or dst[low] != wanted:
            continue
        pair, cut = low, cuts[i if len(cuts) > 1 else 0]
        low, high = start[pair], start[pair + 1]
        while low < high:
            middle = (low + high) >> 1
            if event[middle] < cut:
                low = middle + 1
            else:
                high = middle
        end, alive = low, start[pair]
        if len(until):
            # What deletes an event deletes the pair's earlier ones too: the dead are a prefix.
            high = end
            while alive < high:
                middle = (alive + high) >> 1
                if until[event[middle]] < cut:
                    alive = middle + 1
                else:
                    high = middle
        if alive < end:
            count[i], first[i], last[i] = end - alive, event[alive], event[end - 1]
    return count, first, last


@njit(cache=True, nogil=True)
def _running(pair: Int64, t: NDArray[Any], pairs: int) -> tuple[Int64, Int64, NDArray[np.float64]]:
    distinct, events = np.zeros(len(t) + 1, np.int64), np.zeros(len(t) + 1, np.int64)
    gaps = np.zeros(len(t) + 1, np.float64)
    met, started, gap = np.zeros(pairs, np.int64), np.zeros(pairs, t.dtype), np.zeros(pairs)
    for e in range(len(t)):
        distinct[e + 1], events[e + 1], gaps[e + 1] = distinct[e], events[e], gaps[e]
        p = pair[e]
        if p < 0:
            continue
        events[e + 1] += 1
        if met[p] == 0:
            distinct[e + 1] += 1
            started[p] = t[e]
        else:
            mean = (t[e] - started[p]) / met[p]
            gaps[e + 1] += mean - gap[p]
            gap[p] = mean
        met[p] += 1
    return distinct, events, gaps
