"""Which images are for training, which for validation, which for test."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctan.datasets.pascalvoc_folder import Pair

PARTS = ("train", "val", "test")


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
