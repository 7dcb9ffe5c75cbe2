"""Which images are for training, which for validation, which for test."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctan.datasets.pascalvoc_folder import Pair
from ctan.errors import DataError

PARTS = ("train", "val", "test")
#: Of fewer graphs, 70/15/15 leaves one part empty.
_FEWEST_BY_SHARES = 6


def drawn_place(name: str) -> bytes:
    """A sort key that puts names in an order as good as random, the same on every machine.

    In alphabetical order, the last images would be the newest ones, or those of one class.

    Example:
        >>> sorted(["2007_01", "2007_02", "2008_01", "2008_02"], key=drawn_place)
        ['2007_01', '2008_02', '2008_01', '2007_02']
    """
    return hashlib.sha256(name.encode()).digest()


def parts_by_lists(pairs: Sequence[Pair], foreground: NDArray[np.int64]) -> list[list[int]]:
    """The images of each part, by number; without a list for test, `val` serves both.

    Args:
        pairs: images with the list that names each.
        foreground: the most frequent class of each image's mask beside background.
    """
    part_of = [pair.part for pair in pairs]
    if "test" not in part_of:
        val = [i for i, part in enumerate(part_of) if part == "val"]
        for i, part in zip(val, halve(foreground[val]), strict=True):
            part_of[i] = part
    return [[i for i, part in enumerate(part_of) if part == wanted] for wanted in PARTS]


def halve(foreground: NDArray[np.int64]) -> list[str]:
    """The part of each image of a list that serves both validation and test.

    As in PascalVOC-SP, both halves have the same share of each class, an image counting for the
    most frequent class of its mask beside background. Images are put in order of class, then of
    the list; the first is for test, the second for validation, and so on in turn. Superpixels
    play no part: the same images are for test at every compactness.

    Example:
        >>> halve(np.array([7, 2, 7, 2, 7]))
        ['test', 'test', 'val', 'val', 'test']
    """
    part = [""] * len(foreground)
    for turn, i in enumerate(np.argsort(foreground, kind="stable")):
        part[i] = ("test", "val")[turn % 2]
    return part


def whole(groups: list[list[int]], batch: int | None) -> list[list[int]]:
    """Each group without its last members, so that its length is a multiple of `batch`.

    Example:
        >>> whole([[0, 1, 2, 3, 4], [5, 6]], batch=2)
        [[0, 1, 2, 3], [5, 6]]
    """
    if batch is None:
        return groups
    return [group[: len(group) // batch * batch] for group in groups]


def refuse_too_few(
    folder: Path,
    large: list[list[int]],
    used: list[list[int]],
    nodes: int,
    found: NDArray[np.int64],
) -> None:
    """Say what to change where a part is left without graphs.

    Args:
        folder: of the images.
        large: the images of each part that have enough superpixels; of all, by shares.
        used: those that are left in whole batches.
        nodes: of a graph.
        found: superpixels of each image.
    """
    by_lists = len(large) > 1
    fewest = 1 if by_lists else _FEWEST_BY_SHARES
    if min(map(len, used)) >= fewest:
        return
    in_batches = min(map(len, large)) >= fewest  # there would be enough without them
    sizes = [f"{len(part):,}" for part in large]
    counts = ", ".join(f"{n} for {part}" for n, part in zip(sizes, PARTS, strict=False))
    of_all = f"{sizes[0]}, expected at least {fewest} to share among three parts"
    smaller = " or smaller batches (whole_batches=...)" if in_batches else ""
    raise DataError(
        f"{folder}: too few graphs of {nodes} nodes{' for whole batches' if in_batches else ''}: "
        f"{counts if by_lists else of_all}. The images have {found.min()} to {found.max()} "
        f"superpixels, median {np.median(found):g}. To repair: ask for fewer nodes (nodes=...)"
        f"{smaller}, or add images."
    )
