"""Matrix products on the CPU through oneDNN, which torch ships beside its default library.

Torch's float32 products go to MKL, which on AMD processors stays with 256-bit registers: 100 GFLOP/s
a thread where oneDNN reaches 200 (measured on an EPYC of 2024 for the shapes of one CTAN step, see
docs/performance.md). The results agree to rounding.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

_HAS_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(
    torch.ops.mkldnn, "_linear_pointwise"
)


def _served(a: Tensor, b: Tensor) -> bool:
    return (
        _HAS_ONEDNN
        and a.dtype == b.dtype == torch.float32
        and a.device.type == b.device.type == "cpu"
        and a.numel() > 0
        and b.numel() > 0
    )


def product(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """``a [m, k] @ b [k, n] + bias [n]``, where m changes from call to call; outside autograd.

    Example:
        >>> product(torch.ones(2, 3), torch.ones(3, 4))[0]
        tensor([3., 3., 3., 3.])
    """
    if not _served(a, b):
        return a @ b if bias is None else torch.addmm(bias, a, b)
    rows = len(a)
    out: Tensor = torch.ops.mkldnn._linear_pointwise(_rounded(a), b.T, bias, "none", [], "")
    return out[:rows]


def contract(a: Tensor, b: Tensor) -> Tensor:
    """``a [r, m].T @ b [r, n]``, where r changes from call to call; outside autograd.

    Example:
        >>> contract(torch.ones(2, 3), torch.ones(2, 4))[0]
        tensor([2., 2., 2., 2.])
    """
    if not _served(a, b):
        return a.T @ b
    out: Tensor = torch.ops.mkldnn._linear_pointwise(
        _rounded(a).T, _rounded(b).T, None, "none", [], ""
    )
    return out


def _rounded(x: Tensor) -> Tensor:
    """``x`` with rows of zeros up to a multiple of 32.

    oneDNN compiles a kernel for each shape that it meets: a batch has whatever number of nodes it
    has, and a handful of shapes must serve them all.
    """
    rows = -(-len(x) // 32) * 32
    if rows == len(x):
        return x
    out = x.new_empty(rows, x.size(1))
    out[: len(x)] = x
    out[len(x) :] = 0
    return out


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return product(x, weight.T, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        wants_x, wants_weight, wants_bias = ctx.needs_input_grad
        return (
            product(grad, weight) if wants_x else None,
            contract(grad, x) if wants_weight else None,
            grad.sum(0) if wants_bias else None,
        )


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x [m, k] @ weight.T + bias`` with gradients, as :func:`torch.nn.functional.linear`.

    Example:
        >>> linear(torch.ones(2, 3), torch.ones(4, 3)).shape
        torch.Size([2, 4])
    """
    if x.dim() != 2 or not _served(x, weight):
        return torch.nn.functional.linear(x, weight, bias)
    out: Tensor = _Linear.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return out
