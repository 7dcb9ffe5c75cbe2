"""Fused attention over temporal neighbours, equal to :class:`ctan.nn.Attention` in plain torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ctan.nn.edges import Incoming
from ctan.nn.kernels._arrays import array, tensor
from ctan.nn.kernels.folded import AttentionWeights, Folded, arrays


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        h: Tensor,
        attr: Tensor,
        table: Tensor | None,
        edges: Incoming,
        keep: Tensor | None,
        heads: int,
        *weights: Any,
    ) -> Tensor:
        folded = Folded(arrays(weights), heads, attr.size(2), edges.projected)
        out, ctx.done = folded.forward(array(h), edges, keep)
        ctx.folded, ctx.shapes = folded, (h, attr, table)
        return torch.from_numpy(out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        grads = [
            torch.zeros_like(x) if wanted else None
            for x, wanted in zip(ctx.shapes, ctx.needs_input_grad[:3], strict=True)
        ]
        ctx.folded.backward(
            ctx.done, array(grad), *(None if x is None else x.numpy() for x in grads)
        )
        return (*grads, None, None, None, *map(tensor, ctx.folded.gradients()))


def attend(
    h: Tensor,
    edges: Incoming,
    weights: AttentionWeights[Tensor],
    heads: int,
    keep: Tensor | None = None,
) -> Tensor:
    """The aggregation ``[T, out]`` of :class:`ctan.nn.Attention`, and each target's own map if any.

    Args:
        h: node states, ``[M, in]``.
        edges: the neighbours.
        weights: the weights of the layer.
        heads: number of heads.
        keep: dropout factors, ``[H, T, K]``, or None.
    """
    out: Tensor = _Attend.apply(  # type: ignore[no-untyped-call]
        h, edges.attr, edges.table, edges, keep, heads, *weights
    )
    return out
