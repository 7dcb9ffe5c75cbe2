"""Play a part of the split without learning, and measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ctan.models import State
from ctan.tasks import Phase, loss
from ctan.training.loop import play
from ctan.training.stage import Stage


@dataclass(frozen=True)
class Tick:
    """A batch was played.

    Attributes:
        phase: of the run.
        done: batches played in this phase.
        total: batches that the phase has.
        note: what to show beside it.
    """

    phase: Phase
    done: int
    total: int
    note: str = ""


Watch = Callable[[Tick], None]


@dataclass(frozen=True)
class Evaluation:
    """What a part of the split gave.

    Attributes:
        metrics: the task's metrics by name.
        scores: of all asked pairs, ``[P, outputs]``.
        labels: what they should have answered, ``[P]``.
        state: the state after the last batch.
    """

    metrics: dict[str, float]
    scores: NDArray[np.floating]
    labels: NDArray[np.integer]
    state: State


def evaluate(stage: Stage, state: State, phase: Phase, watch: Watch | None = None) -> Evaluation:
    """Play a phase without learning and compute the task's metrics.

    Args:
        stage: what is played.
        state: the state before; owned by this call.
        phase: ``val`` or ``test`` (``train`` replays the training part).
        watch: called after each batch.
    """
    total = stage.batches(phase) if watch else 0
    scores, labels, losses = [], [], []
    for done, played in enumerate(play(stage, state, stage.segments(phase), phase), start=1):
        state = played.state
        scores.append(played.scores)
        labels.append(played.labels)
        if played.loss is not None:
            losses.append(played.loss.double() * len(played.labels))
        if watch:
            watch(Tick(phase, done, total))
    all_scores = torch.cat(scores).cpu().numpy()
    all_labels = torch.cat(labels).cpu().numpy()
    mean_loss = float(torch.stack(losses).sum()) / len(all_labels)
    metrics = {
        metric.name: mean_loss if metric is loss else metric.compute(all_scores, all_labels)
        for metric in (loss, *stage.task.metrics)
    }
    return Evaluation(metrics, all_scores, all_labels, state)
