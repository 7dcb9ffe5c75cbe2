"""The walk that turns a graph of superpixels into a temporal one."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Walk(NamedTuple):
    """A breadth-first walk; step k goes from node `order[came_from[k]]` to node `order[k + 1]`.

    Attributes:
        order: nodes in the order of their visit, `[n]`.
        came_from: for each node but the first, the place in `order` of the node from which it
            was visited, `[n - 1]`.
    """

    order: NDArray[np.int64]
    came_from: NDArray[np.int64]


def top_left(centroid: NDArray[np.float64]) -> int:
    """The node nearest the origin in L1, the smallest id of equals.

    Example:
        >>> top_left(np.array([[3.0, 0.5], [2.0, 1.0], [0.0, 3.0]]))
        1
    """
    return int(centroid.sum(axis=1).argmin())


def breadth_first(edges: NDArray[np.int64], nodes: int, start: int) -> Walk:
    """Visit each node that can be reached from `start` once; ties go to the smaller id.

    A node's neighbours are visited in order of their ids. Nodes in other components are never
    visited, and are no part of the walk.

    Args:
        edges: pairs of neighbours, in any order, `[m, 2]`.
        nodes: how many there are.
        start: the first to visit.

    Example:
        >>> edges = np.array([[2, 3], [0, 2], [0, 1], [1, 3], [4, 5]])
        >>> walk = breadth_first(edges, nodes=6, start=2)
        >>> walk.order.tolist(), walk.came_from.tolist()
        ([2, 0, 3, 1], [0, 0, 1])
    """
    both = np.concatenate((edges, edges[:, ::-1]))
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    first = np.searchsorted(both[:, 0], np.arange(nodes + 1)).tolist()
    neighbour = both[:, 1].tolist()

    seen = [False] * nodes
    seen[start] = True
    order, came_from, waiting = [start], [], deque([0])
    while waiting:
        place = waiting.popleft()
        node = order[place]
        for other in neighbour[first[node] : first[node + 1]]:
            if not seen[other]:
                seen[other] = True
                waiting.append(len(order))
                order.append(other)
                came_from.append(place)
    return Walk(np.array(order, np.int64), np.array(came_from, np.int64))
