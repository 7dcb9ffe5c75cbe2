"""Superpixels: an image and its class mask become a small graph, as PascalVOC-SP makes them.

After the Long Range Graph Benchmark (Dwivedi et al., 2022), with SLIC (Achanta et al., 2012).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctan._optional import optional
from ctan.datasets.superpixels_edges import boundary_pairs

#: SLIC is asked for this many segments more than the most that may remain.
MARGIN = 50
#: What each column of `SuperpixelGraph.x` is.
FEATURES = (
    *(f"{statistic}_{channel}" for statistic in ("mean", "std", "max", "min") for channel in "rgb"),
    "row",
    "column",
)
BACKGROUND = 0
NO_CLASS = -1

Labels = NDArray[np.int64]
Image = NDArray[np.uint8]


@dataclass(frozen=True)
class SuperpixelGraph:
    """The superpixels of one image, numbered as SLIC numbers them.

    Attributes:
        x: features as named by `FEATURES`, all in [0, 1], float32 `[n, 14]`.
        centroid: row and column of each centre, in pixels, float64 `[n, 2]`.
        at_centroid: the mask at the rounded centroid, void as -1, `[n]`.
        majority: the most frequent class among the pixels that have one (the smallest of equals);
            -1 where all are void, `[n]`.
        edges: pairs of neighbours by boundary, smaller id first, rising, `[m, 2]`.
        foreground: the most frequent class of the mask beside background; 0 if there is none.
    """

    x: NDArray[np.float32]
    centroid: NDArray[np.float64]
    at_centroid: Labels
    majority: Labels
    edges: Labels
    foreground: int

    def __len__(self) -> int:
        return len(self.x)


def superpixel_graph(
    image: Image, mask: NDArray[np.integer], *, compactness: float, most: int = 500, void: int = 255
) -> SuperpixelGraph:
    """Segment an image and describe its superpixels.

    Args:
        image: `[H, W, 3]`.
        mask: the class of each pixel, `[H, W]`.
        compactness: weight of nearness against likeness of colour in SLIC.
        most: as in `segment`.
        void: the value of `mask` that means no class.

    Example:
        >>> image = np.zeros((40, 60, 3), np.uint8)
        >>> image[:, 30:] = 255
        >>> mask = (image[..., 0] > 0).astype(np.uint8) * 7
        >>> graph = superpixel_graph(image, mask, compactness=10, most=20)
        >>> len(graph), graph.x.shape, sorted(set(graph.at_centroid.tolist())), graph.foreground
        (16, (16, 14), [0, 7], 7)
    """
    labels = segment(image, compactness, most)
    centroid = centroids(labels)
    extent = np.maximum(np.array(labels.shape) - 1, 1)  # first pixel 0, last pixel 1
    x = np.concatenate((colour_statistics(image, labels), centroid / extent), axis=1)

    classes = mask.astype(np.int64)
    classes[classes == void] = NO_CLASS
    row, column = np.rint(centroid).astype(np.int64).T
    foreground = classes[(classes != NO_CLASS) & (classes != BACKGROUND)]
    values, counts = np.unique(foreground, return_counts=True)
    return SuperpixelGraph(
        x=x.astype(np.float32),
        centroid=centroid,
        at_centroid=classes[row, column],
        majority=majority_class(classes, labels),
        edges=boundary_pairs(labels),
        foreground=int(values[counts.argmax()]) if len(values) else BACKGROUND,
    )


def segment(image: Image, compactness: float, most: int = 500) -> Labels:
    """SLIC superpixels: asks for `most + 50`, then for one less, until at most `most` remain.

    The number asked for only sets the grid of seeds, and dozens of numbers share one grid: SLIC
    runs once for each different grid, with the same result as running it for each number.

    Returns:
        The superpixel of each pixel, ids 0 to n - 1, `[H, W]`.

    Example:
        >>> labels = segment(np.zeros((40, 60, 3), np.uint8), compactness=10, most=20)
        >>> labels.shape, np.unique(labels).size
        ((40, 60), 20)
    """
    slic = optional("skimage.segmentation", "vision").slic
    regular_grid = optional("skimage.util", "vision").regular_grid
    scaled = image.astype(np.float32) / 255
    wanted, last_grid = most + MARGIN, None
    while True:
        grid = regular_grid((1, *image.shape[:2]), wanted)  # the seeds that `slic` will take
        if grid != last_grid:
            last_grid = grid
            labels = slic(
                scaled, n_segments=wanted, compactness=compactness, start_label=0, channel_axis=-1
            ).astype(np.int64)
            used = np.bincount(labels.ravel()) > 0
            if np.count_nonzero(used) <= most:
                numbered: Labels = (np.cumsum(used) - 1)[labels]
                return numbered
        wanted -= 1


def centroids(labels: Labels) -> NDArray[np.float64]:
    """The mean row and column of each superpixel's pixels, `[n, 2]`.

    Example:
        >>> centroids(np.array([[0, 0, 1], [0, 0, 1]])).tolist()
        [[0.5, 0.5], [0.5, 2.0]]
    """
    flat = labels.ravel()
    sums = [np.bincount(flat, weights=axis.ravel()) for axis in np.indices(labels.shape)]
    centre: NDArray[np.float64] = np.stack(sums, axis=1) / np.bincount(flat)[:, None]
    return centre


def colour_statistics(image: Image, labels: Labels) -> NDArray[np.float64]:
    """Mean, standard deviation, maximum and minimum of each channel, in [0, 1], `[n, 12]`.

    Example:
        >>> image = np.array([[[0, 10, 255], [0, 30, 255]]], np.uint8)
        >>> (255 * colour_statistics(image, np.array([[0, 0]]))).round().astype(int).tolist()
        [[0, 20, 255, 0, 10, 0, 0, 30, 255, 0, 10, 255]]
    """
    flat = labels.ravel()
    count = np.bincount(flat)
    by_label = np.argsort(flat, kind="stable")
    first = np.cumsum(count) - count
    columns: list[list[NDArray[np.float64]]] = [[], [], [], []]
    for channel in image.reshape(-1, 3).T.astype(np.int64):
        # Sums of integers are exact, so is n sum(v^2) - sum(v)^2: no cancellation.
        total = np.bincount(flat, weights=channel).astype(np.int64)
        squares = np.bincount(flat, weights=channel**2).astype(np.int64)
        grouped = channel[by_label]
        columns[0].append(total / count)
        columns[1].append(np.sqrt(count * squares - total**2) / count)
        columns[2].append(np.maximum.reduceat(grouped, first).astype(np.float64))
        columns[3].append(np.minimum.reduceat(grouped, first).astype(np.float64))
    return np.stack([column for statistic in columns for column in statistic], axis=1) / 255


def majority_class(classes: NDArray[np.int64], labels: Labels) -> Labels:
    """The most frequent class of each superpixel, -1 left aside; the smallest of equals, `[n]`.

    Example:
        >>> labels = np.array([[0, 0, 0, 1, 1, 2]])
        >>> majority_class(np.array([[5, 5, 9, 9, 3, -1]]), labels).tolist()
        [5, 3, -1]
    """
    known = classes != NO_CLASS
    superpixels = int(labels.max()) + 1
    values, code = np.unique(classes[known], return_inverse=True)
    if not len(values):
        return np.full(superpixels, NO_CLASS)
    votes = np.bincount(
        labels[known] * len(values) + code, minlength=superpixels * len(values)
    ).reshape(superpixels, -1)
    return np.where(votes.any(axis=1), values[votes.argmax(axis=1)], NO_CLASS)
