"""Layers that give each node a new state from its own and its temporal neighbours'.

All have one signature: ``layer(h [M, in_dim], edges) -> [T, out_dim]``, where the targets are the
first ``T`` rows of ``h``.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ctan.errors import unknown_name
from ctan.nn import kernels
from ctan.nn.aggregate import Attention
from ctan.nn.edges import Incoming
from ctan.nn.linear import Linear


class AttentionLayer(nn.Module):
    r"""The graph convolution of the paper's comparison (arXiv 2009.03509).

    .. math:: h'_u = \tanh\bigl(W h_u + \Phi(h_u, \{h_v, \hat e_{uv}\}_{v \in N_u})\bigr)

    with :math:`\Phi` the attention of :class:`ctan.nn.Attention`. Each head has ``dim`` units and
    the heads stand side by side, so the output has ``heads * dim``: with two heads this form, and
    not the division of ``dim`` among them, gives the parameter budgets of the paper.

    Args:
        in_dim: size of the node states.
        dim: size of each head.
        edge_dim: size of the edge attributes.
        heads: number of heads.
        dropout: share of attention weights dropped while training.

    Example:
        >>> slot, present = torch.tensor([[1]]), torch.tensor([[True]])
        >>> edges = Incoming(slot, present, torch.tensor([1, 1]), attr=torch.zeros(1, 1, 3))
        >>> AttentionLayer(5, 4, edge_dim=3)(torch.ones(2, 5), edges).shape
        torch.Size([1, 8])
    """

    def __init__(
        self, in_dim: int, dim: int, edge_dim: int, heads: int = 2, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.out_dim = heads * dim
        self.phi = Attention(self.out_dim, edge_dim, heads, dropout, in_dim)
        self.own = Linear(in_dim, self.out_dim)

    def forward(self, h: Tensor, edges: Incoming) -> Tensor:
        """The next states ``[T, heads * dim]`` of the first ``T`` rows of ``h``."""
        if not kernels.usable(h, edges.attr, edges.table):
            return torch.tanh(self.own(h[: edges.targets]) + self.phi(h, edges))
        weights = self.phi.weights()._replace(own=self.own.weight, own_bias=self.own.bias)
        keep = self.phi.draw_dropout(h, edges)
        return kernels.tanh(kernels.attend(h, edges, weights, self.phi.heads, keep))


class SumLayer(nn.Module):
    r"""The temporal graph sum of TGN (arXiv 2006.10637).

    .. math::
        h'_u = W_2 \bigl[h_u \,\|\, \mathrm{relu}\bigl(\textstyle\sum_v W_1 [h_v \,\|\,
        \hat e_{uv}]\bigr)\bigr]

    Args:
        in_dim: size of the node states.
        dim: size of the output.
        edge_dim: size of the edge attributes.

    Example:
        >>> slot, present = torch.tensor([[1]]), torch.tensor([[True]])
        >>> edges = Incoming(slot, present, torch.tensor([1, 1]), attr=torch.zeros(1, 1, 3))
        >>> SumLayer(5, 4, edge_dim=3)(torch.ones(2, 5), edges).shape
        torch.Size([1, 4])
    """

    def __init__(self, in_dim: int, dim: int, edge_dim: int) -> None:
        super().__init__()
        self.out_dim = dim
        self.gather = Linear(in_dim + edge_dim, dim, bias=False)
        self.merge = Linear(in_dim + dim, dim)

    def forward(self, h: Tensor, edges: Incoming) -> Tensor:
        """The next states ``[T, dim]`` of the first ``T`` rows of ``h``."""
        # The map is linear: sum first, then one product per target instead of one per neighbour.
        weight = edges.present.to(h.dtype).unsqueeze(1)
        met = torch.cat([weight @ h[edges.slot], weight @ edges.attributes], dim=-1).squeeze(1)
        told = torch.relu(self.gather(met))
        merged: Tensor = self.merge(torch.cat([h[: edges.targets], told], dim=1))
        return merged


CONVOLUTIONS: dict[str, Callable[..., AttentionLayer | SumLayer]] = {
    "attention": AttentionLayer,
    "sum": SumLayer,
}


def convolution(
    name: str, in_dim: int, dim: int, edge_dim: int, heads: int = 2, dropout: float = 0.1
) -> AttentionLayer | SumLayer:
    """Build a layer by name: ``attention`` or ``sum`` (which has no heads and no dropout).

    Example:
        >>> convolution("sum", 5, 4, edge_dim=3).out_dim
        4
    """
    if name not in CONVOLUTIONS:
        raise unknown_name("graph convolution", name, CONVOLUTIONS)
    if name == "sum":
        return SumLayer(in_dim, dim, edge_dim)
    return AttentionLayer(in_dim, dim, edge_dim, heads, dropout)
