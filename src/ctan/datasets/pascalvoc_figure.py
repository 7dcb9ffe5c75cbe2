"""One image on its way to a temporal graph, as a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctan.datasets.pascalvoc import NODES
from ctan.datasets.pascalvoc_folder import find_pairs, read_pair
from ctan.datasets.pascalvoc_walks import classes_of, walk_through
from ctan.datasets.superpixels import BACKGROUND, NO_CLASS, Image, segment, superpixel_graph
from ctan.errors import unknown_name

if TYPE_CHECKING:  # matplotlib takes longer to import than all data sets: only who draws waits
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The classes of VOC, by number.
CLASSES = (
    *("background", "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat"),
    *("chair", "cow", "dining table", "dog", "horse", "motorbike", "person", "potted plant"),
    *("sheep", "sofa", "train", "tv monitor"),
)
Places = NDArray[np.float64]
_INK, _PAPER, _LATE = "#22262e", "#ffffff", "#9aa1ab"
_CLASS_COLOURS = ("#d1495b", "#2e86ab", "#edae49", "#5b8c5a", "#7d5ba6", "#00798c", "#bc6c25")
_BACKGROUND_COLOUR, _VOID_COLOUR = "#dfe3e8", "#22262e"


def draw_pascal_voc(
    folder: str | os.PathLike[str],
    name: str,
    *,
    compactness: float = 10,
    nodes: int | None = None,
    images: str = "JPEGImages",
    masks: str = "SegmentationClass",
    void: int = 255,
    classes: Sequence[str] = CLASSES,
) -> Figure:
    """Draw an image's superpixels, their classes, the graph of those that touch, and the walk.

    Args:
        folder: as for `pascal_voc`.
        name: of the image, without suffix.
        compactness: of SLIC.
        nodes: of a graph, by default as in the paper (elsewhere all); what the walk visits later is
            drawn in grey.
        images: the folder of images.
        masks: the folder of masks.
        void: the value of a mask that means no class.
        classes: a name for each class.

    Returns:
        A figure: `figure.savefig("walk.png")`.

    Example:
        >>> draw_pascal_voc("no/such/folder", "2007_000129")
        Traceback (most recent call last):
        ...
        ctan.errors.DataError: no/such/folder: no folder 'JPEGImages'. ...
    """
    from matplotlib.figure import Figure

    pairs = {pair.name: pair for pair in find_pairs(Path(folder), images, masks, "shares")}
    if name not in pairs:
        raise unknown_name("image", name, pairs)
    image, mask = read_pair(pairs[name])
    labels = segment(image, compactness)
    graph = superpixel_graph(image, mask, compactness=compactness, void=void)
    walk = walk_through(graph)
    at = graph.centroid[:, ::-1]  # x to the right, y down

    height, width = labels.shape
    across, down = 5.7, 5.7 * height / width  # of a panel, in inches
    inches = np.array([12.0, 2 * down + 2.0])
    figure = Figure(figsize=tuple(inches), dpi=100)

    def axes(left: float, bottom: float, tall: float) -> Axes:
        corner, size = np.array([left, bottom]) / inches, np.array([across, tall]) / inches
        return figure.add_axes((*corner, *size))

    places = [(left, bottom) for bottom in (down + 1.6, 0.65) for left in (0.1, 6.2)]
    panels = [axes(left, bottom, down) for left, bottom in places]
    figure.patch.set_facecolor(_PAPER)
    _title(panels[0], f"{len(graph)} superpixels", f"SLIC, compactness {compactness:g}")
    panels[0].imshow(image)
    _borders(panels[0], labels, _PAPER, 0.55)

    of_superpixel = classes_of(graph)
    _title(panels[1], "their classes", "the mask at each centre")
    _classes(panels[1], labels, of_superpixel, classes)
    _borders(panels[1], labels, _PAPER, 0.8)

    _title(panels[2], f"{len(graph.edges):,} edges", "between superpixels that touch")
    panels[2].imshow(_faded(image))
    _lines(panels[2], at[graph.edges], _INK, 0.7)
    _dots(panels[2], at, _INK, 9)

    kept = min(nodes or NODES.get(int(compactness), len(graph)), len(walk.order))
    _title(panels[3], f"{kept - 1} events", "in the order of the visits, breadth first")
    panels[3].imshow(_faded(image))
    scale = axes(6.2, 0.48, 0.1)
    _walk(panels[3], scale, at[walk.order], walk.came_from, kept)
    for panel in panels:
        panel.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5), xticks=[], yticks=[])
        for spine in panel.spines.values():
            spine.set_visible(False)
    return figure


def _walk(panel: Axes, scale: Axes, at: Places, came_from: NDArray[np.int64], kept: int) -> None:
    """The tree of the walk, coloured by time, and what lies beyond the limit in grey."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    steps = np.stack((at[came_from], at[1:]), axis=1)
    no_yellow = ListedColormap(colormaps["plasma"](np.linspace(0, 0.88, 256)))
    time = ScalarMappable(Normalize(0, kept - 2), no_yellow)
    colours = time.to_rgba(np.arange(kept - 1))
    _lines(panel, steps[kept - 1 :], _LATE, 0.8)
    _dots(panel, at[kept:], _LATE, 9)
    _lines(panel, steps[: kept - 1], colours, 1.8)
    _dots(panel, at[1:kept], colours, 14)
    first = {"s": 260, "marker": "*", "color": _INK, "edgecolor": _PAPER, "zorder": 4}
    panel.scatter(at[:1, 0], at[:1, 1], **first)  # type: ignore[arg-type]
    bar = panel.figure.colorbar(time, cax=scale, orientation="horizontal")
    bar.outline.set_linewidth(0)
    beyond = "; grey: beyond the limit" if kept < len(at) else ""
    bar.set_label(f"time of the event (star: where the walk starts{beyond})", color=_INK, size=10)
    bar.ax.tick_params(colors=_INK, labelsize=9, length=2)


def _classes(
    panel: Axes, labels: NDArray[np.int64], of_superpixel: NDArray[np.int64], names: Sequence[str]
) -> None:
    """Each superpixel in the colour of its class, and a legend of the classes that occur."""
    present = np.unique(of_superpixel).tolist()
    others = [number for number in present if number not in (BACKGROUND, NO_CLASS)]
    colours = {BACKGROUND: _BACKGROUND_COLOUR, NO_CLASS: _VOID_COLOUR}
    colours |= {n: _CLASS_COLOURS[i % len(_CLASS_COLOURS)] for i, n in enumerate(others)}
    flat = np.zeros((*labels.shape, 3), np.uint8)
    for number in present:
        rgb = [int(colours[number][i : i + 2], 16) for i in (1, 3, 5)]
        flat[(of_superpixel == number)[labels]] = rgb
        known = number < len(names)
        label = "all void" if number == NO_CLASS else names[number] if known else str(number)
        panel.scatter([], [], marker="s", s=70, color=colours[number], label=label)
    panel.imshow(flat)
    panel.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.01),
        ncols=min(len(present), 6),
        frameon=False,
        labelcolor=_INK,
        handletextpad=0.2,
        columnspacing=1.4,
        fontsize=10,
    )


def _borders(panel: Axes, labels: NDArray[np.int64], colour: str, width: float) -> None:
    """Lines along the sides of pixels at which one superpixel ends and another begins."""
    row, column = np.nonzero(labels[1:] != labels[:-1])
    across = np.stack((column - 0.5, row + 0.5, column + 0.5, row + 0.5), axis=1)
    row, column = np.nonzero(labels[:, 1:] != labels[:, :-1])
    down = np.stack((column + 0.5, row - 0.5, column + 0.5, row + 0.5), axis=1)
    lines = np.concatenate((across, down)).reshape(-1, 2, 2)
    _lines(panel, lines, colour, width)


def _lines(panel: Axes, ends: Places, colours: Any, width: float) -> None:
    """Straight lines, `[n, 2, 2]`."""
    from matplotlib.collections import LineCollection

    panel.add_collection(LineCollection(list(ends), colors=colours, linewidths=width))


def _dots(panel: Axes, at: Places, colours: Any, size: float) -> None:
    """Filled circles, `[n, 2]`."""
    panel.scatter(at[:, 0], at[:, 1], s=size, color=colours, linewidths=0, zorder=3)


def _faded(image: Image) -> Places:
    """The image in pale grey, for lines to be drawn on."""
    grey = image.mean(axis=2, keepdims=True).repeat(3, axis=2) / 255
    pale: Places = 0.72 + 0.27 * grey
    return pale


def _title(panel: Axes, large: str, small: str) -> None:
    panel.set_title(large, loc="left", color=_INK, fontsize=13, fontweight="bold")
    panel.set_title(small, loc="right", color="#5d6570", fontsize=10)
