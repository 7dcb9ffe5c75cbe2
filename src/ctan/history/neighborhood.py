"""What a model reads to embed the asked nodes: their sampled neighbours, hop by hop, once each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctan.errors import ProtocolError, unknown_name
from ctan.history._checks import as_column, as_cuts, as_nodes, at_least
from ctan.history._expand import expand, group_pairs, reach
from ctan.history.index import TemporalIndex

_STRATEGIES = ("recent", "uniform")


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The asked nodes and all that is sampled around them; one entry for each distinct key.

    The key is (node, cut), or (node, cut, time) where queries carry a time: two queries about one
    node share an entry exactly when they may see the same. A neighbour inherits the cut and time
    of the entry it was reached from, and all that reach it with one key share its entry, across
    hops too: it stands at its smallest hop. With `own_entry`, having been asked is in the key too:
    no neighbour shares an entry with an asked node.

    Entries are ordered by hop, within a hop by first appearance, so "within h hops" is the prefix
    of length `sizes[h]`, and step l of L needs only the first `sizes[L - l]`.

    Attributes:
        node: int64 [M], the node of each entry.
        sizes: number of entries within 0, 1, ..., hops hops; `sizes[-1]` is M.
        row: int64 [Q], the entry of each asked node.
        cut: int64 [M], what each entry sees: the events at positions < cut.
        time: [M], the query time of each entry, in its own dtype; None where there are no times.
        slot: int64 [T, K], the entry of each neighbour, most recent first, for the T entries
            within hops - 1 hops. Absent are the columns >= `count`; they hold 0.
        event: int64 [T, K], the position of the event that made it a neighbour; 0 where absent.
        count: int64 [M], min(k, visible entries) for each entry, also the outermost.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 0], dst=[1, 2], t=[0, 1])
        >>> hood = neighborhood(TemporalIndex.build(stream), [0], cut=2, k=5, hops=1)
        >>> hood.hops, len(hood), hood.node[hood.slot[0]]
        (1, 3, array([2, 1]))
    """

    node: NDArray[np.int64]
    sizes: tuple[int, ...]
    row: NDArray[np.int64]
    cut: NDArray[np.int64]
    time: NDArray[Any] | None
    slot: NDArray[np.int64]
    event: NDArray[np.int64]
    count: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.node)

    @property
    def hops(self) -> int:
        """How many hops the neighbourhood goes out from the asked nodes."""
        return len(self.sizes) - 1


def neighborhood(
    index: TemporalIndex,
    nodes: ArrayLike,
    cut: ArrayLike,
    *,
    k: int,
    hops: int,
    time: ArrayLike | None = None,
    strategy: str = "recent",
    seed: int = 0,
    own_entry: bool = False,
) -> Neighborhood:
    """Sample the neighbourhood of the asked nodes.

    Args:
        index: who met whom.
        nodes: [Q], the asked nodes; repeats allowed.
        cut: one position for all, or [Q].
        k: neighbours of an entry at most.
        hops: how many hops out; 0 gives the asked nodes alone.
        time: [Q], query times, where the model reads them; they part entries, not visibility.
        strategy: "recent" (the last k) or "uniform" (any k, see `TemporalIndex.uniform`).
        seed: names the draw of "uniform".
        own_entry: give the asked nodes entries of their own, apart from those of the same nodes met
            as neighbours, of others or of themselves. So what enters at asked nodes only is seen
            by no other question.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 1, 2], dst=[1, 2, 3], t=[0, 1, 2])
        >>> hood = neighborhood(TemporalIndex.build(stream), [3, 3], cut=3, k=2, hops=2)
        >>> hood.node, hood.sizes, hood.row
        (array([3, 2, 1]), (1, 2, 3), array([0, 0]))
        >>> hood.slot, hood.count
        (array([[1, 0],
               [0, 2]]), array([1, 2, 2]))
    """
    asked = as_nodes(nodes, index.num_nodes)
    at_least("k", k, 1)
    at_least("hops", hops, 0)
    if strategy not in _STRATEGIES:
        raise unknown_name("sampling strategy", strategy, _STRATEGIES)
    cuts = as_cuts(cut, len(asked))
    times = None if time is None else _as_times(time, len(asked))

    group, groups = np.zeros(len(asked), np.int64), cuts
    first = np.zeros(1, np.int64)
    if times is not None or np.ndim(cut):
        cuts = np.broadcast_to(cuts, len(asked)).copy()
        bits = np.zeros(len(asked), np.int64) if times is None else times.view(np.int64)
        group, first = group_pairs(cuts, bits)
        groups = cuts[first]
    heir = np.arange(len(groups))
    if own_entry:  # each group twice: the asked stand in the second, their neighbours in the first
        group = group + len(groups)
        groups, first, heir = (np.concatenate([half, half]) for half in (groups, first, heir))

    node, member, row, sizes, slot, event, count = expand(
        index.ptr,
        index.neighbor,
        index.event,
        index.until,
        asked,
        group,
        groups,
        heir,
        k,
        hops,
        strategy == "uniform",
        seed,
        index.near,
    )
    return Neighborhood(
        node=node,
        sizes=tuple(sizes.tolist()),
        row=row,
        cut=groups[member],
        time=None if times is None else times[first[member]],
        slot=slot,
        event=event,
        count=count,
    )


def ball(hood: Neighborhood, rows: ArrayLike, hops: int) -> NDArray[np.int64]:
    """Entries within `hops` hops of the given entries, along their slots; rising, each once.

    Args:
        hood: a neighbourhood whose slots reach that far.
        rows: [R], entries to start from.
        hops: the radius; 0 gives the rows themselves.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 1, 2], dst=[1, 2, 3], t=[0, 1, 2])
        >>> hood = neighborhood(TemporalIndex.build(stream), [0], cut=3, k=5, hops=3)
        >>> ball(hood, hood.row, 2)
        array([0, 1, 2])
    """
    at_least("hops", hops, 0)
    start = as_nodes(rows, len(hood), "rows")
    inside, missing = reach(hood.slot, hood.count, start, len(hood), hops)
    if missing >= 0:
        raise ProtocolError(
            f"a ball of {hops} hops needs the neighbours of entry {missing}, which lies on the rim "
            f"of a neighbourhood of {hood.hops} hops: sample more hops"
        )
    return np.flatnonzero(inside)


def _as_times(time: ArrayLike, rows: int) -> NDArray[Any]:
    """Query times as int64 or float64, so that equal times have equal bits."""
    times = np.asarray(time)
    if times.shape != (rows,):
        raise ProtocolError(f"time: expected {rows} query times, got shape {times.shape}")
    if times.dtype.kind in "iu":
        return as_column(times, "time")
    return np.ascontiguousarray(times, np.float64) + 0.0  # -0.0 becomes 0.0
