"""Predict, then learn: a model measured on each event before it learns from it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ctan.errors import ProtocolError
from ctan.events import EventStream
from ctan.models import State
from ctan.tasks import Kept, Metric, Phase, Protocol, loss
from ctan.training.adam import Adam
from ctan.training.loop import play
from ctan.training.stage import Stage


@dataclass(frozen=True)
class Step:
    """One batch of a prequential run.

    Attributes:
        events: how many events were played so far.
        time: of the last one.
        kept: what was kept of the batch's questions, answered before it was learned from;
            ``kept.event`` are positions.
        loss: the mean loss of those answers.
        state: the state after the batch.
    """

    events: int
    time: Any
    kept: Kept
    loss: float
    state: State


def prequential(
    stage: Stage, *, start: int = 0, state: State | None = None, learn: bool = True
) -> Iterator[Step]:
    """Play the rest of a stream once: each batch is answered, then learned from, then observed.

    A generator: stop it, plot it, or keep its state when you like.

    Args:
        stage: what is played, under its protocol (learning rate, batches, negatives).
        start: the first position.
        state: the state before it, owned by this call; by default that of a new model.
        learn: without it the weights stay as they are.

    Example:
        >>> stream = EventStream.from_arrays(src=[0, 1] * 20, dst=[2, 3] * 20, t=range(40))
        >>> protocol = Protocol(batch_size=10, negatives_known=True)
        >>> stage = Stage.prepare(stream, "link", "ctan", {"dim": 4}, protocol)
        >>> [step.events for step in prequential(stage)]
        [10, 20, 30, 40]
    """
    protocol, weights = stage.protocol, list(stage.predictor.parameters())
    optimiser = (
        Adam(weights, lr=protocol.lr, weight_decay=protocol.weight_decay)
        if learn and weights
        else None
    )
    state = stage.predictor.model.init_state(stage.device) if state is None else state
    batches = [stage.stretch(start, len(stage.stream))]
    for played in play(stage, state, batches, Phase("test"), optimiser):
        if played.loss is None:
            continue
        kept = stage.task.keep(played.scores, played.labels, played.asked)
        position = played.events.position
        yield Step(
            events=int(position[-1]) + 1 - start,
            time=stage.stream.t[position[-1]].item(),
            kept=Kept(kept.scores, kept.labels, position[kept.event]),
            loss=float(played.loss),
            state=played.state,
        )


def blocks(
    steps: Iterator[Step], metrics: tuple[Metric, ...], size: int
) -> Iterator[dict[str, Any]]:
    """The metrics of a prequential run over every ``size`` events, and over all so far.

    Args:
        steps: of :func:`prequential`.
        metrics: what to measure.
        size: events in a block; a block ends with the batch that fills it.

    Yields:
        ``events`` and ``time`` at the end of the block, its metrics, and ``so_far``: their means
        over all questions, block by block. A metric is NaN where the block has no meaning for it
        (AUC of one class), and the mean passes over such a block.

    Example:
        >>> stream = EventStream.from_arrays(src=[0, 1] * 20, dst=[2, 3] * 20, t=range(40))
        >>> protocol = Protocol(batch_size=10, negatives_known=True)
        >>> stage = Stage.prepare(stream, "link", "popularity", {}, protocol)
        >>> [b["events"] for b in blocks(prequential(stage), stage.task.metrics, size=20)]
        [20, 40]
    """
    if size < 1:
        raise ProtocolError(f"a block of {size} events: expected at least 1.")
    waiting: list[Kept] = []
    # Of each metric its sum over questions, and how many questions that is.
    sums = {metric.name: (0.0, 0) for metric in metrics if metric is not loss}
    done = 0
    last: Step | None = None
    for step in steps:
        waiting.append(step.kept)
        last = step
        if step.events - done < size:
            continue
        yield _block(step, waiting, metrics, sums)
        waiting, done = [], step.events
    if waiting and last is not None:
        yield _block(last, waiting, metrics, sums)


def _block(
    step: Step,
    parts: list[Kept],
    metrics: tuple[Metric, ...],
    sums: dict[str, tuple[float, int]],
) -> dict[str, Any]:
    """One record; ``sums`` go on."""
    kept = Kept(
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.event for part in parts]),
    )
    here = {m.name: m.compute(kept.scores, kept.labels) for m in metrics if m is not loss}
    for name, value in here.items():
        if not math.isnan(value):
            total, questions = sums[name]
            sums[name] = total + value * len(kept.labels), questions + len(kept.labels)
    so_far = {name: total / n if n else math.nan for name, (total, n) in sums.items()}
    return {"events": step.events, "time": step.time, **here, "so_far": so_far}


def stage_for(
    stream: EventStream,
    task: str,
    model: str,
    options: dict[str, Any],
    protocol: Protocol,
    device: str = "cpu",
) -> Stage:
    """A stage with weights drawn by the protocol's seed, for a run from scratch.

    Example:
        >>> stream = EventStream.from_arrays(src=[0, 1] * 20, dst=[2, 3] * 20, t=range(40))
        >>> stage_for(stream, "link", "jodie", {"dim": 4}, Protocol()).predictor.model.dim
        4
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(protocol.seed)
        return Stage.prepare(stream, task, model, options, protocol, device)
