r"""Fused attention over temporal neighbours, equal to :class:`ctan.nn.Attention` in plain torch.

The query is projected instead of the neighbours, of which there are more:

.. math::
    q \cdot (K h_v + E e) = (K^\top q) \cdot h_v + (E^\top q) \cdot e, \qquad
    \sum_v \alpha_v (V h_v + E e) = V \sum_v \alpha_v h_v + E \sum_v \alpha_v e

The key's bias cancels in the softmax; the value's bias enters times the sum of the weights, which
is 0 without neighbours and not 1 under dropout.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ctan.nn.kernels._neighbors import attend_backward, attend_forward


def usable(h: Tensor, attr: Tensor, table: Tensor | None) -> bool:
    """Whether the compiled kernels serve these tensors; the plain version serves all."""
    tensors = (h, attr) if table is None else (h, attr, table)
    same = all(x.dtype == h.dtype and x.device.type == "cpu" for x in tensors)
    plain_table = table is None or not table.requires_grad
    return same and plain_table and h.dtype in (torch.float32, torch.float64)


class Pool(torch.autograd.Function):
    """Attention of projected queries over the rows ``[h_v || table[event] || attr]``.

    Inputs are those of the kernel :func:`ctan.nn.kernels._neighbors.attend_forward`; outputs are
    ``pooled [H, T, D]`` and ``mass [H, T]``. Twice differentiable it is not.
    """

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        query: Tensor,
        h: Tensor,
        attr: Tensor,
        table: Tensor | None,
        slot: Tensor,
        event: Tensor | None,
        present: Tensor,
        keep: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """Pool the neighbours of each target."""
        heads, targets, _ = query.shape
        # numpy owns the buffers: a torch allocation per call costs more than these.
        query_np, h_np = query.detach().contiguous().numpy(), h.detach().contiguous().numpy()
        attr_np = attr.detach().contiguous().numpy()
        rest = _rest(h_np, table, slot, event, present, keep)
        alpha = np.empty((heads, targets, slot.shape[1]), h_np.dtype)
        pooled = np.empty(query_np.shape, h_np.dtype)
        mass = np.empty((heads, targets), h_np.dtype)
        table_np, slot_np, event_np, present_np, keep_np = rest
        attend_forward(
            query_np,
            h_np,
            table_np,
            attr_np,
            slot_np,
            event_np,
            present_np,
            keep_np,
            alpha,
            pooled,
            mass,
        )
        ctx.arrays = (query_np, h_np, table_np, attr_np, slot_np, event_np, present_np, keep_np)
        ctx.alpha = alpha
        return torch.from_numpy(pooled), torch.from_numpy(mass)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of the query, the states and the attributes."""
        query, h, _, attr, *_ = ctx.arrays
        grad_pooled, grad_mass = (grad.contiguous().numpy() for grad in grads)
        _, wants_h, wants_attr = ctx.needs_input_grad[:3]
        grad_query = np.zeros_like(query)
        grad_h = np.zeros_like(h) if wants_h else np.zeros((0, h.shape[1]), h.dtype)
        grad_attr = np.zeros_like(attr) if wants_attr else np.zeros((0, *attr.shape[1:]), h.dtype)
        attend_backward(
            *ctx.arrays, ctx.alpha, grad_pooled, grad_mass, grad_query, grad_h, grad_attr
        )
        return (
            torch.from_numpy(grad_query),
            torch.from_numpy(grad_h) if wants_h else None,
            torch.from_numpy(grad_attr) if wants_attr else None,
            *[None] * 5,
        )


def attend(
    h: Tensor,
    own: Tensor,
    weights: dict[str, Tensor],
    attr: Tensor,
    table: Tensor | None,
    slot: Tensor,
    event: Tensor | None,
    present: Tensor,
    keep: Tensor | None,
    heads: int,
) -> Tensor:
    """The aggregation ``[T, dim]`` of :class:`ctan.nn.Attention` with projected queries.

    Args:
        h: node states, ``[M, d]``.
        own: states of the targets, ``[T, d]``.
        weights: ``query``, ``key``, ``value`` and ``edge`` weights, ``query`` and ``value`` biases.
        attr: edge attributes per slot, ``[T, K, da]``.
        table: further attributes by event, ``[E, dm]``, or None.
        slot: row of ``h`` per slot, ``[T, K]``.
        event: row of ``table`` per slot, ``[T, K]``, or None.
        present: which slots hold a neighbour, ``[T, K]``.
        keep: dropout factors, ``[H, T, K]``, or None.
        heads: number of heads.
    """
    dim = len(weights["query"])
    per_head = dim // heads
    key = torch.cat([weights["key"], weights["edge"]], 1) if "edge" in weights else weights["key"]
    value = (
        torch.cat([weights["value"], weights["edge"]], 1) if "edge" in weights else weights["value"]
    )
    # The scale of the scores goes into the smallest tensor on the way.
    q = torch.addmm(weights["query_bias"], own, weights["query"].T) * (1 / math.sqrt(per_head))
    if heads == 1:
        query = (q @ key).unsqueeze(0)
        pooled, mass = _pool(query, h, attr, table, slot, event, present, keep)
        return torch.addmm(mass[0].unsqueeze(1) * weights["value_bias"], pooled[0], value.T)
    query = torch.bmm(
        q.view(-1, heads, per_head).transpose(0, 1), key.view(heads, per_head, key.size(1))
    )
    pooled, mass = _pool(query, h, attr, table, slot, event, present, keep)
    out = torch.bmm(pooled, value.view(heads, per_head, value.size(1)).transpose(1, 2))
    out = out + mass.unsqueeze(-1) * weights["value_bias"].view(heads, 1, per_head)
    return out.transpose(0, 1).reshape(-1, dim)


def _pool(*inputs: Tensor | None) -> tuple[Tensor, Tensor]:
    pooled, mass = Pool.apply(*inputs)  # type: ignore[no-untyped-call]
    return pooled, mass


def _rest(
    h: np.ndarray,
    table: Tensor | None,
    slot: Tensor,
    event: Tensor | None,
    present: Tensor,
    keep: Tensor | None,
) -> tuple[np.ndarray, ...]:
    """The arguments without gradient, absent ones as empty arrays."""
    no_table, no_event = np.zeros((0, 0), h.dtype), np.zeros((0, 0), np.int64)
    return (
        no_table if table is None else table.numpy(),
        slot.contiguous().numpy(),
        no_event if table is None or event is None else event.contiguous().numpy(),
        present.contiguous().numpy(),
        np.zeros((0, 0, 0), h.dtype) if keep is None else keep.contiguous().numpy(),
    )
