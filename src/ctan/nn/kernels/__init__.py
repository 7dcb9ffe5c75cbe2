"""Fused versions of layers, each equal to the plain version beside it in :mod:`ctan.nn`."""

from ctan.nn.kernels.attention import attend, usable

__all__ = ["attend", "usable"]
