r"""Fused attention over temporal neighbours, equal to :class:`ctan.nn.Attention` in plain torch.

The query is projected instead of the neighbours, of which there are more:

.. math::
    q \cdot (K h_v + E e) = (K^\top q) \cdot h_v + (E^\top q) \cdot e, \qquad
    \sum_v \alpha_v (V h_v + E e) = V \sum_v \alpha_v h_v + E \sum_v \alpha_v e

The key's bias cancels in the softmax; the value's bias enters times the sum of the weights, which
is 0 without neighbours and not 1 under dropout.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ctan.nn.kernels._neighbors import attend_backward, attend_forward

Parts = tuple[Tensor, Tensor, Tensor]


def usable(*tensors: Tensor | None) -> bool:
    """Whether the compiled kernels serve these tensors; the plain version serves all.

    Example:
        >>> usable(torch.zeros(2), None), usable(torch.zeros(2, dtype=torch.float16))
        (True, False)
    """
    given = [tensor for tensor in tensors if tensor is not None]
    dtype = given[0].dtype
    return dtype in (torch.float32, torch.float64) and all(
        tensor.dtype == dtype and tensor.device.type == "cpu" for tensor in given
    )


class _Pool(torch.autograd.Function):
    """Attention of projected queries over the rows ``h[slot]``, ``table[event]`` and ``attr``.

    Inputs and outputs are those of :func:`ctan.nn.kernels._neighbors.attend_forward`.
    """

    @staticmethod
    def forward(ctx: Any, *inputs: Tensor | None) -> tuple[Tensor, ...]:
        """Pool the neighbours of each target."""
        given: list[Any] = [None if x is None else x.detach().contiguous().numpy() for x in inputs]
        query, rows, where, keep = tuple(given[:3]), tuple(given[3:6]), tuple(given[6:9]), given[9]
        dtype = given[3].dtype
        if keep is None:
            keep = np.empty((0, 0, 0), dtype)
        # numpy owns the buffers: allocating with torch costs more than filling these.
        alpha = np.empty((query[0].shape[0], *where[0].shape), dtype)
        pooled = tuple(np.empty(part.shape, dtype) for part in query)
        mass = np.empty(query[0].shape[:2], dtype)
        attend_forward(query, rows, where, keep, alpha, pooled, mass)
        ctx.saved = (query, rows, where, keep, alpha)
        return tuple(torch.from_numpy(x) for x in (*pooled, mass))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of the queries and the rows."""
        query, rows, *_ = ctx.saved
        *grad_pooled, grad_mass = (grad.contiguous().numpy() for grad in grads)
        grad_query = tuple(np.zeros_like(part) for part in query)
        wanted = ctx.needs_input_grad[3:6]
        grad_rows = tuple(
            np.zeros(part.shape if wants else (0,) * part.ndim, part.dtype)
            for part, wants in zip(rows, wanted, strict=True)
        )
        attend_backward(*ctx.saved, tuple(grad_pooled), grad_mass, grad_query, grad_rows)
        queries = (torch.from_numpy(part) for part in grad_query)
        parts = (torch.from_numpy(p) if w else None for p, w in zip(grad_rows, wanted, strict=True))
        return (*queries, *parts, *[None] * 4)


def pool(
    query: Parts, rows: Parts, slot: Tensor, event: Tensor, present: Tensor, keep: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Attention of each target over its present slots.

    Args:
        query: scaled, one part for each part of a row: ``[H, T, d]``, ``[H, T, dm]`` and
            ``[H, T, da]``.
        rows: ``h [M, d]``, ``table [E, dm]``, ``attr [T, K, da]``.
        slot: row of ``h`` per slot, ``[T, K]``.
        event: row of ``table`` per slot, ``[T, K]``.
        present: which slots hold a neighbour, ``[T, K]``.
        keep: dropout factors, ``[H, T, K]``, or None.

    Returns:
        The pooled rows, shaped as ``query``, and the sums of the weights ``[H, T]``.
    """
    out: tuple[Tensor, Tensor, Tensor, Tensor] = _Pool.apply(  # type: ignore[no-untyped-call]
        *query, *rows, slot, event, present, keep
    )
    return out


def by_head(x: Tensor, weight: Tensor, heads: int) -> Tensor:
    """``x [T, d]`` times the rows of ``weight [d, n]``, head by head: ``[H, T, n]``.

    Example:
        >>> by_head(torch.ones(3, 4), torch.ones(4, 5), heads=2).shape
        torch.Size([2, 3, 5])
    """
    if heads == 1:
        return (x @ weight).unsqueeze(0)
    per_head = x.size(1) // heads
    split = x.view(len(x), heads, per_head).transpose(0, 1)
    return torch.bmm(split, weight.view(heads, per_head, weight.size(1)))


def join_heads(onto: Tensor, pooled: Tensor, weight: Tensor) -> Tensor:
    """``onto [T, d]`` plus ``pooled [H, T, n]`` times the transposed rows of ``weight [d, n]``.

    Example:
        >>> join_heads(torch.zeros(3, 4), torch.ones(2, 3, 5), torch.ones(4, 5)).shape
        torch.Size([3, 4])
    """
    heads = len(pooled)
    if heads == 1:
        return torch.addmm(onto, pooled[0], weight.T)
    split = weight.view(heads, len(weight) // heads, weight.size(1))
    out = torch.bmm(pooled, split.transpose(1, 2))
    return onto + out.transpose(0, 1).reshape(onto.shape)
