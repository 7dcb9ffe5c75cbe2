"""Fused versions of layers, each equal to the plain version beside it in :mod:`ctan.nn`."""

from ctan.nn.kernels.attention import by_head, join_heads, pool, usable

__all__ = ["by_head", "join_heads", "pool", "usable"]
