"""Which events go together, and what each query about them may see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctan.errors import ProtocolError
from ctan.events.kinds import EventKind
from ctan.history._checks import as_column, at_least, check_range
from ctan.history.index import TemporalIndex

if TYPE_CHECKING:
    from ctan.events import EventStream

Cut = int | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Batch:
    """Events handled at once, and their visibility.

    Attributes:
        events: int64 [B], positions in the stream.
        cut: what a query about each event sees before it is observed; one position, or [B].
        after: what it sees once this batch was observed; one position, or [B].

    Example:
        >>> next(chronological(0, 5, 2))
        Batch(events=array([0, 1]), cut=0, after=2)
    """

    events: NDArray[np.int64]
    cut: Cut
    after: Cut

    def __len__(self) -> int:
        return len(self.events)


def chronological(lo: int, hi: int, size: int) -> Iterator[Batch]:
    """Batches of `size` events in a row, each blind to itself: the visibility `stale`.

    Args:
        lo: first position.
        hi: one past the last position.
        size: events in a batch; the last may have fewer.

    Example:
        >>> [(b.events.tolist(), b.cut, b.after) for b in chronological(2, 7, 3)]
        [([2, 3, 4], 2, 5), ([5, 6], 5, 7)]
    """
    check_range(lo, hi, hi)
    at_least("batch size", size, 1)
    for start in range(lo, hi, size):
        stop = min(start + size, hi)
        yield Batch(np.arange(start, stop), start, stop)


def time_groups(stream: EventStream, lo: int, hi: int) -> Iterator[Batch]:
    """One batch for each distinct time: the visibility `causal`, for models that remember.

    A query then sees every event of strictly earlier time and none of equal time, in the history
    and in the state alike.

    Args:
        stream: the events.
        lo: first position; it must not part events of equal time, since the state has seen all
            before it.
        hi: one past the last position.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 1, 2], dst=[1, 2, 3], t=[5, 5, 9])
        >>> [(b.events.tolist(), b.cut, b.after) for b in time_groups(stream, 0, 3)]
        [([0, 1], 0, 2), ([2], 2, 3)]
    """
    t = np.asarray(stream.t)
    check_range(lo, hi, len(t))
    if 0 < lo < hi and t[lo - 1] == t[lo]:
        raise ProtocolError(
            f"positions {lo - 1} and {lo} have the same time {t[lo]}, so what came before position "
            f"{lo} leaks into a causal batch that starts there: split between distinct times"
        )
    starts = lo + 1 + np.flatnonzero(t[lo + 1 : hi] != t[lo : max(hi - 1, lo)])
    bounds = [lo, *starts.tolist(), hi] if lo < hi else [lo]
    for start, stop in pairwise(bounds):
        yield Batch(np.arange(start, stop), start, stop)


def causal(
    stream: EventStream, index: TemporalIndex, lo: int, hi: int, size: int
) -> Iterator[Batch]:
    """Batches of fixed size whose queries see every event of strictly earlier time.

    The same cuts as `time_groups`, event by event, at any batch size: for models without memory.
    After it was observed, an event is seen with all of its own time that lie before `hi`.

    Args:
        stream: the events.
        index: its index.
        lo: first position.
        hi: one past the last position.
        size: events in a batch; the last may have fewer.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 1, 2], dst=[1, 2, 3], t=[5, 5, 9])
        >>> batch = next(causal(stream, TemporalIndex.build(stream), 0, 3, size=3))
        >>> batch.cut, batch.after
        (array([0, 0, 2]), array([2, 2, 3]))
    """
    t = np.asarray(stream.t)
    check_range(lo, hi, len(t))
    at_least("batch size", size, 1)
    for start in range(lo, hi, size):
        stop = min(start + size, hi)
        after = np.minimum(np.searchsorted(t, t[start:stop], side="right"), hi)
        yield Batch(np.arange(start, stop), index.cut_at(t[start:stop]), after)


def parted_at_deletions(stream: EventStream, batches: Iterable[Batch]) -> Iterator[Batch]:
    """The same batches, parted where an event would follow the deletion of one of its nodes.

    So no batch holds what a node did before it was deleted and what it does after: a model that
    remembers can forget it in between. Each part sees the parts before it, also under `causal`:
    there a deletion parts the events of its time.

    Args:
        stream: the events.
        batches: of consecutive events, with one cut each.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(
        ...     src=[0, 0, 1, 0], dst=[1, 0, 2, 1], t=[0, 1, 2, 3], kind=[0, 3, 0, 0]
        ... )
        >>> parts = parted_at_deletions(stream, chronological(0, 4, 4))
        >>> [(batch.events.tolist(), batch.cut, batch.after) for batch in parts]
        [([0, 1, 2], 0, 3), ([3], 3, 4)]
    """
    assert stream.kind is not None
    deletes = np.asarray(stream.kind) == EventKind.NODE_DELETED
    for batch in batches:
        first, last = int(batch.events[0]), int(batch.events[-1]) + 1
        if not deletes[first:last].any():
            yield batch
            continue
        bounds = [first]
        gone: set[int] = set()
        for e in range(first, last):
            if int(stream.src[e]) in gone or int(stream.dst[e]) in gone:
                bounds.append(e)
                gone.clear()
            if deletes[e]:
                gone.add(int(stream.src[e]))
        cuts = [batch.cut, *bounds[1:]]
        ends = [*bounds[1:], last]
        for cut, start, stop in zip(cuts, bounds, ends, strict=True):
            after = batch.after if stop == last else stop
            yield Batch(np.arange(start, stop), cut, after)


@dataclass(frozen=True, eq=False)
class Lockstep:
    """Batches over a union of disjoint graphs, prepared once and dealt out anew each epoch.

    Step r of a segment holds the r-th event of each of its graphs, so B graphs of n events cost n
    steps, not B * n. Each query sees its own graph up to its own position, ties by position.

    Attributes:
        ids: int64 [G], the graphs that have events, rising.
        ptr: int64 [G + 1], graph ids[i]'s events are `order[ptr[i]:ptr[i + 1]]`.
        order: int64 [E], positions by graph, in stream order within each.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(
        ...     src=[0, 3, 1], dst=[1, 4, 2], t=[0, 0, 1], graph=[0, 1, 0]
        ... )
        >>> (segment,) = Lockstep.build(stream).segments([1, 0], graph_batch=2)
        >>> [batch.events.tolist() for batch in segment]
        [[1, 0], [2]]
    """

    ids: NDArray[np.int64]
    ptr: NDArray[np.int64]
    order: NDArray[np.int64]

    @classmethod
    def build(cls, stream: EventStream) -> Lockstep:
        """Gather the events of each graph; they need not be contiguous in the stream."""
        if stream.graph is None:
            raise ProtocolError(
                "lockstep batches need a union of disjoint graphs, but this stream names none: "
                "give it a graph column, or use chronological batches"
            )
        graph = np.asarray(stream.graph)
        order = np.argsort(graph, kind="stable")
        ids, starts = np.unique(graph[order], return_index=True)
        return cls(ids, np.append(starts, len(graph)), order)

    def segments(self, graphs: ArrayLike, graph_batch: int) -> Iterator[list[Batch]]:
        """Deal out graphs in the given order, `graph_batch` at once.

        Args:
            graphs: graph ids, in the order wanted.
            graph_batch: graphs in a segment; the last may have fewer.

        Yields:
            The steps of each segment, one batch each; a graph that has ended is left out.
        """
        at_least("graph_batch", graph_batch, 1)
        wanted = as_column(graphs, "graphs")
        known = np.isin(wanted, self.ids)
        if not known.all():
            strange = wanted[~known]
            raise ProtocolError(
                f"{len(strange)} of {len(wanted)} graphs have no events in this stream; "
                f"the first is graph {strange[0]}"
            )
        place = np.searchsorted(self.ids, wanted)
        starts, lengths = self.ptr[place], np.diff(self.ptr)[place]
        for first in range(0, len(wanted), graph_batch):
            group = slice(first, first + graph_batch)
            yield list(self._steps(starts[group], lengths[group]))

    def _steps(self, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Iterator[Batch]:
        shortest = lengths.min()
        for r in range(lengths.max()):
            alive = starts if r < shortest else starts[lengths > r]
            events = self.order[alive + r]
            yield Batch(events, events, events + 1)


def lockstep(stream: EventStream, graphs: ArrayLike, graph_batch: int) -> Iterator[list[Batch]]:
    """`Lockstep.build(stream).segments(graphs, graph_batch)`, for a single pass.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 2], dst=[1, 3], t=[0, 0], graph=[0, 1])
        >>> [[b.events.tolist() for b in segment] for segment in lockstep(stream, [0, 1], 1)]
        [[[0]], [[1]]]
    """
    return Lockstep.build(stream).segments(graphs, graph_batch)
