"""Published negatives: for each event of evaluation, the destinations it is ranked against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctan.errors import ProtocolError

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
