"""Destinations that did not happen, drawn as the paper draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ctan.compiled.counter import below, mix
from ctan.errors import ProtocolError, unknown_name
from ctan.history._candidates import lower
from ctan.history._checks import (
    as_column,
    as_nodes,
    as_types,
    at_least,
    check_range,
    interactions,
)
from ctan.history.nodes import NodeHistory

if TYPE_CHECKING:
    from ctan.events import EventStream

Int64 = NDArray[np.int64]

_POOLS = ("destinations", "nodes")
_ATTEMPTS = 100


class RandomNegatives:
    """Negative destinations, uniform over a pool, none of them a known edge of its source.

    A negative of source u is uniform over pool minus {v : (u, v) known}: drawn directly as the
    r-th candidate that u does not know, r uniform, so nothing is redrawn and a source that knows
    nearly all of the pool costs no more than another. An edge (u, v) is directed here, from `src`
    to `dst`. The draw is a hash of (seed, epoch, position of the event, column): it does not
    change with batch size, order of evaluation or process.

    Args:
        stream: the events; only interactions count.
        pool_end: the pool is made of the events at positions < pool_end.
        known_end: edges of events at positions < known_end are known. An event at or after it may
            draw its own destination.
        reject: whether known edges are kept out; without it every draw is uniform over the pool.
        pool: "destinations" (distinct `dst`) or "nodes" (distinct endpoints).
        types: [N], a type for each node; negatives then have the type of the event's destination.
        seed: names the draws.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 0, 1], dst=[2, 3, 4], t=[0, 1, 2])
        >>> negatives = RandomNegatives(stream, pool_end=3, known_end=3, seed=0)
        >>> negatives.pool
        array([2, 3, 4])
        >>> negatives.sample([0, 0], positions=[0, 1]).tolist()  # 0 knows 2 and 3
        [[4], [4]]
    """

    def __init__(
        self,
        stream: EventStream,
        pool_end: int,
        known_end: int,
        reject: bool = True,
        pool: str = "destinations",
        *,
        types: ArrayLike | None = None,
        seed: int,
    ) -> None:
        if pool not in _POOLS:
            raise unknown_name("pool of negatives", pool, _POOLS)
        check_range(0, pool_end, len(stream.src))
        check_range(0, known_end, len(stream.src))
        src, dst, counted = np.asarray(stream.src), np.asarray(stream.dst), interactions(stream)

        candidate = np.zeros(stream.num_nodes, np.bool_)
        for ends in (dst,) if pool == "destinations" else (src, dst):
            candidate[_kept(ends, counted, pool_end)] = True
        self._type = as_types(types, stream.num_nodes)
        nodes = np.flatnonzero(candidate)
        self.pool: Int64 = nodes[np.argsort(self._type[nodes], kind="stable")]
        kinds = np.arange(int(self._type.max(initial=0)) + 2)
        self._pool_ptr: Int64 = np.searchsorted(self._type[self.pool], kinds)
        if len(self.pool) == 0:
            raise ProtocolError(
                f"no candidates for negatives: the {pool_end} events before pool_end hold no "
                "interaction"
            )
        self.seed = seed
        self._nodes = NodeHistory.build(stream)

        # Known candidates of each source as rising places in the pool, in compressed rows.
        width = len(self.pool)
        pairs = np.empty(0, np.int64)
        if reject:
            places = np.full(stream.num_nodes, -1)
            places[self.pool] = np.arange(width)
            place = places[_kept(dst, counted, known_end)]
            pairs = (_kept(src, counted, known_end) * width + place)[place >= 0]
            pairs.sort()
            pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
        self._known: Int64 = pairs % width
        self._ptr: Int64 = np.searchsorted(pairs, np.arange(stream.num_nodes + 1) * width)

    def __repr__(self) -> str:
        return f"RandomNegatives(pool={len(self.pool)}, known={len(self._known)}, seed={self.seed})"

    def sample(
        self,
        src: ArrayLike,
        positions: ArrayLike,
        epoch: int = 0,
        count: int = 1,
        *,
        like: ArrayLike | None = None,
        at: ArrayLike | None = None,
    ) -> Int64:
        """Draw `count` negative destinations for each event, with replacement.

        A node that is deleted when the event happens is not drawn.

        Args:
            src: [B], the sources.
            positions: [B], the positions of the events, which name the draws.
            epoch: another epoch, other draws.
            count: negatives for each event.
            like: [B], the destinations, whose types count; they are needed where nodes have types.
            at: [B], the events' positions in the stream, where `positions` names draws otherwise.

        Returns:
            int64 [B, count].
        """
        sources, counters = (
            as_nodes(src, len(self._ptr) - 1, "src"),
            as_column(positions, "positions"),
        )
        at_least("count", count, 1)
        if len(counters) != len(sources):
            raise ProtocolError(
                f"{len(sources)} sources but {len(counters)} positions: expected one of each for "
                "every event"
            )
        kind = self._kinds(like, len(sources))
        drawn: Int64 = _draw(*self._tables(), sources, kind, counters, self.seed, epoch, count)
        if (none := np.flatnonzero(drawn[:, 0] < 0)).size:
            self._refuse(np.unique(sources[none]), counters[none[0]], sources[none[0]])
        if self._nodes.changes:
            cuts = counters if at is None else as_column(at, "at")
            self._replace_deleted(drawn, sources, kind, counters, cuts, epoch)
        return drawn

    def _tables(self) -> tuple[Int64, Int64, Int64, Int64]:
        return self.pool, self._pool_ptr, self._ptr, self._known

    def _kinds(self, like: ArrayLike | None, events: int) -> Int64:
        """The type of each event's negatives."""
        if like is not None:
            return self._type[as_nodes(like, len(self._type), "like")]
        if self._type.any():
            raise ProtocolError("nodes have types: say like whom negatives are drawn, like=dst")
        return np.zeros(events, np.int64)

    def _refuse(self, sources: Int64, position: int, source: int) -> None:
        typed = " of their type" if self._type.any() else ""
        raise ProtocolError(
            f"{len(sources)} sources know every candidate{typed} of a pool of {len(self.pool)}, "
            f"so they have no negative; the first is node {source} at position {position}. Leave "
            "these events out, draw from all nodes (pool='nodes', negative_pool=nodes of a "
            "protocol), or let known edges be drawn (reject=False, negatives_known=true)"
        )

    def _replace_deleted(
        self, drawn: Int64, src: Int64, kind: Int64, counters: Int64, cuts: Int64, epoch: int
    ) -> None:
        """Draw again, in place, what is deleted at its cut."""
        for attempt in range(1, _ATTEMPTS):
            cut = np.repeat(cuts, drawn.shape[1])
            row, column = np.nonzero(~self._nodes.alive(drawn.ravel(), cut).reshape(drawn.shape))
            if not len(row):
                return
            # Each attempt has a seed of its own; otherwise the same node would be drawn again.
            seed = self.seed + attempt * 0x9E3779B97F4A7C15 % 2**63
            again = _draw(
                *self._tables(), src[row], kind[row], counters[row], seed, epoch, drawn.shape[1]
            )
            drawn[row, column] = again[np.arange(len(row)), column]
        raise ProtocolError(
            f"nearly every candidate of a pool of {len(self.pool)} is deleted at position "
            f"{cuts[row[0]]}: {_ATTEMPTS} draws found none that is there. Draw from pool='nodes'."
        )


def _kept(column: Int64, counted: NDArray[np.bool_], end: int) -> Int64:
    return column[:end][counted[:end]] if len(counted) else column[:end]


@njit(cache=True, nogil=True)
def _draw(
    pool: Int64,
    pool_ptr: Int64,
    ptr: Int64,
    known: Int64,
    src: Int64,
    kind: Int64,
    positions: Int64,
    seed: int,
    epoch: int,
    count: int,
) -> Int64:
    """Negatives of each event; -1 in the rows that have none."""
    drawn = np.full((len(src), count), -1, np.int64)
    base = mix(mix(np.uint64(0), seed), epoch)
    for i in range(len(src)):
        # The part of the pool that has this type, and the source's known places in it.
        first, last = pool_ptr[kind[i]], pool_ptr[kind[i] + 1]
        start = lower(known, ptr[src[i]], ptr[src[i] + 1], first)
        stop = lower(known, start, ptr[src[i] + 1], last)
        unknown = (last - first) - (stop - start)
        if unknown == 0:
            continue
        state = mix(base, positions[i])
        for j in range(count):
            rank = first + below(mix(state, j), unknown)
            # Place p of the pool has p - (known places < p) unknown ones before it: the rank-th
            # unknown stands at rank + m, where m known places x_0 < x_1 < ... have x_i - i <= rank.
            low, high = start, stop
            while low < high:
                middle = (low + high) >> 1
                if known[middle] - (middle - start) <= rank:
                    low = middle + 1
                else:
                    high = middle
            drawn[i, j] = pool[rank + (low - start)]
    return drawn
