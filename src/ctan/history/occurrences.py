"""How often the nodes of one sequence occur in another: what pairs of histories share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The occurrences of nodes in each of A sequences of S places.

    Each place has a weight, and a node's *count* in a sequence is the sum of the weights of the
    places where it occurs: the number of its occurrences if all weigh 1. What one sequence knows
    of itself is worked out once; a pair of sequences then costs one pass over both.

    Attributes:
        node: int64 [A, S], the distinct nodes of each sequence, rising; first `distinct` hold.
        count: int64 [A, S], their counts.
        distinct: int64 [A], how many there are.
        place: int64 [A, S], the column of `node` that stands at each place; -1 where absent.

    Example:
        >>> sequence = np.array([[7, 8, 7], [8, 9, 0]])
        >>> present = np.array([[True, True, True], [True, True, False]])
        >>> seen = Occurrences.of(sequence, present, weight=np.ones(3, int))
        >>> seen.own().tolist()
        [[2, 1, 2], [1, 1, 0]]
        >>> seen.across(rows=np.array([0]), others=np.array([1])).tolist()  # 8 is in both
        [[0, 1, 0]]
    """

    node: NDArray[np.int64]
    count: NDArray[np.int64]
    distinct: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(cls, sequence: Int64, present: Bools, weight: Int64) -> Occurrences:
        """Count the nodes of each sequence.

        Args:
            sequence: [A, S], nodes.
            present: [A, S], which places hold one.
            weight: [S], the weight of each place.
        """
        return cls(*_count(sequence, present, weight))

    def own(self) -> Int64:
        """Count of each place's node in its own sequence, [A, S]; 0 where absent."""
        counts: Int64 = np.where(
            self.place >= 0, np.take_along_axis(self.count, self.place, axis=1), 0
        )
        return counts

    def across(self, rows: Int64, others: Int64) -> Int64:
        """Count of each place's node in the sequence it is paired with.

        Args:
            rows: [P], the sequences whose places are asked about.
            others: [P], the sequences in which their nodes are counted.

        Returns:
            int64 [P, S]; 0 where absent.
        """
        found: Int64 = _across(self.node, self.count, self.distinct, self.place, rows, others)
        return found


@njit(cache=True, nogil=True)
def _count(sequence: Int64, present: Bools, weight: Int64) -> tuple[Any, ...]:
    rows, places = sequence.shape
    node, count = np.zeros((rows, places), np.int64), np.zeros((rows, places), np.int64)
    place, distinct = np.full((rows, places), -1, np.int64), np.zeros(rows, np.int64)
    for i in range(rows):
        n = 0
        for s in np.argsort(sequence[i]):
            if present[i, s]:
                if n == 0 or node[i, n - 1] != sequence[i, s]:
                    node[i, n] = sequence[i, s]
                    n += 1
                count[i, n - 1] += weight[s]
                place[i, s] = n - 1
        distinct[i] = n
    return node, count, distinct, place


@njit(cache=True, nogil=True)
def _across(
    node: Int64, count: Int64, distinct: Int64, place: Int64, rows: Int64, others: Int64
) -> Int64:
    found = np.zeros((len(rows), node.shape[1]), np.int64)
    shared = np.zeros(node.shape[1], np.int64)
    for p in range(len(rows)):
        a, b = rows[p], others[p]
        j = 0
        for i in range(distinct[a]):  # both rise: one pass over the two
            while j < distinct[b] and node[b, j] < node[a, i]:
                j += 1
            met = j < distinct[b] and node[b, j] == node[a, i]
            shared[i] = count[b, j] if met else 0
        for s in range(node.shape[1]):
            if place[a, s] >= 0:
                found[p, s] = shared[place[a, s]]
    return found
