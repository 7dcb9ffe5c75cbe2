"""Our side of the comparisons: the same work through the library's own loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch

from ctan.events import EventStream
from ctan.nn import AntiSymmetricStep, kernels
from ctan.nn.kernels import activations, products
from ctan.tasks import Phase, Protocol
from ctan.training import Adam, Stage, play


def epoch(
    stream: EventStream, task: str, model: str, options: dict[str, Any], protocol: Protocol
) -> Callable[[], float]:
    """A function that trains for one epoch and returns the last loss."""
    torch.manual_seed(0)
    stage = Stage.prepare(stream, task, model, options, protocol)
    optimiser = Adam(stage.predictor.parameters(), lr=protocol.lr)
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

    def slow() -> float:
        with _without_kernels():
            return run()

    return slow


def compiled(run: Callable[[], float]) -> Callable[[], float]:
    """The same without our kernels, the antisymmetric step through torch.compile instead."""
    step = torch.compile(AntiSymmetricStep._plain, dynamic=True)

    def generated() -> float:
        with _without_kernels(), mock.patch.object(AntiSymmetricStep, "_plain", step):
            return run()

    return generated


def _never(*_: object) -> bool:
    return False


@contextmanager
def _without_kernels() -> Iterator[None]:
    with (
        mock.patch.object(kernels, "usable", _never),
        mock.patch.object(products, "usable", _never),
        mock.patch.object(activations, "usable", _never),
    ):
        yield
