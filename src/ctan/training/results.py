"""What a run is while it goes on, and what it has given when it is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ctan.models import State
from ctan.tasks import Phase
from ctan.training.evaluate import Watch, by_novelty, evaluate
from ctan.training.spec import Spec
from ctan.training.stage import Stage


@dataclass
class Progress:
    """How far a run has come; plain facts, saved with every checkpoint.

    Attributes:
        epoch: the epoch that is being played.
        batches: batches of its training part that were played.
        trained: whether its training part is complete.
        history: one record for each finished epoch.
        best: the selecting metric at the best epoch so far.
        best_epoch: that epoch.
        halved: the last epoch after which the learning rate was halved.
        finished: whether training is over.
    """

    epoch: int = 0
    batches: int = 0
    trained: bool = False
    history: list[dict[str, Any]] = field(default_factory=list)
    best: float | None = None
    best_epoch: int = -1
    halved: int = -1
    finished: bool = False


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        spec: what was run.
        stage: everything prepared, with the best epoch's weights.
        state: the state at the end of the validation part, at the best epoch.
        history: one record for each epoch.
        results: the metrics of the best epoch on validation and test, with the protocol.
    """

    spec: Spec
    stage: Stage
    state: State
    history: list[dict[str, Any]]
    results: dict[str, Any]


def results_of(spec: Spec, stage: Stage, epoch: int, val: dict[str, float]) -> dict[str, Any]:
    """What is known of a run before its test: how it was obtained, and validation."""
    return {
        "task": spec.task,
        "model": spec.model,
        "parameters": sum(p.numel() for p in stage.predictor.parameters()),
        "protocol": spec.protocol.to_dict(),
        "summary": spec.protocol.summary(),
        "data": spec.fingerprint,
        "best_epoch": epoch,
        "val": val,
    }


def measure_test(stage: Stage, state: State, watch: Watch | None = None) -> dict[str, Any]:
    """Play the test part from the state before it: metrics, views and the task's details.

    Args:
        stage: what is played, with the weights to measure.
        state: the state at the end of validation; owned by this call.
        watch: called after each batch.
    """
    test = evaluate(stage, state, Phase("test"), watch)
    return {"test": test.metrics, "views": by_novelty(stage, test.kept), **test.details}
