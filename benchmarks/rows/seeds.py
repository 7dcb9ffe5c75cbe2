"""T-PathGraph n=20: several seeds at once, and several processes."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch

from benchmarks import ours
from benchmarks.rows.pathgraph import OPTIONS, PROTOCOL
from benchmarks.timing import alternate, ratio
from ctan.datasets import path_graphs

#: How many seeds at once the bound is for, and epochs of a process side by side with another.
SEEDS, EPOCHS = 4, 40


def seeds(data: Path, rounds: int) -> list[dict[str, Any]]:
    """T-PathGraph n=20: what several seeds at once could save, and what processes do save."""
    stream = path_graphs(20)
    one = ours.epoch(stream, "sequence", "ctan", OPTIONS, PROTOCOL)
    large = PROTOCOL.with_(graph_batch=SEEDS * PROTOCOL.graph_batch)
    many = ours.epoch(stream, "sequence", "ctan", OPTIONS, large)
    taken = alternate({"one seed": one, "ours": many}, rounds)
    bound = (
        f"an epoch in batches of {PROTOCOL.graph_batch} graphs against one in batches of "
        f"{large.graph_batch}: the same arithmetic in a quarter of the steps. {SEEDS} seeds at "
        "once have weights of their own besides, so they cannot gain more"
    )
    lines = [ratio(f"T-PathGraph n=20, bound for {SEEDS} seeds at once", taken, "one seed", bound)]
    alone = statistics.median(_side_by_side(1) for _ in range(3))
    both = statistics.median(_side_by_side(2) for _ in range(3))
    sides = {"ours": [both], "one after the other": [2 * alone]}
    how = f"{EPOCHS} epochs each, wall-clock of the slower one: needs two free cores"
    lines.append(ratio("T-PathGraph n=20, two processes", sides, "one after the other", how))
    return lines


def _side_by_side(processes: int) -> float:
    """Seconds of so many processes that train at once, start-up left out."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context) as pool:
        return max(pool.map(_epochs, [EPOCHS] * processes))


def _epochs(count: int) -> float:
    """Seconds of so many epochs, after one that warms up."""
    torch.set_num_threads(1)
    run = ours.epoch(path_graphs(20), "sequence", "ctan", OPTIONS, PROTOCOL)
    run()
    started = time.perf_counter()
    for _ in range(count):
        run()
    return time.perf_counter() - started
