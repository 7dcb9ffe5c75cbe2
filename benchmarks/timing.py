"""Alternating measurements: the ratio of two sides that ran under the same conditions."""

from __future__ import annotations

import contextlib
import multiprocessing
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch


def alternate(sides: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, list[float]]:
    """Run the sides in turn, once to warm up and then ``rounds`` times; CPU seconds of each run.

    CPU seconds of this process, not wall-clock: another job on the machine costs both sides less
    that way. Threads of one process add up, so with several threads use :func:`wall`.
    """
    return _alternate(sides, rounds, time.process_time)


def wall(sides: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, list[float]]:
    """The same in wall-clock seconds."""
    return _alternate(sides, rounds, time.perf_counter)


def apart(
    builders: dict[str, Callable[[], Callable[[], object]]], rounds: int = 5
) -> dict[str, list[float]]:
    """As :func:`alternate`, each side in a process of its own, as it is used.

    In one process the sides share what the other libraries leave behind: memory in pieces, caches.

    Args:
        builders: what makes each side; it must be a function that another process can import.
        rounds: how often each runs.
    """
    context = multiprocessing.get_context("spawn")
    with contextlib.ExitStack() as stack:
        ends = {}
        for name, build in builders.items():
            ends[name], far = context.Pipe()
            process = context.Process(target=_serve, args=(build, far), daemon=True)
            process.start()
            stack.callback(process.join)
            stack.callback(ends[name].send, "")
            far.close()
        for end in ends.values():
            end.recv()  # built, and run once to warm up
        taken: dict[str, list[float]] = {name: [] for name in builders}
        for _ in range(rounds):
            for name, end in ends.items():
                end.send("run")
                taken[name].append(end.recv())
    return taken


def _serve(build: Callable[[], Callable[[], object]], end: Any) -> None:
    torch.set_num_threads(1)
    run = build()
    run()
    end.send("ready")
    while end.recv():  # until there is nothing more to do
        started = time.process_time()
        run()
        end.send(time.process_time() - started)


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
