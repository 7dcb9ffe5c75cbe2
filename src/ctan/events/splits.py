"""Chronological splits into training, validation and test events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ctan.errors import DataError, ProtocolError
from ctan.events.stream import EventStream


@dataclass(frozen=True)
class Split:
    """Where the parts of a stream end, as positions, and the rule that put them there.

    Example:
        >>> split = Split(train_end=7, val_end=8, end=10, rule="by hand")
        >>> split.train, split.val, split.test
        (slice(0, 7, None), slice(7, 8, None), slice(8, 10, None))
        >>> print(split)
        7 / 1 / 2 events (by hand)
    """

    train_end: int
    val_end: int
    end: int
    rule: str

    @property
    def train(self) -> slice:
        """The training events: `stream[split.train]`."""
        return slice(0, self.train_end)

    @property
    def val(self) -> slice:
        """The validation events."""
        return slice(self.train_end, self.val_end)

    @property
    def test(self) -> slice:
        """The test events."""
        return slice(self.val_end, self.end)

    def __str__(self) -> str:
        sizes = (self.train_end, self.val_end - self.train_end, self.end - self.val_end)
        return " / ".join(f"{size:,}" for size in sizes) + f" events ({self.rule})"


class GraphSplit(NamedTuple):
    """The ids of the graphs in each part."""

    train: npt.NDArray[np.int64]
    val: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


def split_by_time(stream: EventStream, val: float = 0.15, test: float = 0.15) -> Split:
    """Split at quantiles of the times: events of one time are never parted.

    An event is in training if its time is at most the `1 - val - test` quantile, in validation if
    at most the `1 - test` quantile (linear interpolation), as PyG's `TemporalData` does it.

    Example:
        >>> stream = EventStream.from_arrays(src=[0] * 20, dst=[1] * 20, t=range(20))
        >>> print(split_by_time(stream))
        14 / 3 / 3 events (time quantiles 0.7 and 0.85)
    """
    low, high = _shares(val, test)
    at = np.quantile(stream.t, [low, high]) if len(stream) else np.zeros(2)
    ends = np.searchsorted(stream.t, at, side="right")
    rule = f"time quantiles {low:g} and {high:g}"
    return _checked(Split(int(ends[0]), int(ends[1]), len(stream), rule), val, test)


def split_by_count(stream: EventStream, val: float = 0.15, test: float = 0.15) -> Split:
    """Split at shares of the number of events, rounded to the nearest event.

    Events of one time may end up on both sides of a boundary.

    Example:
        >>> stream = EventStream.from_arrays(src=[0] * 20, dst=[1] * 20, t=[5] * 20)
        >>> print(split_by_count(stream, val=0.1, test=0.2))
        14 / 2 / 4 events (event counts, shares 0.7 and 0.8)
    """
    low, high = _shares(val, test)
    count = len(stream)
    rule = f"event counts, shares {low:g} and {high:g}"
    return _checked(Split(round(low * count), round(high * count), count, rule), val, test)


def split_by_graph(stream: EventStream, val: float = 0.15, test: float = 0.15) -> GraphSplit:
    """Split a union of disjoint graphs by graph, in order of their ids: no graph is parted.

    Example:
        >>> stream = EventStream.from_arrays(
        ...     src=range(0, 40, 2), dst=range(1, 40, 2), t=[0] * 20, graph=range(20)
        ... )
        >>> split_by_graph(stream).val.tolist()
        [14, 15, 16]
    """
    if stream.graph is None:
        raise ProtocolError(
            "split_by_graph needs a stream with a 'graph' column; "
            "split one graph with split_by_time or split_by_count."
        )
    low, high = _shares(val, test)
    ids = np.unique(stream.graph)
    first, second = round(low * len(ids)), round(high * len(ids))
    rule = f"shares {low:g} and {high:g}"
    _checked(Split(first, second, len(ids), rule), val, test, what="graphs")
    return GraphSplit(ids[:first], ids[first:second], ids[second:])


def _shares(val: float, test: float) -> tuple[float, float]:
    """The shares of the data before validation and before test."""
    if not (val >= 0 and test >= 0 and val + test < 1):
        raise ProtocolError(
            f"got val={val}, test={test}, expected shares of 0 or more that leave some for "
            "training, such as val=0.15, test=0.15."
        )
    return 1.0 - val - test, 1.0 - test


def _checked(split: Split, val: float, test: float, what: str = "events") -> Split:
    parts = {
        "training": (split.train, 1.0),
        "validation": (split.val, val),
        "test": (split.test, test),
    }
    empty = [name for name, (part, share) in parts.items() if share and part.start == part.stop]
    if empty:
        repair = (
            "Give more data, other shares, or (where many events share a time) split_by_count."
            if what == "events"
            else "Give more graphs, or other shares."
        )
        raise DataError(
            f"no {what} are left for {' and '.join(empty)}: {split.end:,} {what}, {split.rule}. "
            f"{repair}"
        )
    return split
