"""Where a training step's time goes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.rows.pathgraph import OPTIONS, PROTOCOL
from benchmarks.rows.training import CTAN, LINK, wikipedia
from ctan.datasets import path_graphs
from ctan.training import Stage, profile


def share(data: Path, rounds: int) -> list[dict[str, Any]]:
    """Where a training step's time goes: milliseconds by part, as `ctan profile` has them."""
    stream = wikipedia(data)
    cases: dict[str, Callable[[], Stage]] = {
        "CTAN, 1 layer": lambda: _stage(stream, "link", "ctan", {**CTAN, "steps": 1}, LINK),
        "CTAN, 5 layers": lambda: _stage(stream, "link", "ctan", {**CTAN, "steps": 5}, LINK),
        "TGN": lambda: _stage(stream, "link", "tgn", {"dim": 100}, LINK),
        "CTAN, T-PathGraph n=20": lambda: _stage(
            path_graphs(20), "sequence", "ctan", OPTIONS, PROTOCOL
        ),
    }
    found = []
    for name, prepare in cases.items():
        seen = profile(prepare(), batches=100, rounds=rounds)
        parts = {part: round(1e3 * spent, 3) for part, spent in seen.parts.items()}
        step = round(1e3 * seen.seconds, 3)
        found.append({"work": name, "step_ms": step, "parts_ms": parts, "share": seen.floor})
    return found


def _stage(*given: Any) -> Stage:
    torch.manual_seed(0)
    return Stage.prepare(*given)
