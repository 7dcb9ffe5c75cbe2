"""Fused versions of layers, each equal to the plain version beside it in :mod:`ctan.nn`."""

from ctan.nn.kernels.attention import attend, usable
from ctan.nn.kernels.flow import Course, flow
from ctan.nn.kernels.folded import AttentionWeights
from ctan.nn.kernels.products import linear, product

__all__ = ["AttentionWeights", "Course", "attend", "flow", "linear", "product", "usable"]
