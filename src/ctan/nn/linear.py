"""A linear map whose products take the fastest road on the CPU."""

from __future__ import annotations

from torch import Tensor, nn

from ctan.nn.kernels.products import linear


class Linear(nn.Linear):
    """:class:`torch.nn.Linear` with its products through :mod:`ctan.nn.kernels.products`.

    Example:
        >>> import torch
        >>> Linear(3, 4)(torch.zeros(2, 3)).shape
        torch.Size([2, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``input [..., in]`` to ``[..., out]``."""
        return linear(input, self.weight, self.bias)
