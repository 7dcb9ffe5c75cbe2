"""What an event's destination is ranked against: every other one, or some drawn by a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctan.errors import ProtocolError, unknown_name
from ctan.history._candidates import every, sample
from ctan.history._checks import as_nodes, as_types, at_least, interactions
from ctan.history.nodes import NodeHistory

if TYPE_CHECKING:
    from ctan.events import EventStream

Int64 = NDArray[np.int64]

#: Where drawn candidates come from; see `Candidates`.
KINDS = ("random", "historical", "inductive")


@dataclass(frozen=True, eq=False)
class Drawn:
    """Candidates drawn for B events.

    Attributes:
        node: int64 [B, count].
        short: int64 [B], how many of each row the rule could not give, and the pool had to.

    Example:
        >>> Drawn(np.array([[3, 4]]), np.array([0])).node.shape
        (1, 2)
    """

    node: Int64
    short: Int64


class Candidates:
    r"""Candidates for the destination of each event of a stream.

    No candidate of an event (u, v, t) is a destination that u meets at that very time t, in
    whatever order the stream lists the events of that time: v itself never is one. Beyond that,

    - ``every``: the whole pool (the rule of tgbl-wiki);
    - ``random``: drawn from the pool;
    - ``historical``: drawn from the destinations that u met at an earlier time;
    - ``inductive``: drawn from those among them that u had not met in training.

    Draws are without replacement, and a hash of (seed, epoch, position of the event). Where a rule
    has fewer candidates than are asked for, the pool gives the rest, which may repeat them; where
    the pool itself has fewer, candidates repeat. Deletions take no earlier meeting back; a deleted
    node is no candidate until it is back.

    Args:
        stream: the events; only interactions count.
        pool: ``destinations`` (each `dst` of the stream), ``nodes`` (each endpoint), or the nodes.
        train_end: edges of events at positions below it are those of training.
        types: [N], a type for each node; candidates then have the type of the event's destination.
        seed: names the draws.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 0, 0], dst=[2, 3, 4], t=[1, 2, 3])
        >>> candidates = Candidates(stream, seed=0)
        >>> candidates.every([2])
        (array([0, 2]), array([2, 3]))
        >>> candidates.sample([1], 1, kind="historical").node
        array([[2]])
    """

    def __init__(
        self,
        stream: EventStream,
        pool: str | ArrayLike = "destinations",
        *,
        train_end: int = 0,
        types: ArrayLike | None = None,
        seed: int,
    ) -> None:
        src, dst = np.asarray(stream.src), np.asarray(stream.dst)
        counted = interactions(stream)
        kept = np.flatnonzero(counted) if len(counted) else np.arange(len(src))
        self.num_nodes, self.train_end, self.seed = stream.num_nodes, train_end, seed
        self._nodes = NodeHistory.build(stream)
        self._src, self._dst, self._t = src, dst, np.asarray(stream.t)
        self._type = as_types(types, stream.num_nodes)
        kinds = int(self._type.max(initial=0)) + 1

        nodes = _pool(pool, src[kept], dst[kept], stream.num_nodes)
        self._pool: Int64 = nodes[np.argsort(self._type[nodes], kind="stable")]
        self._pool_ptr = np.searchsorted(self._type[self._pool], np.arange(kinds + 1))

        # The events of each source in order, to find those of one time.
        self._event: Int64 = kept[np.argsort(src[kept], kind="stable")]
        self._source_ptr = np.searchsorted(src[self._event], np.arange(stream.num_nodes + 1))

        # For each source and type its distinct destinations: by first meeting, and by number.
        key = src[kept] * kinds + self._type[dst[kept]]
        by_pair = np.lexsort((dst[kept], key))
        new = np.ones(len(by_pair), bool)
        k, v = key[by_pair], dst[kept][by_pair]
        new[1:] = (k[1:] != k[:-1]) | (v[1:] != v[:-1])
        self._known: Int64 = v[new]
        first, key = kept[by_pair[new]], k[new]
        by_first = np.lexsort((first, key))
        self._ptr = np.searchsorted(key, np.arange(stream.num_nodes * kinds + 1))
        self._place = np.empty(len(key), np.int64)
        self._place[by_first] = np.arange(len(key))
        self._met: Int64 = self._known[by_first]
        self._first: Int64 = first[by_first]

    def __repr__(self) -> str:
        return f"Candidates(pool={len(self._pool)}, seed={self.seed})"

    def every(self, positions: ArrayLike) -> tuple[Int64, Int64]:
        """All candidates of each event, in compressed rows.

        Args:
            positions: [B], the events.

        Returns:
            ptr [B + 1] and the candidates; event i has those in `ptr[i]:ptr[i + 1]`.
        """
        events = as_nodes(positions, len(self._src), "positions")
        ptr, node = every(*self._tables(), events)
        if self._nodes.changes:
            there = self._nodes.alive(node, np.repeat(events, np.diff(ptr)))
            ptr = np.concatenate([[0], np.cumsum(there)])[ptr]
            node = node[there]
        return ptr, node

    def sample(
        self, positions: ArrayLike, count: int, kind: str = "random", epoch: int = 0
    ) -> Drawn:
        """Draw `count` candidates for each event.

        Args:
            positions: [B], the events.
            count: how many for each.
            kind: ``random``, ``historical`` or ``inductive``.
            epoch: another epoch, other draws.
        """
        if kind not in KINDS:
            raise unknown_name("kind of candidates", kind, KINDS)
        at_least("count", count, 1)
        events = as_nodes(positions, len(self._src), "positions")
        node, short = self._draw(events, count, kind, epoch)
        if self._nodes.changes:
            self._without_deleted(node, short, events, kind, epoch)
        if (empty := np.flatnonzero(node[:, 0] < 0)).size:
            raise ProtocolError(
                f"{len(empty)} events meet every candidate of their pool at their very time, the "
                f"first at position {events[empty[0]]} (source {self._src[events[empty[0]]]}): "
                "they have nothing to be told apart from. Use pool='nodes', or leave them out."
            )
        return Drawn(node, short)

    def _draw(self, events: Int64, count: int, kind: str, epoch: int) -> tuple[Int64, Int64]:
        past = self._ptr, self._known, self._place, self._met, self._first
        found: tuple[Int64, Int64] = sample(
            *self._tables(), *past, events, count, KINDS.index(kind), self.train_end,
            self.seed, epoch,
        )  # fmt: skip
        return found

    def _without_deleted(
        self, node: Int64, short: Int64, events: Int64, kind: str, epoch: int
    ) -> None:
        """Draw the rows that hold a deleted node again, from the candidates that are there."""
        count = node.shape[1]
        there = self._nodes.alive(np.maximum(node, 0).ravel(), np.repeat(events, count))
        for i in np.flatnonzero(~there.reshape(node.shape).all(axis=1)):
            e = events[i : i + 1]
            # All that the rule gives, in random order, before the pool has to help.
            drawn, missing = self._draw(e, max(count, len(self._pool)), kind, epoch)
            own = drawn[0, : drawn.shape[1] - missing[0]]
            own = own[self._nodes.alive(np.maximum(own, 0), int(e[0]))][:count]
            _, living = self.every(e)
            if not len(living):
                node[i] = -1  # what the caller refuses
                continue
            wanted = count - len(own)
            fresh = np.setdiff1d(living, own)
            rng = np.random.default_rng([self.seed % 2**63, epoch, int(e[0])])
            fill = rng.permutation(fresh)[:wanted]
            fill = np.append(fill, rng.choice(living, wanted - len(fill)))
            node[i], short[i] = np.append(own, fill), wanted

    def _tables(self) -> tuple[NDArray[Any], ...]:
        return (
            self._src, self._dst, self._t, self._type, self._pool, self._pool_ptr,
            self._event, self._source_ptr,
        )  # fmt: skip


def _pool(pool: str | ArrayLike, src: Int64, dst: Int64, num_nodes: int) -> Int64:
    if not isinstance(pool, str):
        return np.unique(as_nodes(pool, num_nodes, "pool"))
    if pool not in ("destinations", "nodes"):
        raise unknown_name("pool of candidates", pool, ("destinations", "nodes"))
    nodes = np.unique(dst if pool == "destinations" else np.concatenate([src, dst]))
    if not len(nodes):
        raise ProtocolError("no candidates: the stream holds no interaction")
    return nodes
