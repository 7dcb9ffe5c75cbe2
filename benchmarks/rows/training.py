"""Training epochs on the events of Wikipedia with 172 random features."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import ours
from benchmarks.peers import pyg, tgm
from benchmarks.timing import apart, ratio, wall
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

_APART = f"each side in a process of its own; {HOW}"


def wikipedia(data: Path) -> EventStream:
    """The events of Wikipedia with 172 random features."""
    stream = read_events(data / "wikipedia" / "events.parquet")
    features = np.random.default_rng(0).standard_normal((len(stream), 172)).astype(np.float32)
    return dataclasses.replace(stream, msg=features)


def _training(stream: EventStream) -> tuple[np.ndarray, ...]:
    end = split_by_time(stream).train_end
    assert stream.msg is not None
    return stream.src[:end], stream.dst[:end], stream.t[:end], stream.msg[:end]


def _ours(data: Path, model: str, options: dict[str, Any]) -> Callable[[], float]:
    return ours.epoch(wikipedia(data), "link", model, options, LINK)


def _plain(data: Path, steps: int) -> Callable[[], float]:
    return ours.plain(_ours(data, "ctan", {**CTAN, "steps": steps}))


def _compiled(data: Path, steps: int) -> Callable[[], float]:
    return ours.compiled(_ours(data, "ctan", {**CTAN, "steps": steps}))


def _pyg_ctan(data: Path, steps: int) -> Callable[[], float]:
    columns, elapsed = _known(data)
    return pyg.ctan_epoch(pyg.Stream(*columns), steps=steps, elapsed=elapsed, **SHAPE)


def _tgm_ctan(data: Path) -> Callable[[], float]:
    columns, elapsed = _known(data)
    return tgm.ctan_epoch(*columns, elapsed=elapsed, **SHAPE)


def _pyg_tgn(data: Path) -> Callable[[], float]:
    return pyg.tgn_epoch(pyg.Stream(*_known(data)[0]), **SHAPE)


def _tgm_tgn(data: Path) -> Callable[[], float]:
    return tgm.tgn_epoch(*_known(data)[0], **SHAPE)


def _known(data: Path) -> tuple[tuple[np.ndarray, ...], tuple[float, float]]:
    """The columns of the training part, and its elapsed times' mean and deviation."""
    stream = wikipedia(data)
    columns = _training(stream)
    return columns, elapsed_statistics(stream, 0, len(columns[0]))


def ctan1(data: Path, rounds: int) -> list[dict[str, Any]]:
    """CTAN, one layer, against PyG's parts, TGM and our own plain layers."""
    sides = {
        "ours": partial(_ours, data, "ctan", {**CTAN, "steps": 1}),
        "pyg": partial(_pyg_ctan, data, 1),
        "tgm": partial(_tgm_ctan, data),
        "plain": partial(_plain, data, 1),
    }
    taken = apart(sides, rounds)
    work = "CTAN training epoch, 1 layer"
    wanted = {"pyg": 2.5, "tgm": 4, "plain": None}
    return [ratio(work, taken, peer, _APART, least) for peer, least in wanted.items()]


def ctan5(data: Path, rounds: int) -> list[dict[str, Any]]:
    """CTAN, five layers, against PyG's parts."""
    sides = {
        "ours": partial(_ours, data, "ctan", {**CTAN, "steps": 5}),
        "pyg": partial(_pyg_ctan, data, 5),
    }
    return [ratio("CTAN training epoch, 5 layers", apart(sides, rounds), "pyg", _APART, wanted=4)]


def tgn(data: Path, rounds: int) -> list[dict[str, Any]]:
    """TGN, every pending message recomputed with gradient, against PyG's parts and TGM."""
    sides = {
        "ours": partial(_ours, data, "tgn", {"dim": 100}),
        "pyg": partial(_pyg_tgn, data),
        "tgm": partial(_tgm_tgn, data),
    }
    taken = apart(sides, rounds)
    wanted = {"pyg": 3.5, "tgm": None}
    return [
        ratio("TGN training epoch", taken, peer, _APART, least) for peer, least in wanted.items()
    ]


def compiled(data: Path, rounds: int) -> list[dict[str, Any]]:
    """Our kernels against the plain layers through torch.compile, which needs a C++ compiler."""
    sides = {
        "ours": partial(_ours, data, "ctan", {**CTAN, "steps": 1}),
        "torch.compile": partial(_compiled, data, 1),
    }
    how = f"the plain step compiled, with shapes that may change, before it is timed; {_APART}"
    taken = apart(sides, rounds)
    return [ratio("CTAN training epoch, 1 layer", taken, "torch.compile", how)]


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
