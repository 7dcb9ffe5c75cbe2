"""States at any time, and what follows from them: other protocols, embeddings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ctan.errors import CheckpointError, ProtocolError
from ctan.events import EventStream, Split
from ctan.history import Batch, neighborhood
from ctan.models import Asked, Events, NodeEncoder, State, View
from ctan.tasks import Kept, Lists, Phase, Protocol, Task
from ctan.training.evaluate import Watch, evaluate, measured
from ctan.training.loop import play
from ctan.training.results import Run, results_of
from ctan.training.sources import lists_for
from ctan.training.stage import Stage

#: What the state of a model depends on, beside its weights.
_OF_THE_STATE = ("split", "visibility", "update_from", "neighbors", "batch_size", "order")


class _Silent(Task):
    """Asks nothing: events are only observed."""

    name, outputs, metrics = "silent", 1, ()

    def __init__(self, observe_first: bool) -> None:
        self.observe_first = observe_first

    def ask(self, stream: EventStream, batch: Batch, events: Events, phase: Phase) -> Asked:
        nothing = np.empty(0, np.int64)
        return Asked(nothing, nothing, nothing)

    def labels(self, stream: EventStream, events: Events, asked: Asked) -> NDArray[Any]:
        return np.empty(0, np.int64)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        raise NotImplementedError("nothing was asked")


def replay(stage: Stage, until: int, state: State | None = None, start: int = 0) -> State:
    """The state after the events at positions below ``until``, with the weights as they are.

    Args:
        stage: what is played.
        until: a position.
        state: the state before ``start``, owned by this call; by default that of a new model.
        start: the first position that ``state`` has not seen.

    Example:
        >>> stream = EventStream.from_arrays(src=[0, 1] * 20, dst=[2, 3] * 20, t=range(40))
        >>> stage = Stage.prepare(stream, "link", "ctan", {"dim": 4}, Protocol(batch_size=7))
        >>> replay(stage, until=30).last_update.tolist()
        [28, 29, 28, 29]
    """
    model = stage.predictor.model
    state = model.init_state(stage.device) if state is None else state
    if model.stateful:
        silent = replace(stage, task=_Silent(stage.task.observe_first))
        # Batches end where a part does, as in a run: what a stale batch sees depends on it.
        parts = stage.parts
        ends = (parts.train_end, parts.val_end) if isinstance(parts, Split) else ()
        bounds = [start, *(end for end in ends if start < end < until), until]
        stretches = [silent.stretch(low, high) for low, high in pairwise(bounds)]
        for played in play(silent, state, stretches, Phase("test")):
            state = played.state
    return state


def staged(
    run: Run,
    protocol: Protocol,
    task: str | None = None,
    lists: Mapping[str, Lists] | None = None,
    anew: bool = False,
) -> tuple[Stage, State, bool]:
    """A run's weights under another protocol, with the state before the test part.

    Args:
        run: a finished run.
        protocol: how to measure; fields about training are ignored.
        task: another task with the same readout: ``link`` and ``ranking`` go with each other.
        lists: fixed candidates of ranking by phase; the protocol's negatives are then ``listed``.
        anew: whether the past is observed anew even where the stored state would do. The stored
            one was made while training moved the weights, which is not the same (docs/protocols.md
            shows what it is worth).

    Returns:
        The stage, the state, and whether it is the stored one: it is where the protocols agree on
        all that it depends on; otherwise training and validation are observed anew.
    """
    spec, trained = run.spec, run.spec.protocol
    if protocol.readout != trained.readout:
        protocol = protocol.with_(readout=trained.readout)
    if lists:
        protocol = protocol.with_(negatives="listed")
    task = task or spec.task
    lists = lists_for(replace(spec, task=task, protocol=protocol), lists)
    with torch.random.fork_rng(devices=[]):
        stage = Stage.prepare(
            run.stage.stream, task, spec.model, spec.options, protocol, run.stage.device, lists
        )
    try:
        stage.predictor.load_state_dict(run.stage.predictor.state_dict())
    except RuntimeError as error:
        raise CheckpointError(
            f"the weights of a run of task {spec.task!r} do not answer task {task!r}: {error}"
        ) from error
    same = all(getattr(protocol, name) == getattr(trained, name) for name in _OF_THE_STATE)
    if (same and not anew) or not isinstance(stage.parts, Split):
        tensors = {name: tensor.clone() for name, tensor in run.state.tensors().items()}
        return stage, stage.predictor.model.init_state(stage.device).load(tensors), True
    return stage, replay(stage, stage.parts.val_end), False


def under(
    run: Run,
    protocol: Protocol,
    task: str | None = None,
    lists: Mapping[str, Lists] | None = None,
    anew: bool = False,
    watch: Watch | None = None,
    keep: Callable[[Stage, Kept], None] | None = None,
) -> dict[str, Any]:
    """Measure a run on its test part under another protocol, without training.

    Args:
        run: a finished run.
        protocol: how to measure; fields about training are ignored.
        task: another task with the same readout: ``link`` and ``ranking`` go with each other.
        lists: fixed candidates of ranking by phase; the protocol's negatives are then ``listed``.
        anew: whether the past is observed anew even where the stored state would do.
        watch: called after each batch.
        keep: called with the stage and what was kept of each question.

    Returns:
        Results as of a run, with ``state`` (``stored`` or ``replayed``) and ``trained_under``.

    Example:
        >>> from ctan.training import fit
        >>> stream = EventStream.from_arrays(src=[0, 1] * 20, dst=[2, 3] * 20, t=range(40))
        >>> run = fit(stream, options={"dim": 4}, protocol=Protocol(epochs=1))
        >>> found = under(run, Protocol(batch_size=5, negatives_known=True), task="ranking")
        >>> found["state"], sorted(found["test"])
        ('replayed', ['hits@1', 'hits@10', 'hits@3', 'loss', 'mrr'])
    """
    stage, state, stored = staged(run, protocol, task, lists, anew)
    spec = replace(run.spec, task=stage.task.name, protocol=stage.protocol)
    about = results_of(spec, stage, epoch(run), {})
    del about["val"]
    found = evaluate(stage, state, Phase("test"), watch)
    if keep:
        keep(stage, found.kept)
    return {
        **about,
        **measured(stage, found),
        "state": "stored" if stored else "replayed",
        "trained_under": run.spec.protocol.summary(),
    }


def epoch(run: Run) -> int:
    """The best epoch of a run."""
    found: int = run.results["best_epoch"]
    return found


def embed(run: Run, at: float | None = None, block: int = 4096) -> tuple[NDArray[Any], Tensor]:
    """Embeddings of every node that was seen before a time, as a run's model has them then.

    Args:
        run: a run of a model with one embedding per node.
        at: the time, which is that of the question too; by default right after the last event.
        block: nodes embedded at once.

    Returns:
        Their ids ``[M]``, rising, and their embeddings ``[M, d]``.

    Example:
        >>> from ctan.training import fit
        >>> stream = EventStream.from_arrays(src=[0, 1] * 20, dst=[2, 3] * 20, t=range(40))
        >>> run = fit(stream, options={"dim": 4}, protocol=Protocol(epochs=1))
        >>> nodes, z = embed(run, at=1)  # only the first event is of earlier time
        >>> nodes.tolist(), z.shape
        ([0, 2], torch.Size([2, 4]))
    """
    stage, model = run.stage, run.stage.predictor.model
    if not isinstance(model, NodeEncoder):
        raise ProtocolError(
            f"{run.spec.model} has no embedding of a node by itself: it embeds or scores pairs."
        )
    if not isinstance(stage.parts, Split):
        raise ProtocolError("a union of graphs has no time that its graphs share.")
    stream, index, sees = stage.stream, stage.index, model.sees
    cut = len(stream) if at is None else int(index.cut_at([at])[0])
    moment = stream.t[-1] if at is None else np.asarray(at)
    stage.predictor.eval()
    state = replay(stage, cut)
    nodes = np.flatnonzero(index.degree(np.arange(stream.num_nodes), cut))
    parts = []
    with torch.no_grad():
        for low in range(0, len(nodes), block):
            asked = nodes[low : low + block]
            hood = neighborhood(
                index, asked, cut, k=sees.neighbors, hops=sees.hops,
                time=np.full(len(asked), moment) if sees.query_time else None,
                strategy=stage.protocol.neighbors, seed=stage.protocol.seed,
                own_entry=sees.own_entry,
            )  # fmt: skip
            row = torch.from_numpy(hood.row).to(stage.device)
            window = None
            if sees.window is not None and hood.time is not None:
                window = sees.window.look(index, asked, hood.cut[: len(asked)], hood.time)
            view = View(hood, stage.features, row, row, row[:0], window=window)
            parts.append(model.embed(state, view)[row])
    empty = torch.empty(0, model.dim, device=stage.device)
    return nodes, torch.cat(parts) if parts else empty
