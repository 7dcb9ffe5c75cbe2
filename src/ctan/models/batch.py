"""The events of one batch, and the pairs of nodes that a task asks about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ctan.arrays import IntArray
from ctan.events import EventKind, EventStream


@dataclass(frozen=True)
class Events:
    """The events of one batch, about to be observed: its interactions and node events.

    Deletions are no events to a model: they change what it may see, and a deleted node's state is
    forgotten.

    Attributes:
        position: their positions in the stream, ``[B]``.
        src: their sources, ``[B]``.
        dst: their destinations, ``[B]``.
        touched: the distinct endpoints, ``[U]``.
        row: which of these events touched each last, ``[U]``.
        partner: the other endpoint of that event (itself for a self-loop or a node event), ``[U]``.
        renewed: which of ``touched`` were created or got new features, ``[U]``; None where the
            batch has no such event.
        forgotten: the nodes that are deleted, each once.
        within: where these events stand in the batch, ``[B]``; None where they are all of it.
        interaction: which are interactions, ``[B]``; None where all are.

    Example:
        >>> stream = EventStream.from_arrays(src=[0, 0], dst=[1, 2], t=[5, 7])
        >>> events = Events.of(stream, np.array([0, 1]))
        >>> events.touched.tolist(), events.latest.tolist()
        ([0, 1, 2], [1, 0, 1])
    """

    position: IntArray
    src: IntArray
    dst: IntArray
    touched: IntArray
    row: IntArray
    partner: IntArray
    renewed: np.ndarray | None = None
    forgotten: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    within: IntArray | None = None
    interaction: np.ndarray | None = None

    @classmethod
    def of(cls, stream: EventStream, position: IntArray) -> Events:
        """The events at ``position [B]`` of a stream, in stream order."""
        if stream.kind is not None:
            kind = stream.kind[position]
            if np.any(kind != EventKind.INTERACTION):
                return cls._of_kinds(stream, position, kind)
        src, dst = stream.src[position], stream.dst[position]
        count = 2 * len(src)
        ends = np.empty(count, np.int64)
        ends[::2], ends[1::2] = src, dst
        # By node, then by place: of each node the last place is where the node changes.
        order = np.sort(ends * count + np.arange(count))
        node = order // max(1, count)
        final = np.flatnonzero(np.append(node[1:] != node[:-1], True)[:count])
        touched = node[final]
        last = order[final] - touched * count
        return cls(position, src, dst, touched, row=last // 2, partner=ends[last ^ 1])

    @classmethod
    def _of_kinds(cls, stream: EventStream, position: IntArray, kind: np.ndarray) -> Events:
        gone = stream.src[position[kind == EventKind.NODE_DELETED]]
        within = np.flatnonzero((kind == EventKind.INTERACTION) | (kind == EventKind.NODE))
        interaction = kind[within] == EventKind.INTERACTION
        plain = cls.of(replace(stream, kind=None), position[within])
        return replace(
            plain,
            renewed=np.isin(plain.touched, plain.src[~interaction]),
            forgotten=np.unique(gone),
            within=within,
            interaction=interaction,
        )

    def interactions(self) -> Events:
        """The interactions alone, with a ``within`` of their own; for what is asked about them."""
        if self.interaction is None or self.within is None:
            return self
        at = self.interaction
        return replace(
            self,
            position=self.position[at],
            src=self.src[at],
            dst=self.dst[at],
            within=self.within[at],
            interaction=None,
        )

    def in_batch(self, asked: Asked) -> Asked:
        """The same pairs, their ``event`` counted through all events of the batch."""
        return asked if self.within is None else replace(asked, event=self.within[asked.event])

    @property
    def latest(self) -> IntArray:
        """Position in the stream of the last event of the batch that touches each, ``[U]``."""
        return self.position[self.row]


@dataclass(frozen=True)
class Asked:
    """Pairs of nodes that a task asks about.

    Attributes:
        src: sources, ``[P]``.
        dst: destinations, ``[P]``.
        event: which event of the batch each pair belongs to (its time and cut), ``[P]``.
    """

    src: IntArray
    dst: IntArray
    event: IntArray

    def __len__(self) -> int:
        return len(self.src)

    def first(self, count: int) -> Asked:
        """The first pairs."""
        return Asked(self.src[:count], self.dst[:count], self.event[:count])

    def parts(self, size: int) -> Iterator[Asked]:
        """The same pairs, at most ``size`` at a time."""
        for start in range(0, len(self), size):
            at = slice(start, start + size)
            yield Asked(self.src[at], self.dst[at], self.event[at])
