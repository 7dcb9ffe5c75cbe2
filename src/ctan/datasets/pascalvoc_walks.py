"""From graphs of superpixels to one stream of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctan.datasets.superpixels import NO_CLASS, SuperpixelGraph
from ctan.datasets.superpixels_edges import nearest_pairs
from ctan.datasets.superpixels_walk import Walk, breadth_first, top_left
from ctan.events import EventStream

ADJACENCIES = ("boundary", "coord8")
LABELS = ("centroid", "majority")


class TemporalGraph(NamedTuple):
    """The first nodes of a walk, in the order of their visit: features, classes, whence visited."""

    x: NDArray[np.float32]
    y: NDArray[np.int64]
    came_from: NDArray[np.int64]


def walk_through(graph: SuperpixelGraph, adjacency: str = "boundary") -> Walk:
    """Breadth first from the top left, along `boundary` or `coord8` edges."""
    edges = graph.edges if adjacency == "boundary" else nearest_pairs(graph.centroid)
    return breadth_first(edges, len(graph), top_left(graph.centroid))


def classes_of(graph: SuperpixelGraph, label: str = "centroid") -> NDArray[np.int64]:
    """The class of each superpixel by `centroid` or `majority`, -1 where it is all void, `[n]`.

    Where the pixel at the centroid is void, the majority of the others decides.
    """
    if label == "majority":
        return graph.majority
    return np.where(graph.at_centroid == NO_CLASS, graph.majority, graph.at_centroid)


def first_steps(graph: SuperpixelGraph, walk: Walk, nodes: int, label: str) -> TemporalGraph:
    """The first `nodes` nodes of a walk that has as many."""
    first = walk.order[:nodes]
    y = classes_of(graph, label)
    return TemporalGraph(graph.x[first], y[first], walk.came_from[: nodes - 1])


def union(graphs: Sequence[TemporalGraph], nodes: int) -> EventStream:
    """All graphs in one stream: one time step of every graph, then the next.

    Example:
        >>> path = TemporalGraph(np.zeros((3, 14), np.float32), np.array([7, 0, -1]), np.arange(2))
        >>> star = path._replace(came_from=np.zeros(2, np.int64))
        >>> stream = union([path, star], nodes=3)
        >>> stream.src.tolist(), stream.dst.tolist(), stream.t.tolist(), stream.y.tolist()
        ([0, 3, 1, 3], [1, 4, 2, 5], [0, 0, 1, 1], [0, 0, -1, -1])
    """
    count, steps = len(graphs), nodes - 1
    graph = np.tile(np.arange(count), steps)
    t = np.repeat(np.arange(steps), count)
    return EventStream.from_arrays(
        src=graph * nodes + np.stack([g.came_from for g in graphs], axis=1).ravel(),
        dst=graph * nodes + t + 1,
        t=t,
        msg=np.ones((len(t), 1), np.float32),
        x=np.concatenate([g.x for g in graphs]),
        y=np.stack([g.y[1:] for g in graphs], axis=1).ravel(),
        graph=graph,
        num_nodes=count * nodes,
    )
