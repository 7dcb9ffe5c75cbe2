"""Encoding of how often nodes occur in two histories (arXiv 2303.13047)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ctan.nn.linear import Linear


class CooccurrenceEncoding(nn.Module):
    r"""Neighbour co-occurrence encoding, patched and projected (eq. 2 to 4 of arXiv 2303.13047).

    A place whose node occurs a times in its own history and b times in the other one is encoded
    as :math:`f(a) + f(b)`, with :math:`f(c) = W_2\, \mathrm{relu}(w_1 c + b_1) + b_2`; patches of
    p places are then projected by one linear map.

    Counts are small whole numbers, so the map of every count at every place of a patch is worked
    out once, and a patch is a sum of 2p rows of that table.

    Args:
        dim: size of the encoding and of its projection.
        patch: places in a patch.

    Example:
        >>> encode = CooccurrenceEncoding(dim=4, patch=2)
        >>> encode(torch.zeros(3, 6, 2, dtype=torch.int64), most=5).shape
        torch.Size([3, 3, 4])
    """

    def __init__(self, dim: int, patch: int = 1) -> None:
        super().__init__()
        self.dim, self.patch = dim, patch
        self.encode = nn.Sequential(nn.Linear(1, dim), nn.ReLU(), Linear(dim, dim))
        self.project = Linear(patch * dim, dim)

    def forward(self, counts: Tensor, most: int) -> Tensor:
        """Encode patches of counts.

        Args:
            counts: int64 ``[B, S, 2]``, in the own and in the other history; S in whole patches.
            most: no count is above this.

        Returns:
            ``[B, S / patch, dim]``.
        """
        weight = self.project.weight
        each = self.encode(
            torch.arange(most + 1, dtype=weight.dtype, device=weight.device)[:, None]
        )
        # [patch, most + 1, dim]: what each count adds at each place of a patch.
        table = each @ weight.view(self.dim, self.patch, self.dim).permute(1, 2, 0)
        place = torch.arange(self.patch, device=counts.device)[:, None] * (most + 1)
        rows = counts.view(-1, self.patch, 2) + place
        summed = F.embedding_bag(rows.flatten(1), table.flatten(0, 1), mode="sum")
        return summed.view(len(counts), -1, self.dim) + self.project.bias

    def extra_repr(self) -> str:
        """Settings, for printing."""
        return f"dim={self.dim}, patch={self.patch}"
