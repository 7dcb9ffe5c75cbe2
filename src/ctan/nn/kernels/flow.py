r"""Several antisymmetric Euler steps with one set of weights and one-headed attention, fused.

.. math::
    h_u \leftarrow h_u + \epsilon \tanh\bigl((W - W^\top - \gamma I) h_u + b + \Phi_u\bigr)

One node of autograd, whatever the number of steps: the weights are folded once and their gradients
summed in place. The step itself is in :mod:`ctan.nn.kernels.folded`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ctan.nn.edges import Incoming
from ctan.nn.kernels._neighbors import number_events
from ctan.nn.kernels.folded import AttentionWeights, Folded, array
from ctan.nn.kernels.products import contract, product


@dataclass(frozen=True)
class Course:
    """What is fixed about a flow.

    Attributes:
        edges: the neighbours of the targets of the first step.
        targets: how many of the first rows each step updates; never rising.
        epsilon: step size.
        gamma: damping.
    """

    edges: Incoming
    targets: Sequence[int]
    epsilon: float
    gamma: float


class _Flow(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        h: Tensor,
        attr: Tensor,
        course: Course,
        weight: Tensor,
        bias: Tensor,
        *attention: Any,
    ) -> Tensor:
        generator = weight - weight.T
        generator.diagonal().sub_(course.gamma)
        weights = AttentionWeights(*attention)._replace(own=generator, own_bias=bias)
        edges, ctx.table = course.edges, None
        if len(course.targets) > 1:
            edges, ctx.table = _project(edges, weights)
        folded = Folded(weights, 1, attr.size(2), edges.projected)
        ctx.done, ctx.slopes = [], []
        ctx.shapes, ctx.course, ctx.folded, ctx.edges = (h, attr), course, folded, edges
        for targets in course.targets:
            drive, done = folded.forward(h, edges.first(targets))
            slope = drive[:targets].tanh_()
            h = torch.add(h[:targets], slope, alpha=course.epsilon)
            ctx.done.append(done)
            ctx.slopes.append(slope)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        (h, attr), course, folded, edges = ctx.shapes, ctx.course, ctx.folded, ctx.edges
        grad_attr = torch.zeros_like(attr) if ctx.needs_input_grad[1] else None
        grad_table = torch.zeros_like(edges.table) if edges.projected else None
        back: Tensor | None = grad
        for done, slope in zip(reversed(ctx.done), reversed(ctx.slopes), strict=True):
            assert back is not None
            before = h if done is ctx.done[0] else torch.from_numpy(done.gathered.rows[0])
            grad_h = None
            if before is not h or ctx.needs_input_grad[0]:
                grad_h = torch.zeros_like(before)
                grad_h[: len(back)] = back
            drive = torch.ops.aten.tanh_backward(back * course.epsilon, slope)
            folded.backward(done, drive, grad_h, grad_attr, grad_table)
            back = grad_h
        found = folded.gradients()
        if grad_table is not None:
            found.edge[:, : ctx.table.size(1)] = contract(grad_table, ctx.table)
        weight = found.own - found.own.T
        return (back, grad_attr, None, weight, found.own_bias, *found[:6])


def _project(edges: Incoming, weights: AttentionWeights) -> tuple[Incoming, Tensor | None]:
    """The edges with their table mapped, each distinct event once, and the rows that were.

    Several steps with the same weights would each map their queries and their pooled rows.
    """
    if edges.table is None or edges.event is None or weights.edge is None:
        return edges, None
    seen, event = number_events(array(edges.event), array(edges.present))
    rows = edges.table.index_select(0, torch.from_numpy(seen))
    table = product(rows, weights.edge[:, : rows.size(1)].T)
    return replace(edges, table=table, event=torch.from_numpy(event), projected=True), rows


def flow(
    h: Tensor, course: Course, weight: Tensor, bias: Tensor, attention: AttentionWeights
) -> Tensor:
    """The states ``[targets[-1], d]`` after ``len(targets)`` steps.

    Args:
        h: node states, ``[M, d]``.
        course: the neighbours, who is updated, and how far a step goes.
        weight: W, ``[d, d]``.
        bias: b, ``[d]``.
        attention: the aggregation, without a map of its own.
    """
    out: Tensor = _Flow.apply(  # type: ignore[no-untyped-call]
        h, course.edges.attr, course, weight, bias, *attention[:6]
    )
    return out
