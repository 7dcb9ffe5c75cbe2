"""The one loop: every task and every model travels this road."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ctan.history import Batch
from ctan.models import Asked, Events, Model, NodeEncoder, State, View, look
from ctan.tasks import Phase
from ctan.training.stage import Stage

#: Where embeddings are not shared, at most this many pairs are seen at once in evaluation.
PAIRS_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class Played:
    """What came of one batch.

    Attributes:
        state: the state after it.
        scores: of the asked pairs, ``[P, outputs]``, without gradient.
        labels: what they should have answered, ``[P]``.
        asked: those pairs.
        events: the batch.
        loss: their mean loss, without gradient; None if nothing was asked.
        settled: whether the state is free of gradient, so that a run can be stopped here.
    """

    state: State
    scores: Tensor
    labels: Tensor
    asked: Asked
    events: Events
    loss: Tensor | None
    settled: bool


def play(
    stage: Stage,
    state: State,
    segments: Iterable[Iterable[Batch]],
    phase: Phase,
    optimiser: torch.optim.Optimizer | None = None,
) -> Iterator[Played]:
    """Play batches in order: ask, answer, observe; learn if there is an optimiser.

    Yields after each batch, so that the caller can stop, plot or save.

    Args:
        stage: what is played.
        state: the state before; owned by the loop.
        segments: batches, in segments between which no gradient flows.
        phase: where in the run this is.
        optimiser: None to evaluate.
    """
    stage.predictor.train(optimiser is not None)
    window = max(1.0, stage.protocol.horizon) if optimiser is not None else 1.0
    # What a deleted node goes back to.
    start = stage.predictor.model.init_state(stage.device) if stage.features.forgets else None
    for segment in segments:
        losses: list[tuple[Tensor, int]] = []
        waiting = 0
        batches = iter(segment)
        batch = next(batches, None)
        while batch is not None:
            following = next(batches, None)
            with torch.set_grad_enabled(optimiser is not None):
                state, scores, labels, asked, events = _step(
                    stage, state, batch, phase, optimiser is not None
                )
                loss = stage.task.loss(scores, labels) if len(labels) else None
            if start is not None and len(events.forgotten):
                state = state.forget(events.forgotten, start)
            waiting += 1
            if loss is not None:
                losses.append((loss, len(labels)))
            settled = waiting >= window or following is None
            if settled:
                if optimiser is not None and losses:
                    _learn(stage, losses, optimiser)
                state = state.detach()
                losses, waiting = [], 0
            kept = None if loss is None else loss.detach()
            yield Played(state, scores.detach(), labels, asked, events, kept, settled)
            batch = following


def _step(
    stage: Stage, state: State, batch: Batch, phase: Phase, learning: bool
) -> tuple[State, Tensor, Tensor, Asked, Events]:
    """Score and observe one batch, in the task's order."""
    task, protocol, model = stage.task, stage.protocol, stage.predictor.model
    events = Events.of(stage.stream, batch.events)
    asked_of = events.interactions() if task.about_interactions else events
    asked = task.ask(stage.stream, batch, asked_of, phase)
    found = torch.from_numpy(task.labels(stage.stream, asked_of, asked))
    labels = found.to(stage.device, non_blocking=True)
    if not len(asked) and not len(events.touched):
        return state, torch.empty(0, task.outputs, device=stage.device), labels, asked, asked_of

    def see(asked: Asked, observed: bool) -> View:
        return look(
            stage.index,
            stage.features,
            model.sees,
            batch,
            events,
            asked_of.in_batch(asked),
            observed=observed,
            strategy=protocol.neighbors,
            seed=protocol.seed + phase.epoch,
            pairs=stage.pairs,
        )

    if task.observe_first:
        view = see(asked, observed=True)
        state = model.observe(state, events, view)
        if not len(asked):
            scores = torch.empty(0, task.outputs, device=stage.device)
        else:
            scores, _ = stage.predictor.score(state, view, recall=True)
        return state, scores, labels, asked, asked_of

    z = None
    if not len(asked):
        view = see(asked, observed=False)
        scores = torch.empty(0, task.outputs, device=stage.device)
    elif learning or len(asked) <= PAIRS_AT_ONCE or one_embedding_per_node(model, batch):
        view = see(asked, observed=False)
        scores, z = stage.predictor.score(state, view)
    else:
        # Nothing is shared between far pairs: a few are seen at a time.
        scores = torch.cat(
            [
                stage.predictor.score(state, see(part, observed=False))[0]
                for part in asked.parts(PAIRS_AT_ONCE)
            ]
        )
        view = see(asked.first(0), observed=False)
    # Without gradients through time the past is a constant: what is stored carries none.
    with torch.set_grad_enabled(learning and protocol.horizon > 0):
        if protocol.update_from == "observed":
            view, z = see(asked.first(0), observed=True), None
        elif z is not None and protocol.horizon == 0:
            z = z.detach()
        state = model.observe(state, events, view, z)
    return state, scores, labels, asked, asked_of


def one_embedding_per_node(model: Model, batch: Batch) -> bool:
    """Whether a node asked about many times in a batch is embedded once.

    So it is where all questions see the same past (``stale``), the time of the question does not
    enter, and the embedding does not depend on the partner. Otherwise the key is (node, cut, time).
    """
    stale = isinstance(batch.cut, int)
    return stale and isinstance(model, NodeEncoder) and not model.sees.query_time


def _learn(
    stage: Stage, losses: list[tuple[Tensor, int]], optimiser: torch.optim.Optimizer
) -> None:
    """One step of the optimiser on the mean loss over all pairs asked since the last one."""
    total = losses[0][0]
    if len(losses) > 1:
        pairs = sum(count for _, count in losses)
        total = torch.stack([loss * (count / pairs) for loss, count in losses]).sum()
    optimiser.zero_grad(set_to_none=True)
    total.backward()  # type: ignore[no-untyped-call]
    if stage.protocol.clip:
        torch.nn.utils.clip_grad_norm_(stage.predictor.parameters(), stage.protocol.clip)
    optimiser.step()
