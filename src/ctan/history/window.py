"""The neighbours of the recent past: all that a node met within a window of time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ctan.errors import ProtocolError
from ctan.history._checks import as_cuts, as_nodes, at_least
from ctan.history._segment import prefix_end
from ctan.history.index import TemporalIndex

Ints = NDArray[np.integer[Any]]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Window:
    """The neighbours of B queries, as many as each has: one row after another.

    Attributes:
        node: int64 [S], the neighbours of all queries, most recent first; once for each event.
        ptr: int64 [B + 1], query i's neighbours are `node[ptr[i]:ptr[i + 1]]`.

    Example:
        >>> Window(np.array([4, 2, 7]), np.array([0, 2, 2, 3])).count.tolist()
        [2, 0, 1]
    """

    node: NDArray[np.int64]
    ptr: NDArray[np.int64]

    @property
    def count(self) -> NDArray[np.int64]:
        """Number of neighbours of each query, [B]."""
        return np.diff(self.ptr)


@dataclass(frozen=True)
class TimeWindow:
    """Which past to look up: the events later than `span` before the time of the question.

    Attributes:
        span: length of the window, in the stream's time.
        links: the most events of one node, the latest ones; hubs would hold thousands.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 0, 0], dst=[1, 2, 3], t=[10, 20, 30])
        >>> index = TemporalIndex.build(stream)
        >>> TimeWindow(span=25).look(index, [0, 1], cut=3, time=[40, 40]).node.tolist()
        [3, 2]
    """

    span: float = math.inf
    links: int = 2000

    def __post_init__(self) -> None:
        at_least("links", self.links, 1)
        if not self.span > 0:
            raise ProtocolError(f"span is {self.span}: expected a length of time above 0")

    def look(
        self, index: TemporalIndex, nodes: ArrayLike, cut: ArrayLike, time: ArrayLike
    ) -> Window:
        """Look up the neighbours of each node.

        Args:
            index: who met whom.
            nodes: [B].
            cut: one position for all, or [B].
            time: [B], the times of the questions.
        """
        asked = as_nodes(nodes, index.num_nodes)
        cuts, times = as_cuts(cut, len(asked)), np.ascontiguousarray(time)
        if times.shape != asked.shape:
            raise ProtocolError(f"time: expected {len(asked)} query times, got {times.shape}")
        columns = index.ptr, index.neighbor, index.event, index.until, index.t
        return Window(*_look(*columns, asked, cuts, times, self.span, self.links))


@njit(cache=True, nogil=True)
def _look(
    ptr: Int64,
    neighbor: Ints,
    event: Ints,
    until: Int64,
    t: NDArray[Any],
    nodes: Int64,
    cuts: Int64,
    times: NDArray[Any],
    span: float,
    links: int,
) -> tuple[Int64, Int64]:
    bounds = np.zeros(len(nodes) + 1, np.int64)
    end, most = np.empty(len(nodes), np.int64), 0
    for i in range(len(nodes)):
        cut = cuts[i if len(cuts) > 1 else 0]
        end[i] = prefix_end(event, ptr[nodes[i]], ptr[nodes[i] + 1], cut)
        most += min(links, end[i] - ptr[nodes[i]])
    found = np.empty(most, np.int64)
    total = 0
    for i in range(len(nodes)):
        cut = cuts[i if len(cuts) > 1 else 0]
        full = total + links
        for place in range(end[i] - 1, ptr[nodes[i]] - 1, -1):
            e = event[place]
            # A difference of whole times is exact; a bound made from them and a float is not.
            if total == full or times[i] - t[e] >= span:
                break
            if len(until) == 0 or until[e] >= cut:
                found[total] = neighbor[place]
                total += 1
        bounds[i + 1] = total
    return found[:total].copy(), bounds
