"""Fused versions of layers, each equal to the plain version beside it in :mod:`ctan.nn`."""

from ctan.nn.kernels.attention import attend, usable
from ctan.nn.kernels.drive import DriveWeights, drive
from ctan.nn.kernels.products import linear, product

__all__ = ["DriveWeights", "attend", "drive", "linear", "product", "usable"]
