"""Dropout that costs little on the CPU."""

from __future__ import annotations

from torch import Tensor, nn

from ctan.nn.kernels.dropout import dropout


class Dropout(nn.Dropout):
    """:class:`torch.nn.Dropout` through :mod:`ctan.nn.kernels.dropout`.

    Example:
        >>> import torch
        >>> Dropout(0.5).eval()(torch.ones(2)).tolist()
        [1.0, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Drop some of the numbers, while training."""
        return dropout(input, self.p, self.training)
