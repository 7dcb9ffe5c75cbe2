"""Finding and reading images with their class masks, in VOC's layout or any other folder."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctan._optional import optional
from ctan.datasets.superpixels import Image
from ctan.errors import DataError

_IMAGES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".ppm"})
_MASKS = frozenset({".png", ".bmp", ".tif", ".tiff", ".gif", ".pgm", ".mat"})
_CLASS_MODES = frozenset({"1", "L", "P", "I", "I;16"})  # of Pillow: one whole number per pixel
_LIST_PLACES = (".", "ImageSets/Segmentation")
_SHOWN = 10


@dataclass(frozen=True)
class Pair:
    """An image and its mask; `part` is the list that names it, where lists make the split."""

    name: str
    image: Path
    mask: Path
    part: str | None = None


def raise_problems(where: Path, problems: list[str]) -> None:
    """Raise one error that lists every problem (the first ten in full)."""
    if problems:
        more = len(problems) - _SHOWN
        shown = problems[:_SHOWN] + ([f"and {more:,} more like these"] if more > 0 else [])
        count = f"{len(problems):,} problem{'s' if len(problems) > 1 else ''}"
        raise DataError("\n  - ".join([f"{where}: {count}", *shown]))


def find_pairs(root: Path, images: str, masks: str, split: str | None) -> list[Pair]:
    """The images of a folder that have a mask, or all that its lists name.

    Args:
        root: the folder.
        images: its folder of images.
        masks: its folder of masks; a mask has the name of its image, but for the suffix.
        split: `lists`, `shares`, or None for lists where there are some.

    Returns:
        Pairs in order of name; with lists, in order of `train`, `val` and `test`, and of the list.
    """
    for folder, option in ((root / images, "images"), (root / masks, "masks")):
        if not folder.is_dir():
            raise DataError(
                f"{root}: no folder {folder.name!r}. Expected images in {images!r} and class masks "
                f"of the same names in {masks!r}; to use other folders, say {option}='...'."
            )
    lists = {} if split == "shares" else read_lists(root)
    if split == "lists" and not lists:
        raise DataError(
            f"{root}: no train.txt and val.txt, here or in {_LIST_PLACES[1]}. Add them (one name "
            "in each line), or say split='shares' for 70/15/15 by image."
        )
    problems: list[str] = []
    image_of = _by_name(root / images, _IMAGES, problems)
    mask_of = _by_name(root / masks, _MASKS, problems)
    part_of = {name: part for part, names in lists.items() for name in names}
    wanted = part_of or dict.fromkeys(sorted(mask_of))
    if not wanted:
        problems.append(f"no masks in {masks!r}: expected files ending in {_listed(_MASKS)}")
    for name in wanted:
        named = f" (named in {part_of[name]}.txt)" if part_of else ""
        if name not in image_of:
            problems.append(f"{name}: no image in {images!r}{named}")
        if name not in mask_of:
            problems.append(f"{name}: no mask in {masks!r}{named}")
    raise_problems(root, problems)
    return [Pair(name, image_of[name], mask_of[name], part) for name, part in wanted.items()]


def read_lists(root: Path) -> dict[str, list[str]]:
    """The names in `train.txt`, `val.txt` and, if there is one, `test.txt`; {} without lists."""
    for place in _LIST_PLACES:
        files = {part: root / place / f"{part}.txt" for part in ("train", "val", "test")}
        lists = {
            part: file.read_text(encoding="utf-8").split()
            for part, file in files.items()
            if file.is_file()
        }
        if not lists:
            continue
        problems = [
            f"no {part}.txt beside {' and '.join(f'{found}.txt' for found in lists)}: add it, or "
            "say split='shares'"
            for part in ("train", "val")
            if part not in lists
        ]
        times = Counter(name for names in lists.values() for name in names)
        problems += [
            f"{name}: named {count} times in the lists, expected once"
            for name, count in times.items()
            if count > 1
        ]
        raise_problems(root / place, problems)
        return lists
    return {}


def read_pair(pair: Pair) -> tuple[Image, NDArray[np.integer]]:
    """An image as RGB `[H, W, 3]` and its classes `[H, W]`.

    Raises:
        DataError: a file cannot be read, is no class mask, or the two differ in size.
    """
    try:
        with optional("PIL.Image", "vision").open(pair.image) as picture:
            image = np.asarray(picture.convert("RGB"), np.uint8)
    except (OSError, ValueError, SyntaxError) as error:  # Pillow raises SyntaxError for bad PNGs
        raise DataError(f"{pair.image}: not a readable image ({error})") from error
    mask = _read_mask(pair.mask)
    if mask.shape != image.shape[:2]:
        raise DataError(
            f"{pair.mask}: the mask has {mask.shape[0]} x {mask.shape[1]} pixels (rows x columns), "
            f"its image {image.shape[0]} x {image.shape[1]}"
        )
    return image, mask


def _read_mask(path: Path) -> NDArray[np.integer]:
    """The class of each pixel: of a palette image its indices, never its colours."""
    try:
        if path.suffix == ".mat":  # SBD's format
            content = import_module("scipy.io").loadmat(path)
            mask = np.asarray(content["GTcls"]["Segmentation"][0, 0])
            mode = "L" if mask.ndim == 2 and np.issubdtype(mask.dtype, np.integer) else "?"
        else:
            with optional("PIL.Image", "vision").open(path) as picture:
                mode, mask = picture.mode, np.asarray(picture)
    except (OSError, ValueError, SyntaxError, KeyError, TypeError) as error:
        raise DataError(f"{path}: not a readable mask ({error})") from error
    if mode not in _CLASS_MODES:
        raise DataError(
            f"{path}: a picture of mode {mode}, expected one whole number per pixel, the class "
            "(a palette or grey PNG). To repair: replace each colour by the number of its class"
        )
    return mask.astype(np.int64)


def _by_name(folder: Path, suffixes: frozenset[str], problems: list[str]) -> dict[str, Path]:
    """The files of a folder by name without suffix."""
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in suffixes:
            if path.stem in found:
                problems.append(f"{path.stem}: both {found[path.stem].name} and {path.name}")
            found[path.stem] = path
    return found


def _listed(suffixes: frozenset[str]) -> str:
    return ", ".join(sorted(suffixes))
