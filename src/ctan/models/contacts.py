"""What is known, before a cut, of the two nodes of each asked pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctan.arrays import IntArray
from ctan.history import Met, PairIndex, TemporalIndex


@dataclass(frozen=True)
class Contacts:
    """The exact past of P asked pairs, and nothing at or after their cuts.

    Attributes:
        src: sources, ``[P]``.
        dst: destinations, ``[P]``.
        now: time at which each pair is asked about, ``[P]``.
        cut: what each pair sees: the events at positions below it; one position, or ``[P]``.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 0, 1], dst=[2, 3, 2], t=[10, 20, 30])
        >>> past = Contacts(
        ...     np.array([0, 1]), np.array([2, 2]), now=np.array([30, 30]), cut=np.array([2]),
        ...     _index=TemporalIndex.build(stream), _pairs=PairIndex.build(stream),
        ... )
        >>> past.met.count.tolist(), past.popularity.tolist(), past.latest.tolist()
        ([1, 0], [1, 1], [20])
    """

    src: IntArray
    dst: IntArray
    now: NDArray[Any]
    cut: IntArray
    _index: TemporalIndex = field(repr=False)
    _pairs: PairIndex = field(repr=False)

    def __len__(self) -> int:
        return len(self.src)

    @cached_property
    def met(self) -> Met:
        """The earlier events of each pair, ``[P]`` each."""
        return self._pairs.met(self.src, self.dst, self._cuts)

    @cached_property
    def popularity(self) -> IntArray:
        """Number of events of each destination, ``[P]``."""
        return self._index.degree(self.dst, self._cuts)

    @cached_property
    def active(self) -> IntArray:
        """Position of each destination's latest event, -1 without one, ``[P]``."""
        return self._index.recent(self.dst, self._cuts, 1).event[:, 0]

    def time(self, position: IntArray) -> NDArray[Any]:
        """Times of events that were seen; whatever is not an event (-1) gets the first time."""
        return self._pairs.t[np.maximum(position, 0)]

    @property
    def latest(self) -> NDArray[Any]:
        """Time of the last event before each cut (the first event's if there is none)."""
        return self.time(self.cut - 1)

    def quantile(self, share: float) -> NDArray[np.float64]:
        """The quantile of the times before each cut, by linear interpolation."""
        place = share * np.maximum(self.cut - 1, 0)
        low = np.floor(place).astype(np.int64)
        t = self._pairs.t
        below, above = t[low], t[np.minimum(low + 1, np.maximum(self.cut - 1, 0))]
        quantile: NDArray[np.float64] = below + (place - low) * (above - below)
        return quantile

    @property
    def mean_count(self) -> NDArray[np.float64]:
        """Mean number of events over the pairs that met before each cut."""
        pairs = np.maximum(self._pairs.distinct(self.cut), 1)
        mean: NDArray[np.float64] = self._pairs.events(self.cut) / pairs
        return mean

    @property
    def mean_gap(self) -> NDArray[np.float64]:
        """Mean over those pairs of their mean time between events (0 for pairs that met once)."""
        return self._pairs.mean_gap(self.cut)

    @property
    def _cuts(self) -> IntArray | int:
        return self.cut if len(self.cut) == len(self) else int(self.cut[0])
