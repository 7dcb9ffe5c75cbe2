"""T-PascalVOC as a data set of the registry."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ctan.datasets.base import About, Dataset, Entry
from ctan.datasets.pascalvoc import pascal_voc
from ctan.datasets.pascalvoc_build import Progress
from ctan.datasets.pascalvoc_released import read_released_pascal_voc
from ctan.errors import DataError, unknown_name

SOURCES = ("images", "released")
ABOUT = About(
    name="t-pascalvoc",
    title="tell the class of each superpixel as a walk through the image visits it",
    source="made here from images and masks; VOC's: http://host.robots.ox.ac.uk/pascal/VOC/",
    licence="VOC's images come from Flickr, under its terms of use",
    citation=(
        "A. Gravina et al.: Long Range Propagation on Continuous-Time Dynamic Graphs, ICML 2024; "
        "V. P. Dwivedi et al.: Long Range Graph Benchmark, NeurIPS 2022; "
        "M. Everingham et al.: The Pascal Visual Object Classes (VOC) Challenge, IJCV 2010"
    ),
    surprise="1.0",
)
#: The paper's table: the nodes of all graphs, the events of 24 batches of 256 graphs (and 1).
PUBLISHED: dict[float, dict[str, int]] = {
    10: {"nodes": 2_671_704, "events": 2_660_352},
    30: {"nodes": 2_990_466, "events": 2_906_113},
}


def load_pascal_voc(
    root: Path,
    folder: str = "t-pascalvoc",
    source: str = "images",
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
    cache: str | None = None,
    processes: int = 1,
    watch: Progress | None = None,
) -> Dataset:
    """T-PascalVOC of `root/folder`: from images and masks, or from the authors' CSV files.

    With `source="released"` only `compactness` has a meaning; the others are those of
    `pascal_voc`.

    `watch` is told of the images that are done.

    Example:
        >>> load_pascal_voc(Path("data"), source="relesed")
        Traceback (most recent call last):
        ...
        ctan.errors.CtanError: unknown source of T-PascalVOC 'relesed': did you mean 'released'? ...
    """
    if source not in SOURCES:
        raise unknown_name("source of T-PascalVOC", source, SOURCES)
    if not (root / folder).is_dir():
        raise DataError(_absent(root / folder, source, images, masks))
    about = replace(ABOUT, published=PUBLISHED.get(compactness, {}))
    if source == "released":
        stream, parts = read_released_pascal_voc(root / folder, compactness)
        return Dataset(about, stream, parts, notes=("the authors' CSV files",))
    made = pascal_voc(
        root / folder,
        compactness=compactness,
        nodes=nodes,
        adjacency=adjacency,
        label=label,
        split=split,
        whole_batches=whole_batches,
        images=images,
        masks=masks,
        void=void,
        superpixels=superpixels,
        cache=cache,
        processes=processes,
        progress=watch,
    )
    return Dataset(about, made.stream, made.split, notes=made.notes)


def _absent(folder: Path, source: str, images: str, masks: str) -> str:
    """What to fetch by hand, and where to put it."""
    by_hand = (
        f"images in {images!r} and class masks of the same names in {masks!r}, such as those of "
        "VOC2012 (http://host.robots.ox.ac.uk/pascal/VOC/voc2012/)"
        if source == "images"
        else "the authors' CSV files (https://github.com/gravins/non-dissipative-propagation-CTDGs)"
    )
    return (
        f"{folder}: there is no such folder. T-PascalVOC is not downloaded. To repair: put there "
        f"{by_hand}; or name another folder: folder='...' (--data-option folder=...)."
    )


ENTRY = Entry(ABOUT, load_pascal_voc)
