"""Matrix products of tensors: on the CPU those of :mod:`ctan.nn.kernels.matmul`, else torch's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ctan.nn.kernels.matmul import matmul


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


def product(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """``a [m, k] @ b [k, n] + bias [n]``, outside autograd.

    Example:
        >>> product(torch.ones(2, 3), torch.ones(3, 4))[0]
        tensor([3., 3., 3., 3.])
    """
    if not usable(a, b, bias):
        return a @ b if bias is None else torch.addmm(bias, a, b)
    start = None if bias is None else bias.detach().numpy()[None]
    return torch.from_numpy(matmul(a.detach().numpy(), b.detach().numpy(), start))


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor | None, *parts: Tensor) -> Tensor:
        ctx.widths = [part.size(1) for part in parts]
        x = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
        ctx.save_for_backward(x, weight)
        return product(x, weight.T, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        wants_weight, wants_bias, *wanted = ctx.needs_input_grad
        columns = torch.split(weight, ctx.widths, dim=1)
        return (
            product(grad.T, x) if wants_weight else None,
            grad.sum(0) if wants_bias else None,
            *(
                product(grad, part) if wants else None
                for part, wants in zip(columns, wanted, strict=True)
            ),
        )


# With fewer multiplications torch is done, gradients and all, before our function has started.
_ENOUGH = 700_000


def linear(x: Tensor | Sequence[Tensor], weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x [..., k] @ weight.T + bias`` with gradients, as :func:`torch.nn.functional.linear`.

    Args:
        x: ``[..., k]``, or parts of it side by side: those that want no gradient then cost none.
        weight: ``[n, k]``.
        bias: ``[n]``.

    Example:
        >>> linear(torch.ones(2, 3), torch.ones(4, 3)).shape
        torch.Size([2, 4])
        >>> linear([torch.ones(2, 1), torch.ones(2, 2)], torch.ones(1, 3)).tolist()
        [[3.0], [3.0]]
    """
    parts = [x] if isinstance(x, Tensor) else list(x)
    shape = parts[0].shape[:-1]
    if math.prod(shape) * weight.numel() < _ENOUGH or not usable(*parts, weight, bias):
        joined = parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
        return torch.nn.functional.linear(joined, weight, bias)
    if len(shape) != 1:
        parts = [part.reshape(-1, part.size(-1)) for part in parts]
    out: Tensor = _Linear.apply(weight, bias, *parts)  # type: ignore[no-untyped-call]
    return out if len(shape) == 1 else out.view(*shape, -1)
