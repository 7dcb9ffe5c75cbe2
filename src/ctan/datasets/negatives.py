"""Published negatives: for each event of evaluation, the destinations it is ranked against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctan.errors import ProtocolError
from ctan.events import EventStream

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EvaluationNegatives:
    """Negative destinations of the events of one part, in compressed rows.

    Attributes:
        start: position of the part's first event.
        ptr: int64 [n + 1]; the event at position `start + i` has `node[ptr[i]:ptr[i + 1]]`.
        node: the destinations.

    Example:
        >>> negatives = EvaluationNegatives(10, np.array([0, 2, 3]), np.array([7, 8, 9]))
        >>> ptr, node = negatives.of(np.array([11, 10]))
        >>> ptr.tolist(), node.tolist()
        ([0, 1, 3], [9, 7, 8])
        >>> print(negatives)
        1 to 2 for each of 2 events
    """

    start: int
    ptr: Int64
    node: npt.NDArray[np.integer]

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def of(self, positions: Int64) -> tuple[Int64, npt.NDArray[np.integer]]:
        """The negatives of the events at `positions [B]`: `ptr [B + 1]` and all their nodes."""
        row = positions - self.start
        if len(row) and not 0 <= row.min() <= row.max() < len(self):
            raise ProtocolError(
                f"positions {positions.min()} to {positions.max()} were asked for negatives; these "
                f"are the negatives of positions {self.start} to {self.start + len(self) - 1}"
            )
        first, count = self.ptr[row], self.ptr[row + 1] - self.ptr[row]
        ptr = np.concatenate([[0], np.cumsum(count)])
        within = np.arange(ptr[-1]) - np.repeat(ptr[:-1], count)
        return ptr, self.node[np.repeat(first, count) + within]

    def __str__(self) -> str:
        counts = np.diff(self.ptr)
        many = f"{counts.min():,}" + (
            f" to {counts.max():,}" if counts.max() != counts.min() else ""
        )
        return f"{many} for each of {len(self):,} events"


def all_other_destinations(
    stream: EventStream, part: slice, destinations: Int64
) -> EvaluationNegatives:
    """For each event of a part: every destination but those its source met at that very time.

    Args:
        stream: the events.
        part: positions of the part; it must not part events of one time.
        destinations: the candidates, rising.

    Example:
        >>> from ctan.events import EventStream
        >>> stream = EventStream.from_arrays(src=[0, 0, 1], dst=[2, 3, 4], t=[5, 5, 5])
        >>> ptr, node = all_other_destinations(stream, slice(0, 3), np.array([2, 3, 4])).of(
        ...     np.array([0, 2])
        ... )
        >>> ptr.tolist(), node.tolist()
        ([0, 1, 3], [4, 2, 3])
    """
    src, dst, t = stream.src[part], stream.dst[part], stream.t[part]
    order = np.lexsort((src, t))
    new = np.ones(len(src), bool)
    new[1:] = (src[order][1:] != src[order][:-1]) | (t[order][1:] != t[order][:-1])
    moment = np.empty(len(src), np.int64)  # which (source, time) an event belongs to
    moment[order] = np.cumsum(new) - 1
    # Each event's row misses the destinations of its moment.
    place = np.searchsorted(destinations, dst)
    kept = np.ones((int(moment.max(initial=-1)) + 1, len(destinations)), bool)
    kept[moment, place] = False
    row, column = np.nonzero(kept[moment])
    ptr = np.searchsorted(row, np.arange(len(src) + 1))
    narrow = np.min_scalar_type(-max(1, stream.num_nodes))  # millions of them
    return EvaluationNegatives(part.start, ptr, destinations.astype(narrow)[column])
