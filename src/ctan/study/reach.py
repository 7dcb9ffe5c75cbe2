"""Which nodes can an event influence, after how many events: theory, and what a model does.

CTAN's state of a node changes when it is updated; it then depends on every node within L hops of it
in the sampled neighbourhood, each with its input and its state. So what entered at a node u is
carried on by later events, L hops each, and along a path it crosses P hops in ceil(P / L) events.
Other models store something else, or nothing: of them there is the measurement alone.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray

from ctan.arrays import IntArray
from ctan.errors import CtanError, unknown_name
from ctan.events import EventStream
from ctan.history import TemporalIndex, ball, neighborhood
from ctan.models import CTAN, UPDATES, Model, Rows, State
from ctan.study.playback import Playback, double_precision


@dataclass(frozen=True)
class Reach:
    """For each node, the first step after which it depends on the source's input.

    Attributes:
        measured: from a model whose source's input was changed, ``[N]``: a node's state differs,
            or the embedding it has at an event of its own; -1 where never.
        theory: from the sampled neighbourhoods alone, ``[N]``; None for models other than CTAN.
    """

    measured: IntArray
    theory: IntArray | None = None


def reachable(
    stream: EventStream, source: int, *, steps: int, neighbors: int = 5, update: str = "endpoints"
) -> IntArray:
    """The position of the event at which each node first depends on the source's input, or -1.

    Args:
        stream: one stream, played event by event.
        source: the node whose features are meant.
        steps: L, how many hops a node reads.
        neighbors: how many recent neighbours of each node.
        update: ``endpoints``, or ``ball``: all nodes within L hops of them.

    Example:
        A path whose edges come in the order of travel.

        >>> stream = EventStream.from_arrays(src=[0, 1, 2], dst=[1, 2, 3], t=[0, 1, 2])
        >>> reachable(stream, 0, steps=1).tolist()
        [0, 0, 1, 2]
    """
    _known(stream, source)
    if steps < 1:
        raise CtanError(f"{steps} steps: expected at least 1.")
    if update not in UPDATES:
        raise unknown_name("update", update, UPDATES)
    index = TemporalIndex.build(stream)
    first = np.full(stream.num_nodes, -1)
    for position in range(len(stream)):
        ends = np.unique([stream.src[position], stream.dst[position]])
        if update == "ball":
            around = neighborhood(index, ends, position + 1, k=neighbors, hops=steps)
            ends = np.unique(around.node[ball(around, around.row, steps)])
        touched = [
            node
            for node in ends
            if first[node] < 0 and _reads(index, node, source, first, position, steps, neighbors)
        ]
        # Only now: an update reads the states from before the event.
        first[touched] = position
    return first


def _reads(
    index: TemporalIndex,
    node: int,
    source: int,
    first: IntArray,
    position: int,
    steps: int,
    neighbors: int,
) -> bool:
    near = neighborhood(index, [node], position + 1, k=neighbors, hops=steps).node
    return bool((near == source).any() or (first[near] >= 0).any())


def reach(model: Model, stream: EventStream, source: int) -> Reach:
    """Compare :func:`reachable` with a model, by changing the sign of the source's input.

    A difference of any size counts, down to the last bit, in double precision: in single precision
    it sinks below the last bit of a state after a few more hops than a fresh model passes well.

    Args:
        model: a node encoder.
        stream: one stream with node features.
        source: the node whose features are changed.

    Example:
        >>> import numpy as np
        >>> from ctan.models import Dims, build
        >>> stream = EventStream.from_arrays(
        ...     src=[0, 1], dst=[1, 2], t=[0, 1], x=np.ones((3, 1), np.float32)
        ... )
        >>> reach(build("ctan", Dims(3, node_dim=1), dim=4), stream, source=0).measured.tolist()
        [0, 0, 1]
    """
    if stream.x is None or stream.graph is not None:
        raise CtanError("reach is measured on one stream (no union of graphs) with node features.")
    _known(stream, source)
    x = torch.tensor(stream.x, dtype=torch.float64)
    other = x.clone()
    other[source] = -other[source]
    measured = np.full(stream.num_nodes, -1)
    with torch.no_grad(), double_precision():
        exact = copy.deepcopy(model).double()
        pairs = zip(Playback(exact, stream, x), Playback(exact, stream, other), strict=True)
        for one, two in pairs:
            differs = _differs(one.state, two.state, stream.num_nodes)
            # A message that waits for the node's next event is no state yet; embeddings count it.
            differs[one.events.src] |= (one.src != two.src).any(dim=1).numpy()
            differs[one.events.dst] |= (one.dst != two.dst).any(dim=1).numpy()
            measured[differs & (measured < 0)] = one.step
    if not isinstance(model, CTAN):
        return Reach(measured)
    theory = reachable(
        stream, source, steps=model.steps, neighbors=model.sees.neighbors, update=model.update
    )
    return Reach(measured, theory)


def _known(stream: EventStream, source: int) -> None:
    if not 0 <= source < stream.num_nodes:
        raise CtanError(f"source {source}: the stream has nodes 0 to {stream.num_nodes - 1}.")


def _differs(one: State, two: State, nodes: int) -> NDArray[np.bool_]:
    tables = [f.name for f in fields(one) if isinstance(getattr(one, f.name), Rows)]
    differs = np.zeros(nodes, bool)
    for name in tables:
        changed = getattr(one, name).dense() != getattr(two, name).dense()
        differs |= changed.any(dim=1).numpy()
    return differs
