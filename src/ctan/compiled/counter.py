"""Counter-based random numbers: a draw is a hash of what it is for, never of what came before.

So the same query gets the same draw in every order, batch size and process, and there is no
generator state to save or to leak. The hash is the finaliser of SplitMix64 (Steele, Lea and
Flood, 2014), chained over the words of the counter.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def mix(state: np.uint64, word: int) -> np.uint64:
    """The hash of `state` and one more 64-bit word."""
    z = (state ^ np.uint64(word)) + _STEP
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return z ^ (z >> _31)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def below(state: np.uint64, n: int) -> int:
    """A number in [0, n) from a hash; no value's probability is off by more than 2^-64."""
    return np.int64(state % np.uint64(n))  # type: ignore[return-value]
