r"""The argument of the activation in one antisymmetric step with one-headed attention, fused.

.. math:: D_u = A h_u + b + \textstyle\sum_v \alpha_v (V h_v + b_v + E e_{uv})

Forward in three matrix products and backward in six, each over all targets at once, with the
compiled loops of :mod:`ctan.nn.kernels._neighbors` between them. As one node of autograd it costs
a fraction of the forty that the same equations make in plain torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ctan.nn.edges import Incoming
from ctan.nn.kernels.attention import Neighbors
from ctan.nn.kernels.products import contract, product, round_up, rounded


@dataclass(frozen=True)
class DriveWeights:
    """The weights of one step, ``d`` the size of the states.

    Attributes:
        generator: ``W - W^T - gamma I``, ``[d, d]``.
        bias: ``[d]``.
        query: ``[d, d]``.
        query_bias: ``[d]``.
        key: ``[d, d]``.
        value: ``[d, d]``.
        value_bias: ``[d]``.
        edge: ``[d, de]``, or None.
    """

    generator: Tensor
    bias: Tensor
    query: Tensor
    query_bias: Tensor
    key: Tensor
    value: Tensor
    value_bias: Tensor
    edge: Tensor | None


class _Drive(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        h: Tensor,
        table: Tensor | None,
        attr: Tensor,
        edges: Incoming,
        *weights: Tensor,
    ) -> Tensor:
        generator, bias, query, query_bias, key, value, value_bias, *rest = weights
        d, targets = h.size(1), edges.targets
        # Columns of the edge map that read the table; a projected table has been through them.
        dm = 0 if table is None else table.size(1)
        skip = (rest[0].size(1) - attr.size(2)) if rest and edges.projected else 0
        direct = dm if edges.projected else 0
        edge = rest[0][:, skip:] if rest else None
        key_map = key if edge is None else torch.cat([key, edge], dim=1)
        value_map = value if edge is None else torch.cat([value, edge], dim=1)
        scale = d**-0.5

        # The rows that follow the targets serve as padding to a shape that oneDNN knows.
        rows = round_up(targets)
        own = h[:rows] if rows <= h.size(0) else rounded(h[:targets])
        own_map = torch.cat([query * scale, generator])
        both = product(own, own_map.T, torch.cat([query_bias * scale, bias]))
        q, drive = both[:, :d], both[:, d:]
        if direct:
            projected = h.new_empty(rows, d + dm + attr.size(2))
            projected[:, :d] = product(q, key)
            projected[:, d : d + dm] = q
            if edge is not None:
                projected[:, d + dm :] = product(q, edge)
        else:
            projected = product(q, key_map)
        neighbors = Neighbors(h, edges)
        pooled, mass, ctx.alpha = neighbors.pool(projected.unsqueeze(0))
        pooled = pooled[0]
        if direct:
            mapped = torch.cat([pooled[:, :d], pooled[:, d + dm :]], dim=1)
            drive = drive + product(mapped, value_map.T) + pooled[:, d : d + dm]
        else:
            mapped = pooled
            drive = drive + product(mapped, value_map.T)
        drive.addr_(mass[0], value_bias)
        ctx.neighbors, ctx.direct, ctx.skip, ctx.scale = neighbors, direct, skip, scale
        ctx.save_for_backward(
            own, q, projected, mapped, mass, key_map, value_map, own_map, *weights
        )
        return drive[:targets]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        own, q, projected, mapped, mass, key_map, value_map, own_map, *weights = ctx.saved_tensors
        value_bias, rest = weights[6], weights[7:]
        d, direct = own.size(1), ctx.direct
        grad = rounded(grad.contiguous())

        grad_value_map = contract(grad, mapped)
        grad_pooled = product(grad, value_map)
        if direct:
            grad_pooled = torch.cat([grad_pooled[:, :d], grad, grad_pooled[:, d:]], dim=1)
        grad_projected, (grad_h, grad_table, grad_attr) = ctx.neighbors.gradients(
            projected.unsqueeze(0),
            ctx.alpha,
            grad_pooled.unsqueeze(0),
            (grad @ value_bias).unsqueeze(0),
            wanted=(ctx.needs_input_grad[0], ctx.needs_input_grad[1], ctx.needs_input_grad[2]),
        )
        grad_projected = grad_projected[0]
        if direct:
            through = torch.cat([grad_projected[:, :d], grad_projected[:, d + direct :]], dim=1)
            grad_q = grad_projected[:, d : d + direct] + product(through, key_map.T)
        else:
            through = grad_projected
            grad_q = product(through, key_map.T)
        grad_key_map = contract(q, through)

        grad_own = torch.cat([grad_q, grad], dim=1)
        grad_own_map, grad_own_bias = contract(grad_own, own), grad_own.sum(0)
        if grad_h is not None:
            shared = min(own.size(0), grad_h.size(0))
            grad_h[:shared] += product(grad_own, own_map)[:shared]
        grad_edge = None
        if rest:
            grad_edge = grad_key_map[:, d:] + grad_value_map[:, d:]
            if ctx.skip:
                grad_edge = torch.cat([grad_edge.new_zeros(d, ctx.skip), grad_edge], dim=1)
        given = (
            grad_own_map[d:],
            grad_own_bias[d:],
            grad_own_map[:d] * ctx.scale,
            grad_own_bias[:d] * ctx.scale,
            grad_key_map[:, :d],
            grad_value_map[:, :d],
            grad.T @ mass[0],
            *([grad_edge] if rest else []),
        )
        return (grad_h, grad_table, grad_attr, None, *given)


def drive(h: Tensor, edges: Incoming, weights: DriveWeights) -> Tensor:
    """The argument of the activation for the first ``T`` rows of ``h``: ``[T, d]``.

    Args:
        h: node states, ``[M, d]``.
        edges: their neighbours; the table may have been projected.
        weights: the weights of the step.
    """
    w = weights
    given = [w.generator, w.bias, w.query, w.query_bias, w.key, w.value, w.value_bias]
    if w.edge is not None:
        given.append(w.edge)
    out: Tensor = _Drive.apply(h, edges.table, edges.attr, edges, *given)  # type: ignore[no-untyped-call]
    return out
