"""Kernels trust their indices: what every lookup asks of its arguments is checked here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctan.errors import ProtocolError
from ctan.events.kinds import EventKind

if TYPE_CHECKING:
    from ctan.events import EventStream


def as_column(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Whole numbers as one contiguous, writeable int64 row: one kernel signature, compiled once."""
    given = np.asarray(values)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ProtocolError(
            f"{name}: expected a row of whole numbers, got {given.dtype} of shape {given.shape}"
        )
    return np.require(given, np.int64, ["C", "W"])


def as_nodes(nodes: ArrayLike, num_nodes: int, name: str = "nodes") -> NDArray[np.int64]:
    """Node numbers, each known to lie in [0, num_nodes)."""
    row = as_column(nodes, name)
    # Negative numbers are huge when read as unsigned: one reduction checks both ends.
    if row.size and int(row.view(np.uint64).max()) >= num_nodes:
        first = int(np.flatnonzero((row < 0) | (row >= num_nodes))[0])
        raise ProtocolError(
            f"{name}[{first}] is {row[first]}, but the stream has nodes 0 to {num_nodes - 1}"
        )
    return row


def as_cuts(cut: ArrayLike, rows: int) -> NDArray[np.int64]:
    """One cut for all rows as an array of one, or one for each row."""
    given = np.asarray(cut)
    cuts = as_column(given.reshape(1) if given.ndim == 0 else given, "cut")
    if given.ndim and len(cuts) != rows:
        raise ProtocolError(f"cut: expected one position or {rows} (one a row), got {len(cuts)}")
    return cuts


def at_least(name: str, given: int, least: int) -> None:
    """Refuse a count below the least that has a meaning."""
    if given < least:
        raise ProtocolError(f"{name} must be at least {least}, got {given}")


def check_range(lo: int, hi: int, num_events: int) -> None:
    """Refuse positions that are no part [lo, hi) of the stream."""
    if not 0 <= lo <= hi <= num_events:
        raise ProtocolError(
            f"positions [{lo}, {hi}) are no part of a stream of {num_events} events; "
            f"expected 0 <= lo <= hi <= {num_events}"
        )


def interactions(stream: EventStream) -> NDArray[np.bool_]:
    """Which events are interactions, [E]; empty where the stream has no other kind."""
    if stream.kind is None:
        return np.empty(0, np.bool_)
    kept: NDArray[np.bool_] = stream.kind == EventKind.INTERACTION
    return kept


def as_types(types: ArrayLike | None, num_nodes: int) -> NDArray[np.int64]:
    """A type for each node, [N]; one and the same where none are given."""
    if types is None:
        return np.zeros(num_nodes, np.int64)
    given = as_column(types, "types")
    if len(given) != num_nodes or given.min(initial=0) < 0:
        raise ProtocolError(
            f"types: expected one number of 0 or more for each of {num_nodes} nodes, got "
            f"{len(given)} from {given.min(initial=0)}"
        )
    return given
