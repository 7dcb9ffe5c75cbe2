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

from ctan.nn.edges import Incoming
from ctan.nn.kernels._neighbors import attend_backward, attend_forward
from ctan.nn.kernels.products import linear


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


class Neighbors:
    """The fixed part of one attention: where the neighbours stand, as the kernels take it.

    Args:
        h: node states, ``[M, d]``.
        edges: the neighbours.
        keep: dropout factors, ``[H, T, K]``, or None.
    """

    def __init__(self, h: Tensor, edges: Incoming, keep: Tensor | None = None) -> None:
        dtype = h.detach().numpy().dtype
        table = np.empty((0, 0), dtype) if edges.table is None else _array(edges.table)
        event = edges.slot if edges.event is None else edges.event
        self.rows = (_array(h), table, _array(edges.attr))
        self.where = (_array(edges.slot), _array(event), _array(edges.present))
        self.keep = np.empty((0, 0, 0), dtype) if keep is None else _array(keep)

    def pool(self, query: Tensor) -> tuple[Tensor, Tensor, np.ndarray]:
        """Pooled rows ``[H, T, D]``, sums of weights ``[H, T]`` and the weights ``[H, T, K]``."""
        q = _array(query)
        width = sum(part.shape[-1] for part in self.rows)
        targets = len(self.where[0])
        if q.shape[1] < targets or q.shape[2] != width:
            # The compiled loops do not check: a wrong shape would write outside the buffers.
            raise ValueError(f"queries are {q.shape}, expected [H, {targets}, {width}]")
        # numpy owns the buffers: allocating with torch costs more than filling these.
        alpha = np.empty((len(q), *self.where[0].shape), q.dtype)
        pooled, mass = np.empty(q.shape, q.dtype), np.empty(q.shape[:2], q.dtype)
        # Rows beyond the targets round shapes up for the products around: they count for nothing.
        pooled[:, targets:], mass[:, targets:] = 0, 0
        attend_forward(q, self.rows, self.where, self.keep, alpha, pooled, mass)
        return torch.from_numpy(pooled), torch.from_numpy(mass), alpha

    def gradients(
        self,
        query: Tensor,
        alpha: np.ndarray,
        grad_pooled: Tensor,
        grad_mass: Tensor,
        wanted: tuple[bool, bool, bool],
    ) -> tuple[Tensor, list[Tensor | None]]:
        """Gradients of the query and of those of ``h``, ``table``, ``attr`` that are wanted."""
        q = _array(query)
        grad_query = np.zeros_like(q)
        grad_rows = tuple(
            np.zeros(part.shape if wants else (0,) * part.ndim, part.dtype)
            for part, wants in zip(self.rows, wanted, strict=True)
        )
        attend_backward(
            q,
            self.rows,
            self.where,
            self.keep,
            alpha,
            _array(grad_pooled),
            _array(grad_mass),
            grad_query,
            grad_rows,
        )
        given = [
            torch.from_numpy(part) if wants else None
            for part, wants in zip(grad_rows, wanted, strict=True)
        ]
        return torch.from_numpy(grad_query), given


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().contiguous().numpy()


class _Pool(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        h: Tensor,
        table: Tensor | None,
        attr: Tensor,
        edges: Incoming,
        keep: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        ctx.neighbors = Neighbors(h, edges, keep)
        pooled, mass, ctx.alpha = ctx.neighbors.pool(query)
        ctx.save_for_backward(query)
        return pooled, mass

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (query,) = ctx.saved_tensors
        grad_query, grad_rows = ctx.neighbors.gradients(
            query, ctx.alpha, *grads, wanted=ctx.needs_input_grad[1:4]
        )
        return (grad_query, *grad_rows, None, None)


def attend(
    h: Tensor,
    q: Tensor,
    key: Tensor,
    value: Tensor,
    value_bias: Tensor,
    edge: Tensor | None,
    edges: Incoming,
    heads: int,
    keep: Tensor | None = None,
) -> Tensor:
    """The aggregation ``[T, d]`` of :class:`ctan.nn.Attention`, for any number of heads.

    Args:
        h: node states, ``[M, in]``.
        q: scaled queries, ``[T, d]``.
        key: key map, ``[d, in]``.
        value: value map, ``[d, in]``.
        value_bias: its bias, ``[d]``.
        edge: edge map, ``[d, de]``, or None.
        edges: the neighbours.
        heads: number of heads.
        keep: dropout factors, ``[H, T, K]``, or None.
    """
    if edge is not None:
        key, value = torch.cat([key, edge], dim=1), torch.cat([value, edge], dim=1)
    # Head by head: a batched product would not take the fast road of `linear`.
    each = q.size(1) // heads
    parts = zip(torch.split(q, each, 1), torch.split(key, each), strict=True)
    query = torch.stack([linear(part, rows.T) for part, rows in parts])
    pooled, mass = _Pool.apply(  # type: ignore[no-untyped-call]
        query, h, edges.table, edges.attr, edges, keep
    )
    rows = zip(pooled, torch.split(value, each), strict=True)
    mapped = torch.cat([linear(part, weight) for part, weight in rows], dim=1)
    out: Tensor = mapped + mass.T.repeat_interleave(each, dim=1) * value_bias
    return out
