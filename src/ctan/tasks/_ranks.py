"""The compiled loop behind ranks: one pass over all scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Int64 = NDArray[np.int64]

#: So many candidates are looked at together for whether they are of one question.
_BLOCK = 64


@njit(cache=True, nogil=True)
def count_ranks(own: Floats, others: Floats, against: Int64) -> tuple[NDArray[np.float64], bool]:
    """Ranks ``[B]``, and whether any score is not a number: see :mod:`ctan.tasks.ranking`."""
    rank = np.ones(len(own), np.float64)
    diverged = bool(np.isnan(own).any())
    start = 0
    while start < len(others):
        # Candidates of one question stand together: their end first, then loops without branches.
        question, end = against[start], start + 1
        while end + _BLOCK <= len(others):
            other = np.int64(0)
            for k in range(_BLOCK):
                other |= against[end + k] ^ question
            if other:
                break
            end += _BLOCK
        while end < len(others) and against[end] == question:
            end += 1
        mark, of_question = own[question], others[start:end]
        above, equal, odd = 0, 0, 0
        for score in of_question:
            above += score > mark
            equal += score == mark
            odd += score != score
        rank[question] += above + 0.5 * equal
        diverged |= odd > 0
        start = end
    return rank, diverged
