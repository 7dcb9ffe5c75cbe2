"""The data sets of the paper."""

from ctan.datasets.pathgraph import LENGTHS, path_graphs

__all__ = ["LENGTHS", "path_graphs"]
