r"""The last layer of a readout, pair by pair, from what each node brings to it.

.. math:: y_p = W\, \mathrm{relu}(a_{i(p)} + b_{j(p)}) + c

The hidden layer of a pair is made where it is read: nothing of size ``[P, hidden]`` is kept,
however many pairs there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

Floats = NDArray[np.floating[Any]]
Int64 = NDArray[np.int64]

_jit = njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"}
)


class _Pairs(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        source: Tensor | None,
        destination: Tensor,
        weight: Tensor,
        bias: Tensor,
        src: Tensor,
        dst: Tensor,
    ) -> Tensor:
        ctx.known = source is not None
        parts = (destination if source is None else source, destination, weight)
        rows = [x.detach().contiguous().numpy() for x in parts]
        ctx.arrays = (*rows, src.numpy(), dst.numpy(), ctx.known)
        out = bias.detach().repeat(len(dst), 1)
        _forward(*ctx.arrays, out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        source, destination, weight, *_ = ctx.arrays
        grads = [np.zeros_like(source[: None if ctx.known else 0])]
        grads += [np.zeros_like(destination), np.zeros_like(weight)]
        _backward(*ctx.arrays, grad.contiguous().numpy(), *grads)
        of_source, of_destination, of_weight = map(torch.from_numpy, grads)
        return of_source if ctx.known else None, of_destination, of_weight, grad.sum(0), None, None


@_jit
def _forward(
    source: Floats,
    destination: Floats,
    weight: Floats,
    src: Int64,
    dst: Int64,
    known: bool,
    out: Floats,
) -> None:
    """Add the scores ``[P, outputs]`` of the pairs to ``out``; ``known``: sources count."""
    outputs, hidden = weight.shape
    zero = destination.dtype.type(0)
    for p in range(len(dst)):
        b = destination[dst[p]]
        a = source[src[p]] if known else b
        for o in range(outputs):
            w, score = weight[o], zero
            if known:
                for i in range(hidden):
                    score += w[i] * max(a[i] + b[i], zero)
            else:
                for i in range(hidden):
                    score += w[i] * max(b[i], zero)
            out[p, o] += score


@_jit
def _backward(
    source: Floats,
    destination: Floats,
    weight: Floats,
    src: Int64,
    dst: Int64,
    known: bool,
    grad: Floats,
    grad_source: Floats,
    grad_destination: Floats,
    grad_weight: Floats,
) -> None:
    """Add the gradients of :func:`_forward` to the last three."""
    outputs, hidden = weight.shape
    zero = destination.dtype.type(0)
    slope = np.empty(hidden, destination.dtype)
    for p in range(len(dst)):
        b, to_b = destination[dst[p]], grad_destination[dst[p]]
        a = source[src[p]] if known else b
        slope[:] = zero
        for o in range(outputs):
            g, w, to_w = grad[p, o], weight[o], grad_weight[o]
            for i in range(hidden):
                z = a[i] + b[i] if known else b[i]
                above = z > zero
                slope[i] += g * w[i] if above else zero
                to_w[i] += g * z if above else zero
        for i in range(hidden):
            to_b[i] += slope[i]
        if known:
            to_a = grad_source[src[p]]
            for i in range(hidden):
                to_a[i] += slope[i]


def score_pairs(
    source: Tensor | None,
    destination: Tensor,
    src: Tensor,
    dst: Tensor,
    weight: Tensor,
    bias: Tensor,
) -> Tensor:
    """Scores ``[P, outputs]`` of pairs.

    Args:
        source: what each source brings, ``[S, hidden]``; None where it is not read.
        destination: what each destination brings, ``[D, hidden]``.
        src: row of each pair's source, ``[P]``.
        dst: row of each pair's destination, ``[P]``.
        weight: ``[outputs, hidden]``.
        bias: ``[outputs]``.

    Example:
        >>> one = torch.ones(1, 2)
        >>> row = torch.tensor([0])
        >>> score_pairs(one, 2 * one, row, row, weight=one, bias=torch.zeros(1))
        tensor([[6.]])
    """
    out: Tensor = _Pairs.apply(  # type: ignore[no-untyped-call]
        source, destination, weight, bias, src, dst
    )
    return out
