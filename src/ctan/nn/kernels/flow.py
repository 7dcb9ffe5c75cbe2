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

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from ctan.compiled.functions import tanh
from ctan.nn.edges import Incoming
from ctan.nn.kernels._arrays import Floats, array, tensor
from ctan.nn.kernels._neighbors import number_events
from ctan.nn.kernels.folded import AttentionWeights, Folded, arrays
from ctan.nn.kernels.matmul import matmul


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _step(h: Floats, drive: Floats, epsilon: float) -> Floats:
    """``h + epsilon tanh(drive)`` for the rows of ``drive``, which is left as its tanh."""
    out = np.empty_like(drive)
    far = h.dtype.type(epsilon)
    for row in range(len(drive)):
        before, slope, after = h[row], drive[row], out[row]
        for i in range(len(slope)):
            slope[i] = tanh(slope[i])
            after[i] = before[i] + far * slope[i]
    return out


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _step_backward(grad: Floats, slope: Floats, epsilon: float) -> Floats:
    """The gradient of ``drive``, for that of the output."""
    out = np.empty_like(slope)
    far, one = slope.dtype.type(epsilon), slope.dtype.type(1)
    for row in range(len(slope)):
        after, s, before = grad[row], slope[row], out[row]
        for i in range(len(s)):
            before[i] = far * after[i] * (one - s[i] * s[i])
    return out


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
        w = array(weight)
        generator = w - w.T
        generator[np.diag_indices_from(generator)] -= course.gamma
        weights = arrays(attention)._replace(own=generator, own_bias=array(bias))
        edges, ctx.table = course.edges, None
        if len(course.targets) > 1:
            edges, ctx.table = _project(edges, weights)
        folded = Folded(weights, 1, attr.size(2), edges.projected)
        ctx.done, ctx.slopes = [], []
        ctx.attr, ctx.course, ctx.folded, ctx.edges = attr, course, folded, edges
        x = array(h)
        for targets in course.targets:
            slope, done = folded.forward(x, edges.first(targets))
            x = _step(x, slope, course.epsilon)
            ctx.done.append(done)
            ctx.slopes.append(slope)
        return torch.from_numpy(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        attr, course, folded, edges = ctx.attr, ctx.course, ctx.folded, ctx.edges
        grad_attr = np.zeros(attr.shape, array(attr).dtype) if ctx.needs_input_grad[1] else None
        grad_table = np.zeros_like(array(edges.table)) if edges.projected else None
        back: Floats | None = array(grad)
        for done, slope in zip(reversed(ctx.done), reversed(ctx.slopes), strict=True):
            assert back is not None
            before, grad_h = done.gathered.rows[0], None
            if done is not ctx.done[0] or ctx.needs_input_grad[0]:
                grad_h = np.empty_like(before)
                grad_h[: len(back)] = back
                grad_h[len(back) :] = 0
            drive = _step_backward(back, slope, course.epsilon)
            folded.backward(done, drive, grad_h, grad_attr, grad_table)
            back = grad_h
        found = folded.gradients()
        if grad_table is not None:
            found.edge[:, : ctx.table.shape[1]] = matmul(grad_table.T, ctx.table)
        return (
            tensor(back),
            tensor(grad_attr),
            None,
            torch.from_numpy(found.own - found.own.T),
            torch.from_numpy(found.own_bias),
            *map(tensor, found[:6]),
        )


def _project(edges: Incoming, weights: AttentionWeights[Floats]) -> tuple[Incoming, Floats | None]:
    """The edges with their table mapped, each distinct event once, and the rows that were.

    Several steps with the same weights would each map their queries and their pooled rows.
    """
    if edges.table is None or edges.event is None or weights.edge is None:
        return edges, None
    seen, event = number_events(array(edges.event), array(edges.present))
    rows = array(edges.table)[seen]
    table = matmul(rows, weights.edge[:, : rows.shape[1]].T)
    return replace(
        edges, table=torch.from_numpy(table), event=torch.from_numpy(event), projected=True
    ), rows


def flow(
    h: Tensor, course: Course, weight: Tensor, bias: Tensor, attention: AttentionWeights[Tensor]
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
