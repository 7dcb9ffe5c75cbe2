"""Show a stream to a model event by event, and stop anywhere: no task, no loss, no learning."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypedDict, cast

import numpy as np
import torch
from torch import Tensor

from ctan.errors import CtanError
from ctan.events import EventStream
from ctan.history import Batch, Lockstep, TemporalIndex, chronological
from ctan.models import Asked, Dims, Events, Features, Model, NodeEncoder, State, View, look


class FeatureSizes(TypedDict):
    """How many features there are."""

    node_dim: int
    edge_dim: int


@dataclass(frozen=True)
class Moment:
    """Right after some events were observed.

    Attributes:
        step: how many steps were observed before.
        events: what happened.
        state: what the model remembers now; the next step owns it.
        src: embeddings of the sources, ``[B, d]``.
        dst: embeddings of the destinations, ``[B, d]``.
    """

    step: int
    events: Events
    state: State
    src: Tensor
    dst: Tensor


class Playback:
    """A stream, ready to be shown to a model.

    A union of disjoint graphs is played in lockstep, the k-th event of all its graphs at once;
    any other stream event by event. Events are observed before embeddings are read.

    Args:
        model: a node encoder, fresh or trained; it is not changed.
        stream: the events; it may have other nodes than the stream the model was built for.
        x: node features ``[N, dn]`` in place of the stream's, to be varied or differentiated.

    Example:
        >>> from ctan.datasets import path_graphs
        >>> from ctan.models import Dims, build
        >>> model = build("ctan", Dims(nodes=5, edge_dim=1, node_dim=1), dim=4)
        >>> [moment.dst.shape for moment in Playback(model, path_graphs(3, graphs=7))]
        [torch.Size([7, 4]), torch.Size([7, 4])]
    """

    def __init__(self, model: Model, stream: EventStream, x: Tensor | None = None) -> None:
        known, given = features_of(model), (stream.node_dim, stream.edge_dim)
        if (known["node_dim"], known["edge_dim"]) != given:
            raise CtanError(
                f"this {type(model).__name__} was made for {known['node_dim']} features of nodes "
                f"and {known['edge_dim']} of events; the stream has {given[0]} and {given[1]}."
            )
        self.model = _at_start(encoder(model), stream)
        self.stream, self.index = stream, TemporalIndex.build(stream)
        features = Features.of(stream)
        self.features = features if x is None else replace(features, x=x)
        self.batches: list[Batch] = (
            list(chronological(0, len(stream), 1))
            if stream.graph is None
            else next(Lockstep.build(stream).segments(np.unique(stream.graph), len(stream)))
        )

    def view(self, step: int) -> tuple[Events, View]:
        """The events of a step, and what a model sees once they happened."""
        batch = self.batches[step]
        events = Events.of(self.stream, batch.events)
        asked = events.in_batch(Asked(events.src, events.dst, np.arange(len(events.src))))
        sees = self.model.sees
        return events, look(self.index, self.features, sees, batch, events, asked, observed=True)

    def __iter__(self) -> Iterator[Moment]:
        """Play from the start."""
        state = self.model.init_state()
        for step in range(len(self.batches)):
            events, view = self.view(step)
            state = self.model.observe(state, events, view)
            z = self.model.recall(state, view)
            yield Moment(step, events, state, z[view.src], z[view.dst])

    def until(self, step: int) -> State:
        """The state after ``step`` steps, without gradient."""
        state = self.model.init_state()
        with torch.no_grad():
            for number in range(step):
                state = self.model.observe(state, *self.view(number))
        return state


@contextmanager
def double_precision() -> Iterator[None]:
    """New tensors have 64 bits inside of this, whatever the state of a model is made of."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def encoder(model: Model) -> NodeEncoder:
    """The model, if it has one embedding per node.

    Example:
        >>> from ctan.models import build
        >>> encoder(build("dygformer", Dims(nodes=1), dim=4))
        Traceback (most recent call last):
        ...
        ctan.errors.CtanError: DyGFormer embeds pairs, not nodes: expected a model with one ...
    """
    if not isinstance(model, NodeEncoder):
        raise CtanError(
            f"{type(model).__name__} embeds pairs, not nodes: expected a model with one "
            "embedding per node, such as ctan, jodie, dyrep, tgn or tgat."
        )
    return model


def features_of(model: Model) -> FeatureSizes:
    """How many features of nodes and of events a model was made for.

    Example:
        >>> from ctan.models import build
        >>> features_of(build("jodie", Dims(nodes=5, edge_dim=3), dim=4))
        {'node_dim': 0, 'edge_dim': 3}
    """
    named = (getattr(part, "dims", None) for part in encoder(model).modules())
    dims = next(each for each in named if isinstance(each, Dims))
    return {"node_dim": dims.node_dim, "edge_dim": dims.edge_dim}


def _at_start(model: NodeEncoder, stream: EventStream) -> NodeEncoder:
    """A copy with the same weights, in evaluation mode; its state is about this stream's nodes.

    Elapsed times count from the stream's first time, and are seen as those of the training data.
    """
    other = copy.deepcopy(model).eval()
    for part in other.modules():
        dims = getattr(part, "dims", None)
        if isinstance(dims, Dims):
            cast(Any, part).dims = replace(
                dims, nodes=stream.num_nodes, start=stream.t[0].item() if len(stream) else 0
            )
    return other
