"""Everything a run needs that does not change while it runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ctan.errors import ProtocolError
from ctan.events import (
    EventStream,
    GraphSplit,
    Split,
    split_by_count,
    split_by_graph,
    split_by_time,
)
from ctan.history import (
    Batch,
    Lockstep,
    PairIndex,
    TemporalIndex,
    causal,
    chronological,
    elapsed_statistics,
    parted_at_deletions,
    time_groups,
)
from ctan.models import Dims, Features, Model, NodeEncoder, PairScorer, State, View, build
from ctan.nn import Readout
from ctan.tasks import Lists, Phase, Protocol, Task, make_task

SPLITS: dict[str, Callable[[EventStream], Split | GraphSplit]] = {
    "time": split_by_time,
    "count": split_by_count,
    "graph": split_by_graph,
}


class Predictor(nn.Module):
    """A model and the readout of its embeddings: the weights of a run.

    Args:
        model: a node or pair encoder, or a scorer without weights.
        readout: from embeddings to scores; None for a scorer.

    Example:
        >>> from ctan.models import build
        >>> predictor = Predictor(build("jodie", Dims(nodes=3), dim=4), Readout(4))
        >>> sum(p.numel() for p in predictor.parameters())
        205
    """

    def __init__(self, model: Model, readout: Readout | None) -> None:
        super().__init__()
        self.model, self.readout = model, readout

    def score(self, state: State, view: View, recall: bool = False) -> tuple[Tensor, Tensor | None]:
        """Scores ``[P, outputs]`` of the asked pairs, and the embeddings if nodes have one each.

        Args:
            state: what the model remembers.
            view: what it may see.
            recall: read the embeddings that observing left, instead of embedding.
        """
        if isinstance(self.model, PairScorer):
            return self.model.score(view), None
        assert self.readout is not None
        if not isinstance(self.model, NodeEncoder):
            return self.readout(*self.model.embed_pairs(state, view)), None
        z = self.model.recall(state, view) if recall else self.model.embed(state, view)
        # The readout's first layer once per node, not once per pair.
        return self.readout.pairs(z, view.src, view.dst), z


@dataclass(frozen=True)
class Stage:
    """A stream, a task, a model and a protocol, prepared to be played.

    Attributes:
        stream: the events.
        parts: training, validation and test.
        index: who met whom.
        features: the feature tables, on the device.
        task: what is asked.
        protocol: how.
        predictor: model and readout.
        pairs: how often and when pairs met, if the model reads it.
    """

    stream: EventStream
    parts: Split | GraphSplit
    index: TemporalIndex
    features: Features
    task: Task
    protocol: Protocol
    predictor: Predictor
    pairs: PairIndex | None = None
    _lockstep: Lockstep | None = field(repr=False, default=None)

    @classmethod
    def prepare(
        cls,
        stream: EventStream,
        task: str,
        model: str,
        options: dict[str, Any],
        protocol: Protocol,
        device: str | torch.device = "cpu",
        lists: Mapping[str, Lists] | None = None,
    ) -> Stage:
        """Split, index and build; torch's generator gives the weights.

        Args:
            stream: the events.
            task: name of the task.
            model: name of the model.
            options: of the model.
            protocol: how to train and measure.
            device: where tensors live.
            lists: fixed candidates of ranking by phase, for ``negatives="listed"``.

        Example:
            >>> from ctan.datasets import path_graphs
            >>> protocol = Protocol(split="graph")
            >>> stage = Stage.prepare(path_graphs(3), "sequence", "ctan", {"dim": 4}, protocol)
            >>> len(stage.parts.train)
            700
        """
        parts = SPLITS[protocol.split](stream)
        asking = make_task(task, stream, parts, protocol, lists)
        dims = measure(stream, parts)
        encoder = build(model, dims, **options)
        if isinstance(encoder, PairScorer):
            readout = None
            if asking.outputs != 1:
                raise ProtocolError(
                    f"{model} gives one score to a pair, and task {task!r} wants {asking.outputs} "
                    "classes: use a model that learns, or task 'link' or 'ranking'."
                )
        else:
            readout = Readout(encoder.dim, asking.outputs, protocol.readout)
        if protocol.visibility != "stale" and isinstance(parts, GraphSplit):
            raise ProtocolError(
                f"visibility {protocol.visibility!r} is about events of one stream; in a union of "
                "graphs each graph's events follow one another anyway: use 'stale'."
            )
        return cls(
            stream=stream,
            parts=parts,
            index=TemporalIndex.build(stream),
            features=Features.of(stream, device),
            task=asking,
            protocol=protocol,
            predictor=Predictor(encoder, readout).to(device),
            pairs=PairIndex.build(stream) if encoder.sees.contacts else None,
            _lockstep=Lockstep.build(stream) if isinstance(parts, GraphSplit) else None,
        )

    @property
    def device(self) -> torch.device:
        """Where tensors live."""
        return self.features.device

    def segments(self, phase: Phase) -> Iterator[Iterable[Batch]]:
        """The batches of a phase, in segments between which no gradient flows.

        A stream is one segment; a union of graphs has one for each group of graphs, in a new
        order in each epoch of training.
        """
        protocol = self.protocol
        if isinstance(self.parts, GraphSplit):
            graphs = getattr(self.parts, phase.name)
            if phase.training:
                graphs = np.random.default_rng([protocol.seed, phase.epoch]).permutation(graphs)
            assert self._lockstep is not None
            yield from self._lockstep.segments(graphs, protocol.graph_batch)
        else:
            part = getattr(self.parts, phase.name)
            yield self.stretch(part.start, part.stop)

    def stretch(self, lo: int, hi: int) -> Iterator[Batch]:
        """Batches of the events at positions ``[lo, hi)``, under the protocol's visibility."""
        stateful = self.predictor.model.stateful
        if self.protocol.visibility == "stale":
            batches = chronological(lo, hi, self.protocol.batch_size)
        elif self.protocol.visibility == "position":
            batches = _by_position(lo, hi, self.protocol.batch_size, stateful)
        elif stateful:
            batches = time_groups(self.stream, lo, hi)
        else:
            batches = causal(self.stream, self.index, lo, hi, self.protocol.batch_size)
        forgets = stateful and self.features.forgets
        return parted_at_deletions(self.stream, batches) if forgets else batches

    def batches(self, phase: Phase) -> int:
        """How many batches a phase has."""
        parted = self.features.forgets
        if isinstance(self.parts, Split) and self.protocol.visibility == "stale" and not parted:
            part: slice = getattr(self.parts, phase.name)
            count: int = part.stop - part.start
            return math.ceil(count / self.protocol.batch_size)
        return sum(sum(1 for _ in segment) for segment in self.segments(phase))


def _by_position(lo: int, hi: int, size: int, stateful: bool) -> Iterator[Batch]:
    """Each query sees all that stands before it; a state can follow only one by one."""
    for batch in chronological(lo, hi, 1 if stateful else size):
        yield Batch(batch.events, batch.events, batch.events + 1)


def measure(stream: EventStream, parts: Split | GraphSplit) -> Dims:
    """What a model must know of a stream beforehand; elapsed times from the training part only.

    Example:
        >>> from ctan.datasets import path_graphs
        >>> stream = path_graphs(9)
        >>> dims = measure(stream, split_by_graph(stream))
        >>> dims.elapsed_mean, round(dims.elapsed_std, 5)
        (2.1875, 2.09818)
    """
    if isinstance(parts, Split):
        mean, std = elapsed_statistics(stream, parts.train.start, parts.train.stop)
    else:
        assert stream.graph is not None
        chosen = np.flatnonzero(np.isin(stream.graph, parts.train))
        mean, std = elapsed_statistics(stream, positions=chosen)
    return Dims(
        nodes=stream.num_nodes,
        edge_dim=stream.edge_dim,
        node_dim=stream.node_dim,
        start=stream.t[0].item() if len(stream) else 0,
        elapsed_mean=mean,
        elapsed_std=std,
        training_time=_training_time(stream, parts),
    )


def _training_time(stream: EventStream, parts: Split | GraphSplit) -> float | int:
    if isinstance(parts, GraphSplit) or not parts.train_end:
        return 0
    last: float | int = (stream.t[parts.train_end - 1] - stream.t[0]).item()
    return last
