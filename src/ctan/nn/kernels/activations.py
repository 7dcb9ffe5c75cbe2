"""Activations and encodings whose functions torch computes slowly on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from ctan.compiled import functions
from ctan.compiled.functions import cosine
from ctan.nn.kernels._arrays import Floats, array
from ctan.nn.kernels.products import usable

_jit = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})

# With fewer numbers, torch's own is done before a function of ours has started.
_ENOUGH = 4096


@_jit
def _tanh(x: Floats, out: Floats) -> None:
    for i in range(len(x)):
        out[i] = functions.tanh(x[i])


class _Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        out = torch.empty_like(x, memory_format=torch.contiguous_format)
        _tanh(array(x).reshape(-1), out.view(-1).numpy())
        ctx.save_for_backward(out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        out: Tensor = torch.ops.aten.tanh_backward(grad, *ctx.saved_tensors)
        return out


def tanh(x: Tensor) -> Tensor:
    """:func:`torch.tanh`, a few units in the last place away from it.

    Example:
        >>> tanh(torch.tensor([0.0, 100.0]))
        tensor([0., 1.])
    """
    if x.numel() < _ENOUGH or not usable(x):
        return torch.tanh(x)
    out: Tensor = _Tanh.apply(x)  # type: ignore[no-untyped-call]
    return out


@_jit
def _harmonics(delta: Floats, weight: Floats, bias: Floats, out: Floats) -> None:
    for i in range(len(delta)):
        row = out[i]
        for j in range(len(weight)):
            row[j] = cosine(weight[j] * delta[i] + bias[j], 0)


@_jit
def _harmonics_backward(
    delta: Floats, weight: Floats, bias: Floats, grad: Floats, of_weight: Floats, of_bias: Floats
) -> None:
    slope = np.empty_like(bias)
    for i in range(len(delta)):
        for j in range(len(weight)):
            slope[j] = grad[i, j] * cosine(weight[j] * delta[i] + bias[j], 1)
        for j in range(len(weight)):
            of_bias[j] -= slope[j]
            of_weight[j] -= slope[j] * delta[i]


class _Harmonics(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, delta: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.arrays = [array(x).reshape(-1) for x in (delta, weight, bias)]
        out = delta.new_empty(*delta.shape, len(bias))
        _harmonics(*ctx.arrays, out.view(-1, len(bias)).numpy())
        ctx.shape = weight.shape
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        delta, weight, bias = ctx.arrays
        found = np.zeros((2, len(bias)), bias.dtype)
        rows = array(grad).reshape(-1, len(bias))
        _harmonics_backward(delta, weight, bias, rows, *found)
        of_weight, of_bias = torch.from_numpy(found)
        return None, of_weight.view(ctx.shape), of_bias


def harmonics(delta: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    r"""The harmonics :math:`\cos(w \Delta + b)` of elapsed times, with gradients for w and b.

    Args:
        delta: any shape, without gradient.
        weight: w, ``[dim, 1]``.
        bias: b, ``[dim]``.

    Example:
        >>> harmonics(torch.zeros(2), torch.ones(3, 1), torch.zeros(3))
        tensor([[1., 1., 1.],
                [1., 1., 1.]])
    """
    if delta.requires_grad or not usable(delta, weight, bias):
        linear = torch.nn.functional.linear(delta.unsqueeze(-1), weight, bias)
        return torch.cos(linear)
    out: Tensor = _Harmonics.apply(delta, weight, bias)  # type: ignore[no-untyped-call]
    return out
