"""Alternating measurements: the ratio of two sides that ran under the same conditions."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def alternate(sides: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, list[float]]:
    """Run the sides in turn, once to warm up and then ``rounds`` times; CPU seconds of each run.

    CPU seconds of this process, not wall-clock: another job on the machine costs both sides less
    that way. Threads of one process add up, so with several threads use :func:`wall`.
    """
    return _alternate(sides, rounds, time.process_time)


def wall(sides: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, list[float]]:
    """The same in wall-clock seconds."""
    return _alternate(sides, rounds, time.perf_counter)


def _alternate(
    sides: dict[str, Callable[[], object]], rounds: int, clock: Callable[[], float]
) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name, run in sides.items():
            started = clock()
            run()
            if number:
                taken[name].append(clock() - started)
    return taken


def ratio(
    work: str,
    taken: dict[str, list[float]],
    peer: str,
    protocol: str,
    wanted: float | None = None,
) -> dict[str, Any]:
    """One line of the table: medians of both sides, and how many times as long the peer takes.

    Args:
        work: what was done.
        taken: seconds of each run by side; ours is ``ours``.
        peer: the side to compare with.
        protocol: how it was done.
        wanted: the ratio that is asked of this library, if any.
    """
    ours, theirs = (statistics.median(taken[side]) for side in ("ours", peer))
    return {
        "work": work,
        "peer": peer,
        "ours_s": round(ours, 4),
        "peer_s": round(theirs, 4),
        "ratio": round(theirs / ours, 2),
        "wanted": wanted,
        "runs": {side: [round(s, 4) for s in taken[side]] for side in ("ours", peer)},
        "protocol": protocol,
    }
