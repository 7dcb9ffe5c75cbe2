"""T-PascalVOC: which class is the superpixel that a walk through an image visits?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctan.datasets.pascalvoc_build import Job, Progress, superpixel_graphs
from ctan.datasets.pascalvoc_folder import find_pairs, raise_problems
from ctan.datasets.pascalvoc_split import drawn_place, parts_by_lists, refuse_too_few, whole
from ctan.datasets.pascalvoc_walks import (
    ADJACENCIES,
    LABELS,
    TemporalGraph,
    first_steps,
    union,
    walk_through,
)
from ctan.errors import CtanError, unknown_name
from ctan.events import EventStream, GraphSplit, split_by_graph

#: The nodes of a graph at each compactness, as in the paper.
NODES = {10: 434, 30: 474}
SPLITS = ("lists", "shares")


@dataclass(frozen=True, repr=False)
class PascalVOC:
    """A union of temporal graphs, one for each image that has enough superpixels.

    Attributes:
        stream: edge k of graph g visits node `g * nodes + k + 1` at time k; ordered by time, then
            graph. `x` holds `FEATURES`, `msg` is 1, `y` is the class of the visited node, or -1
            where its superpixel is all void.
        split: the graphs of each part.
        images: the name of each graph's image.
        found: superpixels of each image that was read, kept or not.
        unreached: superpixels, of all images together, that no walk can reach.
        rebuilt: images whose cached graph was damaged, and was made again.
        notes: the options taken and what became of the images, in words.

    Example:
        >>> pascal_voc("no/such/folder")
        Traceback (most recent call last):
        ...
        ctan.errors.DataError: no/such/folder: no folder 'JPEGImages'. Expected images in ...
    """

    stream: EventStream
    split: GraphSplit
    images: tuple[str, ...]
    found: NDArray[np.int64]
    unreached: int
    rebuilt: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((*self.notes, str(self.stream)))

    def __repr__(self) -> str:
        return f"PascalVOC({len(self.images)} graphs, {self.stream!r})"


def pascal_voc(
    folder: str | os.PathLike[str],
    *,
    compactness: float = 10,
    nodes: int | None = None,
    adjacency: str = "boundary",
    label: str = "centroid",
    split: str | None = None,
    whole_batches: int | None = None,
    images: str = "JPEGImages",
    masks: str = "SegmentationClass",
    void: int = 255,
    superpixels: int = 500,
    cache: str | os.PathLike[str] | None = None,
    processes: int = 1,
    progress: Progress | None = None,
) -> PascalVOC:
    """Make T-PascalVOC of a folder of images and class masks: VOC's, SBD's or any other.

    Each image is cut into superpixels. A breadth-first walk starts at the one nearest the top left
    corner (L1, in pixels) and visits each once, ties by id; the edges that it takes, in their
    order, are the events. An image whose walk visits fewer than `nodes` superpixels is dropped; of
    a longer walk, what comes later is.

    Args:
        folder: holds the images, the masks, and lists if there are some.
        compactness: of SLIC.
        nodes: of each graph; 434 at compactness 10 and 474 at 30, to be given for any other.
        adjacency: `boundary` (superpixels that touch) or `coord8` (the 8 nearest centroids).
        label: `centroid`, the mask at the rounded centroid, or the majority where that is void;
            or `majority`, of the superpixel's pixels that are not void.
        split: `lists` (train.txt, val.txt and test.txt in `folder` or its ImageSets/Segmentation;
            without test.txt, half of val's images are for test, of each class alike); `shares`,
            70/15/15 of the graphs, in an order drawn from their names; None for lists where there
            are some.
        whole_batches: drop the last graphs, so that a multiple of this number is left: of each
            part by lists, of all by shares. The paper's counts come of 256.
        images: the folder of images in `folder` (SBD: `img`).
        masks: the folder of masks, with the names of their images: palette or grey pictures whose
            values are classes, or SBD's `.mat` (SBD: `cls`).
        void: the value of a mask that means no class.
        superpixels: the most that an image may have.
        cache: where the superpixels of each image are kept; `folder/superpixels` by default.
        processes: how many share the work.
        progress: called with the number of images done and of all images.

    Raises:
        DataError: all that is wrong with the folder, or with its files.
    """
    folder = Path(folder)
    counts = {
        "processes": processes,
        "superpixels": superpixels,
        **({} if whole_batches is None else {"whole_batches": whole_batches}),
    }
    nodes = _checked(compactness, nodes, adjacency, label, split, counts)
    pairs = find_pairs(folder, images, masks, split)
    by_lists = pairs[0].part is not None
    if not by_lists:
        pairs.sort(key=lambda pair: drawn_place(pair.name))
    kept_in = folder / "superpixels" if cache is None else Path(cache)
    kept_in /= f"slic-{superpixels}-compactness-{compactness:g}"
    options = {"compactness": compactness, "most": superpixels, "void": void}
    jobs = [Job(pair, kept_in / f"{pair.name}.npz", options) for pair in pairs]

    graphs: dict[int, TemporalGraph] = {}
    found, reached, foreground = np.zeros((3, len(jobs)), np.int64)
    problems: list[str] = []
    rebuilt: list[str] = []
    for job, graph, problem, was_damaged in superpixel_graphs(jobs, processes, progress):
        if was_damaged:
            rebuilt.append(pairs[job].name)
        if graph is None:
            problems.append(str(problem))
            continue
        walk = walk_through(graph, adjacency)
        found[job], reached[job], foreground[job] = len(graph), len(walk.order), graph.foreground
        if len(walk.order) >= nodes:
            graphs[job] = first_steps(graph, walk, nodes, label)
    raise_problems(folder, problems)

    parts = parts_by_lists(pairs, foreground) if by_lists else [list(range(len(pairs)))]
    large = [[i for i in part if i in graphs] for part in parts]
    used = whole(large, whole_batches)
    refuse_too_few(folder, large, used, nodes, found)
    order = [i for part in used for i in part]
    stream = union([graphs[i] for i in order], nodes)
    ends = np.cumsum([len(part) for part in used])
    return PascalVOC(
        stream=stream,
        split=GraphSplit(*np.split(np.arange(len(order)), ends[:-1]))
        if by_lists
        else split_by_graph(stream),
        images=tuple(pairs[i].name for i in order),
        found=found,
        unreached=int(found.sum() - reached.sum()),
        rebuilt=tuple(rebuilt),
        notes=(
            f"compactness {compactness:g}, graphs by {adjacency}, labels by {label}, split by "
            f"{'lists' if by_lists else 'shares'}",
            f"{len(pairs):,} images of {found.min()} to {found.max()} superpixels, median "
            f"{np.median(found):g}",
            f"{len(graphs):,} of them have {nodes} or more; {len(order):,} are used",
        ),
    )


def _checked(
    compactness: float,
    nodes: int | None,
    adjacency: str,
    label: str,
    split: str | None,
    counts: dict[str, int],
) -> int:
    """The nodes of a graph, once all options have a meaning; `counts` are whole numbers."""
    named = (
        ("adjacency", adjacency, ADJACENCIES),
        ("label", label, LABELS),
        ("split", split or "lists", SPLITS),
    )
    problems = [str(unknown_name(what, it, known)) for what, it, known in named if it not in known]
    if not compactness > 0:
        problems.append(f"compactness={compactness}: expected more than 0, such as 10 or 30.")
    elif nodes is None and compactness not in NODES:
        stated = " and ".join(f"{count} at {at}" for at, count in NODES.items())
        problems.append(
            f"compactness={compactness:g}: the nodes of a graph are known for the paper's two "
            f"values ({stated}). For others, say how many: nodes=..."
        )
    if nodes is not None and nodes < 2:
        problems.append(f"nodes={nodes}: expected at least 2, the ends of one edge.")
    problems += [f"{name}={n}: expected at least 1." for name, n in counts.items() if n < 1]
    if not problems:
        nodes = NODES[int(compactness)] if nodes is None else nodes
        if nodes <= counts["superpixels"]:
            return nodes
        problems.append(
            f"nodes={nodes}: no image will have as many superpixels, as superpixels="
            f"{counts['superpixels']} is the most that it may have. Ask for fewer nodes, or allow "
            "more superpixels."
        )
    raise CtanError("\n".join(problems))
