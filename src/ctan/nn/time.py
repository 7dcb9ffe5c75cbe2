"""Encodings of elapsed time."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from ctan.nn import kernels


class TimeEncoding(nn.Module):
    r"""Learned harmonics of elapsed time, :math:`\cos(w \Delta + b)` (TGAT, arXiv 2002.07962).

    Args:
        dim: number of harmonics.

    Shapes:
        - ``delta``: any shape
        - output: that shape with ``dim`` appended

    Example:
        >>> TimeEncoding(3)(torch.zeros(2, 5)).shape
        torch.Size([2, 5, 3])
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim
        self.linear = nn.Linear(1, dim)

    def forward(self, delta: Tensor) -> Tensor:
        """Encode ``delta``."""
        return kernels.harmonics(delta, self.linear.weight, self.linear.bias)

    def extra_repr(self) -> str:
        """Settings, for printing."""
        return f"dim={self.dim}"


class FixedTimeEncoding(nn.Module):
    r"""Harmonics of elapsed time that are not trained, :math:`\cos(w_i \Delta)`.

    Frequencies fall geometrically from 1 to ``slowest``: :math:`10^{-9}` is what TGAT starts from
    (arXiv 2002.07962), :math:`\sqrt{d}^{-(d - 1) / \sqrt{d}}` GraphMixer's (arXiv 2302.11636).
    Elapsed times go in as they are, in the stream's unit and precision.

    Args:
        dim: number of harmonics.
        slowest: the last frequency.

    Shapes:
        - ``delta``: any shape
        - output: that shape with ``dim`` appended, in torch's default precision

    Example:
        >>> FixedTimeEncoding(3, slowest=0.01)(torch.tensor([0, 100])).round(decimals=2)
        tensor([[ 1.0000,  1.0000,  1.0000],
                [ 0.8600, -0.8400,  0.5400]])
    """

    frequencies: Tensor

    def __init__(self, dim: int, slowest: float = 1e-9) -> None:
        super().__init__()
        self.dim, self.slowest = dim, slowest
        scale = torch.logspace(0, math.log10(slowest), dim, dtype=torch.float64)
        self.register_buffer("frequencies", scale, persistent=False)

    def forward(self, delta: Tensor) -> Tensor:
        """Encode ``delta``; the product with 1.6e9 seconds has no digits left in float32."""
        angle = delta.to(torch.float64).unsqueeze(-1) * self.frequencies
        return torch.cos(angle).to(torch.get_default_dtype())

    def extra_repr(self) -> str:
        """Settings, for printing."""
        return f"dim={self.dim}, slowest={self.slowest}"
