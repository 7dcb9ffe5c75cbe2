"""Fused versions of layers, each equal to the plain version beside it in :mod:`ctan.nn`."""

from ctan.nn.kernels.attention import attend, usable
from ctan.nn.kernels.drive import DriveWeights, drive

__all__ = ["DriveWeights", "attend", "drive", "usable"]
