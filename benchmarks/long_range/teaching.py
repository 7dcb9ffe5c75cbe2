"""Two ways of teaching T-PathGraph beside its 700 training graphs: fresh graphs, short ones first.

``fresh``: each epoch has 700 graphs of its own, made by the data set's formula under other seeds.
This is a setting of its own, not T-PathGraph: nothing can be memorised, whatever the epochs.

``curriculum``: training begins with short paths and goes on to paths half as long again as soon as
99% of the validation graphs of the present length are answered, until the length that is asked for.

In both, the model is chosen by the loss on the validation graphs of the length that is asked for,
measured after every epoch, and tested on its 150 test graphs, as everywhere else. Training ends
early once all of those validation graphs were right for five epochs in a row, whatever length is
taught by then; the choice is among the epochs played.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from ctan.datasets import path_graphs
from ctan.events import EventStream, GraphSplit
from ctan.models import Dims
from ctan.tasks import Phase, Protocol
from ctan.training import Predictor, Run, Stage, evaluate, play

#: Ways of teaching: the data set's own graphs over and over, or as above.
WAYS = ("repeated", "fresh", "curriculum", "fresh curriculum")
SHORTEST = 5
LONGER = 1.5
ENOUGH = 0.99
GRAPHS = 700
#: Seeds of fresh graphs, far from the data set's own 9.
FIRST_SEED = 10_000
#: After so many epochs in which all validation graphs are right, there is nothing left to learn.
SOLVED = 5


def teach(
    way: str, length: int, variant: str, model: str, options: dict[str, Any], protocol: Protocol
) -> dict[str, Any]:
    """Train and test in one of :data:`WAYS`; what :func:`ctan.training.fit` would report of it."""
    with torch.random.fork_rng():
        torch.manual_seed(protocol.seed)
        school = _School(variant, model, options, protocol)
        asked = school.stage(length)
        return _epochs(school, asked, way, length)


def transfer(
    run: Run, model: str, options: dict[str, Any], protocol: Protocol, lengths: Iterable[int]
) -> list[float]:
    """Test accuracy of a finished run's model on paths of other lengths, variant ``paper``."""
    school = _School("paper", model, options, protocol)
    school.predictor = run.stage.predictor
    stages = (school.stage(length) for length in lengths)
    return [evaluate(s, _start(s), Phase("test")).metrics["accuracy"] for s in stages]


def _epochs(school: _School, asked: Stage, way: str, length: int) -> dict[str, Any]:
    protocol, predictor = school.protocol, asked.predictor
    optimiser = torch.optim.Adam(
        predictor.parameters(), lr=protocol.lr, weight_decay=protocol.weight_decay, fused=True
    )
    taught = min(SHORTEST, length) if "curriculum" in way else length
    history: list[dict[str, Any]] = []
    best, best_epoch, weights = math.inf, -1, _copied(predictor)
    while len(history) < protocol.epochs:
        epoch = len(history)
        own = asked if taught == length else school.stage(taught)
        lesson = school.fresh(taught, epoch) if "fresh" in way else own
        loss = _train(lesson, optimiser, epoch)
        reached = _accuracy(own) if own is not asked else None
        val = evaluate(asked, _start(asked), Phase("val")).metrics
        history.append({"epoch": epoch, "length": taught, "loss": loss, "val": val})
        if val["loss"] < best:
            best, best_epoch, weights = val["loss"], epoch, _copied(predictor)
        if (val["accuracy"] if reached is None else reached) >= ENOUGH:
            taught = min(length, math.ceil(LONGER * taught))
        if epoch + 1 >= SOLVED and all(h["val"]["accuracy"] == 1.0 for h in history[-SOLVED:]):
            break
    predictor.load_state_dict(weights)
    # Graphs are disjoint, so a test from the empty state is a test after training and validation.
    return {
        "test": evaluate(asked, _start(asked), Phase("test")).metrics,
        "best_epoch": best_epoch,
        "parameters": sum(p.numel() for p in predictor.parameters()),
        "history": history,
    }


class _School:
    """Stages of any length round one predictor, which sees elapsed times as of the asked length."""

    def __init__(
        self, variant: str, model: str, options: dict[str, Any], protocol: Protocol
    ) -> None:
        self.variant, self.model, self.options, self.protocol = variant, model, options, protocol
        self.predictor: Predictor | None = None
        self.known: dict[int, Stage] = {}

    def stage(self, length: int) -> Stage:
        """T-PathGraph of a length."""
        if length not in self.known:
            stream = path_graphs(length, variant=self.variant)
            self.known[length] = self._prepare(stream)
        return self.known[length]

    def fresh(self, length: int, epoch: int) -> Stage:
        """Graphs that no other epoch or seed of training has."""
        seed = FIRST_SEED + 1000 * self.protocol.seed + epoch
        stage = self._prepare(path_graphs(length, variant=self.variant, graphs=GRAPHS, seed=seed))
        none = np.empty(0, np.int64)
        return dataclasses.replace(stage, parts=GraphSplit(np.arange(GRAPHS), none, none))

    def _prepare(self, stream: EventStream) -> Stage:
        stage = Stage.prepare(stream, "sequence", self.model, self.options, self.protocol)
        if self.predictor is None:
            # The first is the one that is asked for: its weights, and its measure of time.
            self.predictor = stage.predictor
        return dataclasses.replace(stage, predictor=self.predictor)


def _start(stage: Stage) -> Any:
    """No node has met another yet; there are as many nodes as the stage's stream has."""
    for part in stage.predictor.modules():
        dims = getattr(part, "dims", None)
        if isinstance(dims, Dims):
            part.dims = dataclasses.replace(dims, nodes=stage.stream.num_nodes)
    return stage.predictor.model.init_state()


def _copied(predictor: Predictor) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in predictor.state_dict().items()}


def _train(stage: Stage, optimiser: torch.optim.Optimizer, epoch: int) -> float:
    phase = Phase("train", epoch)
    losses = [
        float(played.loss) * len(played.labels)
        for played in play(stage, _start(stage), stage.segments(phase), phase, optimiser)
        if played.loss is not None
    ]
    return sum(losses) / len(stage.parts.train)


def _accuracy(stage: Stage) -> float:
    return evaluate(stage, _start(stage), Phase("val")).metrics["accuracy"]
