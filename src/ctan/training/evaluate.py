"""Play a part of the split without learning, and measure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ctan.errors import ProtocolError
from ctan.events import Split
from ctan.models import State
from ctan.tasks import Kept, Phase, Task, loss
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
        kept: what was kept of each question; ``kept.event`` are positions in the stream.
        state: the state after the last batch.
        details: what the task shows beside its metrics.
    """

    metrics: dict[str, float]
    kept: Kept
    state: State
    details: dict[str, Any]

    @property
    def scores(self) -> NDArray[np.floating]:
        """Scores of all questions, ``[Q, outputs]``."""
        return self.kept.scores

    @property
    def labels(self) -> NDArray[Any]:
        """What they should have answered, ``[Q]``."""
        return self.kept.labels


def evaluate(stage: Stage, state: State, phase: Phase, watch: Watch | None = None) -> Evaluation:
    """Play a phase without learning and compute the task's metrics.

    Args:
        stage: what is played.
        state: the state before; owned by this call.
        phase: ``val`` or ``test`` (``train`` replays the training part).
        watch: called after each batch.
    """
    total = stage.batches(phase) if watch else 0
    parts: list[Kept] = []
    losses, pairs = [], 0
    for done, played in enumerate(play(stage, state, stage.segments(phase), phase), start=1):
        state = played.state
        if played.loss is not None:
            kept = stage.task.keep(played.scores, played.labels, played.asked)
            parts.append(Kept(kept.scores, kept.labels, played.events.position[kept.event]))
            losses.append(played.loss.double() * len(played.labels))
            pairs += len(played.labels)
        if watch:
            watch(Tick(phase, done, total))
    if not parts:
        raise ProtocolError(
            f"task {stage.task.name!r} has no questions in the {phase.name} part, so there is "
            "nothing to measure: choose another split, or give labels there."
        )
    mean_loss = float(torch.stack(losses).sum()) / pairs
    kept = Kept(
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.event for part in parts]),
    )
    measured = parts if stage.protocol.averaging == "batch" else [kept]
    metrics = {"loss": mean_loss, **_means(stage.task, measured)}
    if phase.name == "val":
        _must_choose(stage.task, metrics, kept)
    return Evaluation(metrics, kept, state, stage.task.details(kept))


def measured(stage: Stage, found: Evaluation) -> dict[str, Any]:
    """The test part of a run's results: metrics, views and the task's details.

    Args:
        stage: what was played.
        found: what its test part gave.
    """
    return {"test": found.metrics, "views": by_novelty(stage, found.kept), **found.details}


def by_novelty(stage: Stage, kept: Kept) -> dict[str, dict[str, float]]:
    """The metrics of a part seen twice: ``transductive``, the events between nodes of training;
    ``inductive``, those with a node that training has not seen. A view without questions, or in
    which a metric has no meaning (one class only), leaves it out.

    Args:
        stage: what was played.
        kept: what evaluation kept of the part.
    """  # noqa: D205
    if not isinstance(stage.parts, Split):
        return {}
    train, stream = stage.parts.train, stage.stream
    seen = np.zeros(stream.num_nodes, bool)
    seen[stream.src[train]] = seen[stream.dst[train]] = True
    old = seen[stream.src[kept.event]] & seen[stream.dst[kept.event]]
    views: dict[str, dict[str, float]] = {}
    for name, chosen in (("transductive", old), ("inductive", ~old)):
        part = kept.only(chosen)
        asked: dict[str, float] = {"questions": int(chosen.sum())}
        found = _means(stage.task, [part]) if chosen.any() else {}
        views[name] = asked | {name: v for name, v in found.items() if not math.isnan(v)}
    return views


def _must_choose(task: Task, metrics: dict[str, float], kept: Kept) -> None:
    """Refuse a validation part whose labels cannot tell one epoch from another."""
    name = task.metrics[0].name
    diverged = np.isnan(kept.scores).any()
    if math.isnan(metrics[name]) and not diverged:
        raise ProtocolError(
            f"every label of the validation part is {kept.labels[0]}: {name}, which chooses the "
            "best epoch, is not defined there. Split otherwise (split='count'), or label more."
        )


def _means(task: Task, parts: list[Kept]) -> dict[str, float]:
    """The metrics, averaged over parts; NaN where training diverged and scores are no numbers."""
    diverged = any(np.isnan(part.scores).any() for part in parts)
    return {
        metric.name: math.nan
        if diverged
        else float(np.mean([metric.compute(part.scores, part.labels) for part in parts]))
        for metric in task.metrics
        if metric is not loss
    }
