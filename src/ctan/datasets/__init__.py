"""The data sets of the paper, by name: `load("wikipedia")`."""

from ctan.datasets.base import About, Dataset
from ctan.datasets.negatives import EvaluationNegatives
from ctan.datasets.pascalvoc import PascalVOC, pascal_voc
from ctan.datasets.pascalvoc_figure import draw_pascal_voc
from ctan.datasets.pascalvoc_released import read_released_pascal_voc
from ctan.datasets.pathgraph import LENGTHS, path_graphs
from ctan.datasets.registry import (
    about,
    default_root,
    download,
    is_known,
    load,
    names,
    options_of,
)

__all__ = [
    "LENGTHS",
    "About",
    "Dataset",
    "EvaluationNegatives",
    "PascalVOC",
    "about",
    "default_root",
    "download",
    "draw_pascal_voc",
    "is_known",
    "load",
    "names",
    "options_of",
    "pascal_voc",
    "path_graphs",
    "read_released_pascal_voc",
]
