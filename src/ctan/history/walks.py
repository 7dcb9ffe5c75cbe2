"""Causal walks: where a node's history leads when it is followed backwards in time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ctan.compiled.counter import below, mix
from ctan.errors import ProtocolError
from ctan.history._checks import as_cuts, as_nodes, at_least
from ctan.history._segment import prefix_end
from ctan.history.index import TemporalIndex

Ints = NDArray[np.integer[Any]]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Walks:
    """M walks of up to L steps from each of B nodes.

    Attributes:
        node: int64 [B, M, L + 1], the nodes on each walk, the start first; 0 where it has ended.
        event: int64 [B, M, L], the position of the event taken at each step; 0 where it has ended.
        length: int64 [B, M], the steps that each walk took.

    Example:
        >>> Walks(np.zeros((1, 2, 4), int), np.zeros((1, 2, 3), int), np.zeros((1, 2), int)).steps
        3
    """

    node: NDArray[np.int64]
    event: NDArray[np.int64]
    length: NDArray[np.int64]

    @property
    def steps(self) -> int:
        """L, the most steps that a walk can take."""
        steps: int = self.event.shape[2]
        return steps

    def of(self, rows: NDArray[np.int64]) -> Walks:
        """The walks of some of the nodes."""
        return Walks(self.node[rows], self.event[rows], self.length[rows])


@dataclass(frozen=True)
class CausalWalks:
    r"""How to walk: backwards along events, recent ones preferred (arXiv 2101.05974).

    From a node that was reached through event p, the next event is one of the node's visible
    events at positions < p (at the start: before the cut), drawn with

    .. math:: P(e) \propto \exp(\alpha\,(t_e - t_p)),

    so each walk goes strictly back in position. One that comes to a node without earlier events
    ends there.

    Attributes:
        count: walks from each node.
        length: steps of each walk at most.
        alpha: decay per unit of the stream's time; 0 draws uniformly.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 1, 2], dst=[1, 2, 3], t=[0, 1, 2])
        >>> walks = CausalWalks(count=1, length=4).sample(TemporalIndex.build(stream), [3], 3)
        >>> walks.node[0, 0].tolist(), walks.event[0, 0].tolist(), walks.length[0].tolist()
        ([3, 2, 1, 0, 0], [2, 1, 0, 0], [3])
    """

    count: int
    length: int
    alpha: float = 0.0

    def __post_init__(self) -> None:
        at_least("count", self.count, 1)
        at_least("length", self.length, 1)
        if not (math.isfinite(self.alpha) and self.alpha >= 0):
            raise ProtocolError(
                f"alpha is {self.alpha}: expected a decay per unit of time, finite and at least 0"
            )

    def sample(
        self, index: TemporalIndex, nodes: ArrayLike, cut: ArrayLike, seed: int = 0
    ) -> Walks:
        """Draw the walks of each node; they depend on (seed, node, cut) alone.

        Args:
            index: who met whom.
            nodes: [B].
            cut: one position for all, or [B].
            seed: names the draw; another epoch wants another seed.
        """
        asked = as_nodes(nodes, index.num_nodes)
        cuts = as_cuts(cut, len(asked))
        # Deleted events leave gaps in any running sum: then weights are added up at each draw.
        summed = self.alpha > 0 and len(index.until) == 0
        sums = _log_sums(index, self.alpha) if summed else np.empty(0)
        columns = index.ptr, index.neighbor, index.event, index.until, index.t, sums
        return Walks(*_walk(*columns, asked, cuts, self.count, self.length, self.alpha, seed))


_SUMS: WeakKeyDictionary[TemporalIndex, dict[float, Float64]] = WeakKeyDictionary()


def _log_sums(index: TemporalIndex, alpha: float) -> Float64:
    """Logarithm of each node's running sum of exp(alpha t), made once for an index."""
    known = _SUMS.setdefault(index, {})
    if alpha not in known:
        known[alpha] = _running_log_sums(index.ptr, index.event, index.t, alpha)
    return known[alpha]


@njit(cache=True, nogil=True)
def _running_log_sums(ptr: Int64, event: Ints, t: NDArray[Any], alpha: float) -> Float64:
    sums = np.empty(len(event), np.float64)
    for u in range(len(ptr) - 1):
        # Relative to the latest term the sum lies between 1 and its number of terms: no overflow.
        relative, before = 0.0, t[0]
        for place in range(ptr[u], ptr[u + 1]):
            now = t[event[place]]
            relative = 1.0 + relative * math.exp(alpha * (before - now))
            sums[place] = alpha * (now - t[0]) + math.log(relative)
            before = now
    return sums


@njit(cache=True, nogil=True)
def _walk(
    ptr: Int64,
    neighbor: Ints,
    event: Ints,
    until: Int64,
    t: NDArray[Any],
    sums: Float64,
    nodes: Int64,
    cuts: Int64,
    count: int,
    length: int,
    alpha: float,
    seed: int,
) -> tuple[Int64, Int64, Int64]:
    node_out = np.zeros((len(nodes), count, length + 1), np.int64)
    event_out = np.zeros((len(nodes), count, length), np.int64)
    steps = np.empty((len(nodes), count), np.int64)
    base = mix(np.uint64(1), seed)
    for i in range(len(nodes)):
        cut = cuts[i if len(cuts) > 1 else 0]
        state = mix(mix(base, nodes[i]), cut)
        for w in range(count):
            hashed = mix(state, w)
            u, limit, step = nodes[i], cut, 0
            node_out[i, w, 0] = u
            while step < length:
                hashed = mix(hashed, step)
                start = ptr[u]
                end = prefix_end(event, start, ptr[u + 1], limit)
                if len(until):
                    place = _draw_alive(event, until, t, start, end, cut, alpha, hashed)
                else:
                    place = _draw(sums, start, end, hashed)
                if place < 0:
                    break
                u, limit = np.int64(neighbor[place]), np.int64(event[place])
                event_out[i, w, step] = limit
                step += 1
                node_out[i, w, step] = u
            steps[i, w] = step
    return node_out, event_out, steps


@njit(cache=True, nogil=True)
def _unit(hashed: np.uint64) -> float:
    """A number in (0, 1) from a hash."""
    return (np.float64(hashed >> np.uint64(11)) + 0.5) * 2.0**-53


@njit(cache=True, nogil=True)
def _draw(sums: Float64, start: int, end: int, hashed: np.uint64) -> int:
    """A place of [start, end) by inversion of the running sums; uniform where there are none."""
    if start == end:
        return -1
    if len(sums) == 0:
        place: int = start + below(hashed, end - start)
        return place
    wanted = math.log(_unit(hashed)) + sums[end - 1]
    low, high = start, end - 1
    while low < high:
        middle = (low + high) >> 1
        if sums[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _draw_alive(
    event: Ints,
    until: Int64,
    t: NDArray[Any],
    start: int,
    end: int,
    cut: int,
    alpha: float,
    hashed: np.uint64,
) -> int:
    """The same among the entries that are not dead at the cut: two passes, latest first."""
    total, latest = 0.0, t[0]
    for place in range(end - 1, start - 1, -1):
        e = event[place]
        if until[e] >= cut:
            latest = t[e] if total == 0.0 else latest
            total += math.exp(alpha * (t[e] - latest))
    wanted, chosen = _unit(hashed) * total, -1
    for place in range(end - 1, start - 1, -1):
        e = event[place]
        if until[e] >= cut:
            chosen = place
            wanted -= math.exp(alpha * (t[e] - latest))
            if wanted <= 0.0:
                break
    return chosen
