r"""The aggregation :math:`\Phi`: "any function that aggregates nodes and edges" of the past.

All have one signature: ``phi(h [M, d], edges) -> [T, d]``, where the targets are the first ``T``
rows of ``h``. A node without neighbours gets zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ctan.errors import unknown_name
from ctan.nn import kernels
from ctan.nn.edges import Incoming
from ctan.nn.linear import Linear


class Attention(nn.Module):
    r"""Attention over the temporal neighbours (section 3, "The CTAN framework"; arXiv 2009.03509).

    .. math::
        \Phi_u = \sum_{v} \alpha_{uv} (V_n h_v + V_e \hat e_{uv}), \qquad
        \alpha_{uv} = \mathrm{softmax}_v
        \frac{(V_q h_u)^\top (V_k h_v + V_e \hat e_{uv})}{\sqrt{d}}

    with biases on query, key and value and one :math:`V_e` for keys and values.

    Args:
        dim: size of the output, divisible by ``heads``.
        edge_dim: size of the edge attributes.
        heads: number of heads, concatenated.
        dropout: share of attention weights dropped while training.
        in_dim: size of the node states, ``dim`` if not given.

    Example:
        >>> phi = Attention(4, edge_dim=2, heads=2)
        >>> slot, absent = torch.tensor([[1]]), torch.tensor([[False]])
        >>> edges = Incoming(slot, absent, count=torch.zeros(2), attr=torch.zeros(1, 1, 2))
        >>> phi(torch.ones(2, 4), edges).tolist()
        [[0.0, 0.0, 0.0, 0.0]]
    """

    def __init__(
        self,
        dim: int,
        edge_dim: int,
        heads: int = 1,
        dropout: float = 0.0,
        in_dim: int | None = None,
    ) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"dim {dim} is not divisible by {heads} heads")
        self.dim, self.edge_dim, self.heads, self.dropout = dim, edge_dim, heads, dropout
        self.in_dim = dim if in_dim is None else in_dim
        self.query = Linear(self.in_dim, dim)
        self.key = nn.Linear(self.in_dim, dim)
        self.value = nn.Linear(self.in_dim, dim)
        self.edge = nn.Linear(edge_dim, dim, bias=False) if edge_dim else None

    def forward(self, h: Tensor, edges: Incoming) -> Tensor:
        """Aggregate ``h [M, in_dim]`` over ``edges`` to ``[T, dim]``."""
        keep = self.draw_dropout(h, edges)
        if kernels.usable(h, edges.attr, edges.table):
            return self.fused(h, edges, keep)
        return self.plain(h, edges, keep)

    def draw_dropout(self, h: Tensor, edges: Incoming) -> Tensor | None:
        """Factors of dropout for each weight, ``[H, T, K]``; None where nothing is dropped."""
        if not (self.dropout and self.training):
            return None
        return kernels.dropout(h.new_ones(self.heads, *edges.slot.shape), self.dropout)

    def plain(self, h: Tensor, edges: Incoming, keep: Tensor | None = None) -> Tensor:
        """The equation as it stands; ``keep [H, T, K]`` are the factors of dropout."""
        targets, slots = edges.slot.shape
        per_head = (targets, slots, self.heads, self.dim // self.heads)
        q = self.query(h[:targets]).view(targets, 1, *per_head[2:])
        k = self.key(h)[edges.slot].view(per_head)
        v = self.value(h)[edges.slot].view(per_head)
        if self.edge is not None:
            e = self.edge(edges.attributes).view(per_head)
            k, v = k + e, v + e
        present = edges.present.unsqueeze(-1)
        score = (q * k).sum(-1) / math.sqrt(per_head[-1])
        # A finite floor, not -inf: a node without neighbours would otherwise get NaN, not zeros.
        score = score.masked_fill(~present, torch.finfo(score.dtype).min)
        alpha = torch.softmax(score, dim=1) * present
        if keep is not None:
            alpha = alpha * keep.permute(1, 2, 0)
        out: Tensor = (alpha.unsqueeze(-1) * v).sum(1).view(targets, self.dim)
        return out

    def fused(self, h: Tensor, edges: Incoming, keep: Tensor | None = None) -> Tensor:
        """The same in compiled loops on the CPU: see :mod:`ctan.nn.kernels.folded`."""
        return kernels.attend(h, edges, self.weights(), self.heads, keep)

    def weights(self) -> kernels.AttentionWeights[Tensor]:
        """The weights as the kernels take them."""
        return kernels.AttentionWeights(
            self.query.weight,
            self.query.bias,
            self.key.weight,
            self.value.weight,
            self.value.bias,
            None if self.edge is None else self.edge.weight,
        )

    def extra_repr(self) -> str:
        """Sizes, for printing."""
        sizes = f"dim={self.dim}, edge_dim={self.edge_dim}, heads={self.heads}"
        return sizes if self.in_dim == self.dim else f"{sizes}, in_dim={self.in_dim}"


class Mean(nn.Module):
    r"""Mean of the transformed neighbours.

    .. math:: \Phi_u = \frac{1}{|N_u|}\sum_v (V h_v + V_e \hat e_{uv})

    Free of :math:`h_u`, so the paper's propositions hold for it as stated.

    Args:
        dim: size of the node states.
        edge_dim: size of the edge attributes.

    Example:
        >>> slot, present = torch.tensor([[1, 1]]), torch.tensor([[True, True]])
        >>> edges = Incoming(slot, present, torch.tensor([2, 2]), attr=torch.zeros(1, 2, 1))
        >>> Mean(4, edge_dim=1)(torch.ones(2, 4), edges).shape
        torch.Size([1, 4])
    """

    def __init__(self, dim: int, edge_dim: int) -> None:
        super().__init__()
        self.dim, self.edge_dim = dim, edge_dim
        self.value = nn.Linear(dim, dim, bias=False)
        self.edge = nn.Linear(edge_dim, dim, bias=False) if edge_dim else None

    def weights(self, edges: Incoming, dtype: torch.dtype) -> Tensor:
        """Weight of each slot, ``[T, K]``, zero where absent."""
        present = edges.present.to(dtype)
        return present / present.sum(1, keepdim=True).clamp(min=1)

    def forward(self, h: Tensor, edges: Incoming) -> Tensor:
        """Aggregate ``h [M, d]`` over ``edges`` to ``[T, d]``."""
        # The maps are linear: sum first, then one product per target instead of one per slot.
        weight = self.weights(edges, h.dtype).unsqueeze(1)
        out: Tensor = self.value((weight @ h[edges.slot]).squeeze(1))
        if self.edge is not None:
            out = out + self.edge((weight @ edges.attributes).squeeze(1))
        return out

    def extra_repr(self) -> str:
        """Sizes, for printing."""
        return f"dim={self.dim}, edge_dim={self.edge_dim}"


class NormalisedSum(Mean):
    r"""The normalised sum of a graph convolution.

    .. math:: \Phi_u = \sum_v \frac{V h_v + V_e \hat e_{uv}}{\sqrt{c_u c_v}}

    :math:`c` is the number of (sampled) temporal neighbours, the node itself included where the
    layer includes it. Free of :math:`h_u` otherwise.

    Example:
        >>> slot, present = torch.tensor([[1]]), torch.tensor([[True]])
        >>> edges = Incoming(slot, present, torch.tensor([1, 4]), attr=torch.zeros(1, 1, 0))
        >>> NormalisedSum(4, edge_dim=0).weights(edges, torch.float32)
        tensor([[0.5000]])
    """

    def weights(self, edges: Incoming, dtype: torch.dtype) -> Tensor:
        """Weight of each slot, ``[T, K]``, zero where absent."""
        scale = edges.count.to(dtype).clamp(min=1).rsqrt() * (edges.count > 0)
        return scale[: edges.targets, None] * scale[edges.slot] * edges.present


AGGREGATIONS: dict[str, Callable[..., nn.Module]] = {
    "attention": Attention,
    "mean": Mean,
    "gcn": NormalisedSum,
}


def aggregation(
    name: str, dim: int, edge_dim: int, heads: int = 1, dropout: float = 0.0
) -> nn.Module:
    """Build an aggregation by name: ``attention``, ``mean`` or ``gcn``.

    Example:
        >>> aggregation("mean", 4, edge_dim=2)
        Mean(
          dim=4, edge_dim=2
          (value): Linear(in_features=4, out_features=4, bias=False)
          (edge): Linear(in_features=2, out_features=4, bias=False)
        )
    """
    if name not in AGGREGATIONS:
        raise unknown_name("aggregation", name, AGGREGATIONS)
    if name == "attention":
        return Attention(dim, edge_dim, heads, dropout)
    return AGGREGATIONS[name](dim, edge_dim)
