r"""Scores of pairs of rows, a two-layer readout in one node of autograd.

.. math:: y_p = W\, \mathrm{relu}(a_{i(p)} + b_{j(p)}) + c, \qquad
    a_i = W_s z_i + b_s, \quad b_j = W_d z_j + b_d

The first layer is computed once for each row, and the hidden layer of a pair is made where it is
read: nothing of size ``[P, hidden]`` is kept, however many pairs there are.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from ctan.nn.kernels._arrays import Floats, Int64, Kind, array, tensor
from ctan.nn.kernels.matmul import matmul, multiply

_jit = njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"}
)


class ReadoutWeights(NamedTuple, Generic[Kind]):
    """The weights of a readout.

    Attributes:
        final: W, ``[outputs, hidden]``.
        final_bias: c, ``[outputs]``.
        destination: W_d, ``[hidden, d]``.
        destination_bias: b_d, ``[hidden]``.
        source: W_s, ``[hidden, d]``; this and the next None where sources are not read.
        source_bias: b_s, ``[hidden]``.
    """

    final: Kind
    final_bias: Kind
    destination: Kind
    destination_bias: Kind
    source: Kind | None = None
    source_bias: Kind | None = None


class _Pairs(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, src: Tensor, dst: Tensor, *weights: Any) -> Tensor:
        numbers: list[Any] = [None if weight is None else array(weight) for weight in weights]
        w = ctx.weights = ReadoutWeights(*numbers)
        x, i, j = (array(given) for given in (z, src, dst))
        # Of the rows of z, no source stands from `stop` on, and no destination before `start`.
        stop, start = int(i.max(initial=-1)) + 1, int(j.min(initial=len(x)))
        j = j - start
        b = matmul(x[start:], w.destination.T, w.destination_bias[None])
        a = b
        if w.source is not None and w.source_bias is not None:
            a = matmul(x[:stop], w.source.T, w.source_bias[None])
        out = np.empty((len(j), len(w.final)), x.dtype)
        out[:] = w.final_bias
        _forward(a, b, w.final, i, j, w.source is not None, out)
        ctx.rows, ctx.parts, ctx.pairs = (x, stop, start), (a, b), (i, j)
        return torch.from_numpy(out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        w, (x, stop, start), (a, b), g = ctx.weights, ctx.rows, ctx.parts, array(grad)
        known = w.source is not None
        grad_a, grad_b = np.zeros_like(a if known else a[:0]), np.zeros_like(b)
        grad_final = np.zeros_like(w.final)
        _backward(a, b, w.final, *ctx.pairs, known, g, grad_a, grad_b, grad_final)
        of_b = matmul(grad_b.T, x[start:]), grad_b.sum(0)
        found = ReadoutWeights(grad_final, g.sum(0), *of_b)
        if known:
            found = found._replace(source=matmul(grad_a.T, x[:stop]), source_bias=grad_a.sum(0))
        grad_x = None
        if ctx.needs_input_grad[0]:
            grad_x = np.zeros_like(x)
            multiply(grad_b, w.destination, grad_b[:0], grad_x[start:])
            if known:
                multiply(grad_a, w.source, grad_x[:stop], grad_x[:stop])
        return (tensor(grad_x), None, None, *map(tensor, found))


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


def score_pairs(z: Tensor, src: Tensor, dst: Tensor, weights: ReadoutWeights[Tensor]) -> Tensor:
    """Scores ``[P, outputs]`` of pairs.

    Args:
        z: embeddings, ``[M, d]``.
        src: row of each pair's source, ``[P]``.
        dst: row of each pair's destination, ``[P]``.
        weights: of the readout.

    Example:
        >>> one, none, row = torch.ones(1, 1), torch.zeros(1), torch.tensor([0])
        >>> weights = ReadoutWeights(one, none, 2 * one, none, 3 * one, none)
        >>> score_pairs(one, row, row, weights)
        tensor([[5.]])
    """
    out: Tensor = _Pairs.apply(z, src, dst, *weights)  # type: ignore[no-untyped-call]
    return out
