"""Encodings of elapsed time."""

from __future__ import annotations

import torch
from torch import Tensor, nn


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
        return torch.cos(self.linear(delta.unsqueeze(-1)))

    def extra_repr(self) -> str:
        """Settings, for printing."""
        return f"dim={self.dim}"
