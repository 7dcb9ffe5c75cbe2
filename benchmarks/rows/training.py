"""Training epochs on the events of Wikipedia with 172 random features."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import ours
from benchmarks.peers import pyg, tgm
from benchmarks.timing import alternate, ratio, wall
from ctan.events import EventStream, read_events, split_by_time
from ctan.history import elapsed_statistics
from ctan.tasks import Protocol

LINK = Protocol(batch_size=256, lr=1e-4, negatives_known=True)
CTAN = {"dim": 100, "epsilon": 0.5, "psi": "concat", "final_act": True}
SHAPE = {"dim": 100, "batch": 256, "neighbors": 5}
HOW = (
    "training part of the split by time (110,232 events), embedding 100, batch 256, the last 5 "
    "neighbours, one negative an event, update_from scored, Adam 1e-4, dropout as each side has it"
)


def wikipedia(data: Path) -> EventStream:
    """The events of Wikipedia with 172 random features."""
    stream = read_events(data / "wikipedia" / "events.parquet")
    features = np.random.default_rng(0).standard_normal((len(stream), 172)).astype(np.float32)
    return dataclasses.replace(stream, msg=features)


def _training(stream: EventStream) -> tuple[np.ndarray, ...]:
    end = split_by_time(stream).train_end
    assert stream.msg is not None
    return stream.src[:end], stream.dst[:end], stream.t[:end], stream.msg[:end]


def ctan1(data: Path, rounds: int) -> list[dict[str, Any]]:
    """CTAN, one layer, against PyG's parts, TGM and our own plain layers."""
    stream = wikipedia(data)
    columns = _training(stream)
    elapsed = elapsed_statistics(stream, 0, len(columns[0]))
    run = ours.epoch(stream, "link", "ctan", {**CTAN, "steps": 1}, LINK)
    sides: dict[str, Callable[[], object]] = {
        "ours": run,
        "pyg": pyg.ctan_epoch(pyg.Stream(*columns), steps=1, elapsed=elapsed, **SHAPE),
        "tgm": tgm.ctan_epoch(*columns, elapsed=elapsed, **SHAPE),
        "plain": ours.plain(run),
    }
    taken = alternate(sides, rounds)
    work = "CTAN training epoch, 1 layer"
    wanted = {"pyg": 2.5, "tgm": 4, "plain": None}
    return [ratio(work, taken, peer, HOW, least) for peer, least in wanted.items()]


def ctan5(data: Path, rounds: int) -> list[dict[str, Any]]:
    """CTAN, five layers, against PyG's parts."""
    stream = wikipedia(data)
    columns = _training(stream)
    elapsed = elapsed_statistics(stream, 0, len(columns[0]))
    sides = {
        "ours": ours.epoch(stream, "link", "ctan", {**CTAN, "steps": 5}, LINK),
        "pyg": pyg.ctan_epoch(pyg.Stream(*columns), steps=5, elapsed=elapsed, **SHAPE),
    }
    taken = alternate(sides, rounds)
    return [ratio("CTAN training epoch, 5 layers", taken, "pyg", HOW, wanted=4)]


def tgn(data: Path, rounds: int) -> list[dict[str, Any]]:
    """TGN, every pending message recomputed with gradient, against PyG's parts and TGM."""
    stream = wikipedia(data)
    columns = _training(stream)
    sides: dict[str, Callable[[], object]] = {
        "ours": ours.epoch(stream, "link", "tgn", {"dim": 100}, LINK),
        "pyg": pyg.tgn_epoch(pyg.Stream(*columns), **SHAPE),
        "tgm": tgm.tgn_epoch(*columns, **SHAPE),
    }
    taken = alternate(sides, rounds)
    wanted = {"pyg": 3.5, "tgm": None}
    return [ratio("TGN training epoch", taken, peer, HOW, least) for peer, least in wanted.items()]


def threads(data: Path, rounds: int) -> list[dict[str, Any]]:
    """CTAN, one layer, one thread against two (wall-clock: needs a quiet machine)."""
    run = ours.epoch(wikipedia(data), "link", "ctan", {**CTAN, "steps": 1}, LINK)

    def with_threads(count: int) -> Callable[[], object]:
        def timed() -> float:
            torch.set_num_threads(count)
            return run()

        return timed

    taken = wall({"ours": with_threads(2), "one thread": with_threads(1)}, rounds)
    torch.set_num_threads(1)
    work = "CTAN training epoch, 1 layer, two threads"
    return [ratio(work, taken, "one thread", f"wall-clock; {HOW}", wanted=1.5)]
