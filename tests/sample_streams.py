"""Small streams with everything that has ever gone wrong in one."""

from __future__ import annotations

import numpy as np

from ctan.events import EventStream

#   the hub 0 meets everyone; 1 ══ 2 meet again and again; 3 meets itself; the last node, no one
_EVENTS = 40
_NODES = 9


def busy_stream(
    seed: int = 0,
    *,
    time: str = "int64",
    node_dim: int = 2,
    edge_dim: int = 3,
    events: int = _EVENTS,
    nodes: int = _NODES,
) -> EventStream:
    """Ties, self-loops, repeated edges, a hub, a node without events; times int64 or float64."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, nodes - 1, (2, events))
    src[::4] = 0
    src[5::8], dst[5::8] = 1, 2
    src[7::13] = dst[7::13] = 3
    gaps = rng.choice([0, 0, 2, 4, 7], events)
    t = 100 + np.cumsum(gaps)
    return EventStream.from_arrays(
        src=src,
        dst=dst,
        t=t if time == "int64" else 0.37 * t,
        msg=rng.normal(size=(events, edge_dim)).astype(np.float32) if edge_dim else None,
        x=rng.normal(size=(nodes, node_dim)).astype(np.float32) if node_dim else None,
        y=rng.integers(-1, 2, events),
        num_nodes=nodes,
    )


def busy_graphs(
    seed: int = 0, *, graphs: int = 3, events: int = 12, nodes: int = 5, node_dim: int = 2
) -> EventStream:
    """A union of such graphs of unequal length, interleaved, most of their events labelled."""
    rng = np.random.default_rng(seed)
    graph = np.repeat(np.arange(graphs), np.arange(events, events - 2 * graphs, -2))
    rng.shuffle(graph)
    src, dst = rng.integers(0, nodes - 1, (2, len(graph)))
    src[::3] = 0
    src[4::5] = dst[4::5] = 1
    return EventStream.from_arrays(
        src=src + graph * nodes,
        dst=dst + graph * nodes,
        t=np.cumsum(rng.choice([0, 0, 2, 5], len(graph))),
        msg=rng.normal(size=(len(graph), 3)).astype(np.float32),
        x=rng.normal(size=(graphs * nodes, node_dim)).astype(np.float32) if node_dim else None,
        y=rng.choice([-1, 0, 1, 1], len(graph)),
        graph=graph,
        num_nodes=graphs * nodes,
    )
