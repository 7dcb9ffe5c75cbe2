"""T-PathGraph in lockstep against one event at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import ours
from benchmarks.peers import pyg
from benchmarks.timing import alternate, ratio
from ctan.datasets import path_graphs
from ctan.tasks import Protocol

LENGTH, GRAPHS, TRAINED, SAMPLE = 20, 1000, 700, 70
PROTOCOL = Protocol(split="graph", through_time="all", readout="dst", lr=1e-3)
OPTIONS = {"dim": 50, "epsilon": 1.0, "gamma": 0.1, "time_dim": 1, "psi": "concat"}


def pathgraph(data: Path, rounds: int) -> list[dict[str, Any]]:
    """T-PathGraph n=20, gradients through time, against one event at a time."""
    stream = path_graphs(LENGTH)
    run = ours.epoch(stream, "sequence", "ctan", OPTIONS, PROTOCOL)
    assert stream.x is not None
    assert stream.msg is not None
    assert stream.y is not None
    x = stream.x.reshape(GRAPHS, LENGTH, -1)
    msg = np.ascontiguousarray(stream.msg.reshape(LENGTH - 1, GRAPHS, -1).swapaxes(0, 1))
    label = stream.y.reshape(LENGTH - 1, GRAPHS)[-1]
    one = pyg.path_epoch(x, msg, label, dim=50)
    taken = alternate({"ours": run, "pyg": lambda: one(SAMPLE)}, rounds)
    # The peer's time grows with the number of graphs, which are independent.
    taken["pyg"] = [seconds * TRAINED / SAMPLE for seconds in taken["pyg"]]
    how = (
        f"{TRAINED} graphs, dimension 50, 1 layer, gradients through all 19 events of a path, "
        f"{PROTOCOL.graph_batch} graphs a step of the optimiser; the peer plays one event at a "
        f"time, {SAMPLE} graphs, times {TRAINED // SAMPLE}"
    )
    return [ratio("T-PathGraph n=20 training epoch", taken, "pyg", how, wanted=60)]
