"""Our side of the comparisons: the same work through the library's own loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ctan.events import EventStream
from ctan.tasks import Phase, Protocol
from ctan.training import Stage, play


def epoch(
    stream: EventStream, task: str, model: str, options: dict[str, Any], protocol: Protocol
) -> Callable[[], float]:
    """A function that trains for one epoch and returns the last loss."""
    torch.manual_seed(0)
    stage = Stage.prepare(stream, task, model, options, protocol)
    optimiser = torch.optim.Adam(stage.predictor.parameters(), lr=protocol.lr, fused=True)
    epochs = iter(range(10**6))

    def run() -> float:
        phase = Phase("train", next(epochs))
        state, loss = stage.predictor.model.init_state(), None
        for played in play(stage, state, stage.segments(phase), phase, optimiser):
            loss = played.loss if played.loss is not None else loss
        assert loss is not None
        return float(loss)

    return run


def plain(run: Callable[[], float]) -> Callable[[], float]:
    """The same work without our compiled kernels: plain torch layers and torch's own products."""
    from ctan.nn import kernels
    from ctan.nn.kernels import products

    def slow() -> float:
        usable, onednn = kernels.usable, products._HAS_ONEDNN
        kernels.usable, products._HAS_ONEDNN = lambda *_: False, False
        try:
            return run()
        finally:
            kernels.usable, products._HAS_ONEDNN = usable, onednn

    return slow
