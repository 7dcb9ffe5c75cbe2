"""Streams on which a signal is planted at one node, and watched as events go by.

They have as many features of nodes and of events as the model to be studied; one of each, as
T-PathGraph's variant ``paper``, if not told otherwise. Events follow one another at a time of 1.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from ctan.arrays import IntArray
from ctan.datasets import path_graphs
from ctan.errors import CtanError, unknown_name
from ctan.events import EventStream
from ctan.models import UPDATES


class _Columns(TypedDict):
    msg: NDArray[np.float32] | None
    x: NDArray[np.float32] | None


def path(
    length: int, *, graphs: int = 64, seed: int = 9, node_dim: int = 1, edge_dim: int = 1
) -> EventStream:
    """T-PathGraph, variant ``paper``: the signal has to travel from node to node.

    ::

        signal 0 ──t=0── 1 ──t=1── 2 ──t=2── ... ──t=n-2── n-1

    Example:
        >>> path(3, graphs=1).src.tolist()
        [0, 1]
    """
    stream = path_graphs(length, graphs=graphs, seed=seed)
    if (node_dim, edge_dim) == (1, 1):
        return stream
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (stream.num_nodes, node_dim))
    x[::length] = rng.choice([-1.0, 1.0], (graphs, 1))
    return EventStream.from_arrays(
        src=stream.src,
        dst=stream.dst,
        t=stream.t,
        graph=stream.graph,
        num_nodes=stream.num_nodes,
        **_features(rng, len(stream), x, edge_dim),
    )


def star(
    events: int, *, graphs: int = 64, seed: int = 9, node_dim: int = 1, edge_dim: int = 1
) -> EventStream:
    """One node meets a new partner at each event: the signal has to stay where it is.

    ::

        signal 0 ──t=0──╮
               2 ──t=1──┤
               3 ──t=2──┼── 1   (the hub, with feature 0)
                   ...  │
           events ──────╯

    Partners and events carry noise as in T-PathGraph; the first partner carries the signal.

    Example:
        >>> stream = star(3, graphs=1)
        >>> stream.src.tolist(), stream.dst.tolist()
        ([0, 2, 3], [1, 1, 1])
    """
    if events < 1 or graphs < 1:
        raise CtanError(f"a star of {events} events, {graphs} graphs: expected at least 1 of each.")
    rng = np.random.default_rng(seed)
    nodes = events + 1
    x = rng.uniform(-1, 1, (graphs, nodes, node_dim))
    x[:, 0] = rng.choice([-1.0, 1.0], (graphs, 1))
    x[:, 1] = 0.0
    t = np.repeat(np.arange(events), graphs)
    graph = np.tile(np.arange(graphs), events)
    return EventStream.from_arrays(
        src=graph * nodes + np.where(t == 0, 0, t + 1),
        dst=graph * nodes + 1,
        t=t,
        graph=graph,
        num_nodes=graphs * nodes,
        **_features(rng, len(t), x.reshape(graphs * nodes, node_dim), edge_dim),
    )


def relay(
    hops: int,
    *,
    steps: int = 1,
    update: str = "endpoints",
    seed: int = 9,
    node_dim: int = 1,
    edge_dim: int = 1,
) -> EventStream:
    """A path that stands already, and the fewest events that carry node 0's input to its end.

    ::

        0 ─── 1 ─── 2 ─── ... ─── hops

    It is built from the far end, so that the event 0 ─ 1, its last, is the first that tells of 0.
    After that, single nodes have an event with themselves wherever what is known has to be passed
    on: every L hops for a model of L steps. Where an event updates all nodes within L hops of it
    (``ball``) it takes ceil(hops / L) events in all, as the paper argues; where it updates its
    endpoints alone, the event 0 ─ 1 crosses one hop only and it takes 1 + ceil((hops - 1) / L).

    Args:
        hops: length of the path.
        steps: L, how many hops a node reads.
        update: ``endpoints`` or ``ball``.
        seed: of the features.
        node_dim: how many features of nodes.
        edge_dim: how many features of events.

    Example:
        >>> stream = relay(5, steps=2, update="ball")
        >>> list(zip(stream.src.tolist(), stream.dst.tolist()))
        [(4, 5), (3, 4), (2, 3), (1, 2), (0, 1), (2, 2), (4, 4)]
    """
    if hops < 1 or steps < 1:
        raise CtanError(f"a path of {hops} hops, {steps} steps: expected at least 1 of each.")
    if update not in UPDATES:
        raise unknown_name("update", update, UPDATES)
    built = [(node, node + 1) for node in reversed(range(hops))]
    if update == "ball":
        passing = [*range(steps, hops, steps)]
    else:
        passing = [min(node, hops) for node in range(1 + steps, hops + steps, steps)]
    src, dst = zip(*built, *((node, node) for node in passing), strict=True)
    rng = np.random.default_rng(seed)
    return EventStream.from_arrays(
        src=src,
        dst=dst,
        t=np.arange(len(src)),
        **_features(rng, len(src), rng.uniform(-1, 1, (hops + 1, node_dim)), edge_dim),
    )


def _features(
    rng: np.random.Generator, events: int, x: NDArray[np.float64], edge_dim: int
) -> _Columns:
    """Columns of a stream; none where there are no features."""
    msg = rng.uniform(-1, 1, (events, edge_dim)) if edge_dim else None
    return {
        "msg": None if msg is None else msg.astype(np.float32),
        "x": x.astype(np.float32) if x.size else None,
    }


def first_nodes(stream: EventStream) -> IntArray:
    """The source of each graph's first event: where the signal is planted, ``[G]``.

    Example:
        >>> first_nodes(star(3, graphs=2)).tolist()
        [0, 4]
    """
    if stream.graph is None:
        return stream.src[:1]
    _, first = np.unique(stream.graph, return_index=True)
    return stream.src[first]
