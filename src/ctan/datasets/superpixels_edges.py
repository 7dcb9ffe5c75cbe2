"""Which superpixels are neighbours: those that touch, or those whose centres are near."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]


def boundary_pairs(labels: Labels) -> Labels:
    """Neighbours by boundary: the edges of scikit-image's `rag_boundary`.

    A superpixel is joined to the smallest and to the largest id within one step (diagonals
    included) of each of its pixels. The edge image that `rag_boundary` takes, a Sobel image of
    the grey picture in PascalVOC-SP, weighs these edges; it neither adds nor removes one.

    Returns:
        Pairs, smaller id first, in rising order, `[m, 2]`.

    Example:
        >>> boundary_pairs(np.array([[0, 0, 1], [0, 0, 1], [2, 2, 2]])).tolist()
        [[0, 1], [0, 2], [1, 2]]
    """
    low, high = _around(labels, np.minimum), _around(labels, np.maximum)
    lower, higher = low < labels, high > labels
    small = np.concatenate((low[lower], labels[higher]))
    large = np.concatenate((labels[lower], high[higher]))
    return _distinct(small, large, int(labels.max()) + 1)


def nearest_pairs(centroid: NDArray[np.float64], k: int = 8) -> Labels:
    """Neighbours by coordinates: each node and its k nearest, ties by id (`coord8`).

    Two nodes are joined where either is among the nearest of the other.

    Returns:
        Pairs, smaller id first, in rising order, `[m, 2]`.

    Example:
        >>> nearest_pairs(np.array([[0.0, 0], [0, 1], [0, 3]]), k=1).tolist()
        [[0, 1], [1, 2]]
    """
    count = len(centroid)
    squared = np.square(centroid[:, None] - centroid[None]).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, : min(k, count - 1)]
    node = np.repeat(np.arange(count), nearest.shape[1])
    other = nearest.ravel()
    return _distinct(np.minimum(node, other), np.maximum(node, other), count)


def _around(labels: Labels, extreme: Callable[[Labels, Labels], Labels]) -> Labels:
    """The extreme of the 3 x 3 pixels around each pixel, `[H, W]`."""
    padded = np.pad(labels, 1, mode="edge")
    rows = extreme(extreme(padded[:-2], padded[1:-1]), padded[2:])
    return extreme(extreme(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:])


def _distinct(small: Labels, large: Labels, count: int) -> Labels:
    """Each pair once, in rising order."""
    code = np.unique(small * count + large)
    return np.stack((code // count, code % count), axis=1)
