"""Small runs of every kind, and a script that is killed in the middle of one.

`python runs.py NAME FOLDER COUNT` sends itself SIGKILL after COUNT batches of run NAME.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ctan.datasets import path_graphs
from ctan.events import EventStream
from ctan.tasks import Protocol
from ctan.training import Tick, fit, load_tensors

#: Early stopping, the learning rate's plateaus and the clipping of gradients are all at work.
_BUSY = {"epochs": 4, "lr": 0.05, "plateau": 1, "patience": 3, "clip": 1.0}
_LINK = Protocol(batch_size=12, negatives_known=True, **_BUSY)
_SEQUENCE = Protocol(split="graph", readout="dst", graph_batch=6, **_BUSY)
_SMALL = {"dim": 6, "time_dim": 3}

RUNS: dict[str, dict[str, Any]] = {
    "link, ctan": {"task": "link", "model": "ctan", "options": _SMALL, "protocol": _LINK},
    "link, jodie": {"task": "link", "model": "jodie", "options": _SMALL, "protocol": _LINK},
    "link, tgat with dropout": {
        "task": "link",
        "model": "tgat",
        "options": {**_SMALL, "dropout": 0.3},
        "protocol": _LINK.with_(visibility="causal"),
    },
    "sequence, through all time": {
        "task": "sequence",
        "model": "ctan",
        "options": _SMALL,
        "protocol": _SEQUENCE.with_(through_time="all"),
    },
    "sequence, through two batches": {
        "task": "sequence",
        "model": "ctan",
        "options": _SMALL,
        "protocol": _SEQUENCE.with_(through_time=2),
    },
}


def link_stream() -> EventStream:
    """Calls among a few, with a favourite each; ties and repeated edges."""
    rng = np.random.default_rng(3)
    src = rng.integers(0, 8, 90)
    dst = np.where(rng.random(90) < 0.6, 8 + src, rng.integers(8, 16, 90))
    msg = rng.normal(size=(90, 2)).astype(np.float32)
    return EventStream.from_arrays(src=src, dst=dst, t=np.cumsum(rng.integers(0, 3, 90)), msg=msg)


def stream_of(name: str) -> EventStream:
    return link_stream() if name.startswith("link") else path_graphs(4, graphs=24)


def start(name: str, folder: Path | None, **settings: Any) -> Any:
    """Fit the run; in a folder that already holds a part of it, go on."""
    return fit(stream_of(name), folder=folder, checkpoint_seconds=0, **RUNS[name], **settings)


def outcome(folder: Path) -> dict[str, Any]:
    """All that must be the same: texts, and the bits of every tensor."""
    kept: dict[str, Any] = {
        name: json.loads((folder / name).read_text()) for name in ("history.json", "results.json")
    }
    for name in ("weights.safetensors", "state.safetensors"):
        tensors, facts = load_tensors(folder / name)
        kept[name] = facts, {key: value.numpy().tobytes() for key, value in tensors.items()}
    return kept


def die_after(count: int) -> Any:
    def watch(tick: Tick) -> None:
        nonlocal count
        count -= 1
        if count == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return watch


if __name__ == "__main__":
    torch.set_num_threads(1)
    start(sys.argv[1], Path(sys.argv[2]), watch=die_after(int(sys.argv[3])))
