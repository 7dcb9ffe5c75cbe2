"""Matrix products on the CPU through oneDNN, which torch ships beside its default library.

Torch's float32 products go to MKL, which on AMD processors stays with 256-bit registers: about 100
GFLOP/s a thread where oneDNN reaches 200, for the shapes of one CTAN step on an EPYC with AVX-512.
The results agree to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

_HAS_ONEDNN: bool = torch.backends.mkldnn.is_available() and hasattr(  # type: ignore[no-untyped-call]
    torch.ops.mkldnn, "_linear_pointwise"
)


# Below so many multiplications a call to oneDNN costs more than it saves: of a product; of one over
# rows, of which a side is transposed; and of a linear map with its gradients.
_PRODUCT, _CONTRACTION, _LINEAR = 3_000_000, 7_000_000, 5_000_000


def _served(a: Tensor, b: Tensor, multiplications: int, enough: int) -> bool:
    return (
        _HAS_ONEDNN
        and multiplications >= enough
        and a.dtype == b.dtype == torch.float32
        and a.is_cpu
        and b.is_cpu
    )


def product(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """``a [m, k] @ b [k, n] + bias [n]``, where m changes from call to call; outside autograd.

    Example:
        >>> product(torch.ones(2, 3), torch.ones(3, 4))[0]
        tensor([3., 3., 3., 3.])
    """
    if not _served(a, b, a.size(0) * b.numel(), _PRODUCT):
        return a @ b if bias is None else torch.addmm(bias, a, b)
    out: Tensor = torch.ops.mkldnn._linear_pointwise(rounded(a), _dense(b.T), bias, "none", [], "")
    return out[: a.size(0)]


def _dense(weight: Tensor) -> Tensor:
    # For weights that are columns of a wider matrix oneDNN has but a loop a thousand times slower.
    return weight if weight.is_contiguous() or weight.T.is_contiguous() else weight.contiguous()


def between_weights(a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` for shapes that stay the same from call to call; outside autograd.

    Example:
        >>> between_weights(torch.ones(2, 3), torch.ones(3, 1)).tolist()
        [[3.0], [3.0]]
    """
    if not _served(a, b, a.size(0) * b.numel(), _PRODUCT):
        return a @ b
    out: Tensor = torch.ops.mkldnn._linear_pointwise(_dense(a), _dense(b.T), None, "none", [], "")
    return out


def contract(a: Tensor, b: Tensor) -> Tensor:
    """``a [r, m].T @ b [r, n]``, where r changes from call to call; outside autograd.

    Example:
        >>> contract(torch.ones(2, 3), torch.ones(2, 4))[0]
        tensor([2., 2., 2., 2.])
    """
    if not _served(a, b, a.size(1) * b.numel(), _CONTRACTION):
        return a.T @ b
    out: Tensor = torch.ops.mkldnn._linear_pointwise(
        _dense(rounded(a)).T, _dense(rounded(b)).T, None, "none", [], ""
    )
    return out


def round_up(rows: int) -> int:
    """The next multiple of 32.

    oneDNN compiles a kernel for each shape that it meets: a batch has whatever number of nodes it
    has, and a handful of shapes must serve them all.

    Example:
        >>> round_up(33)
        64
    """
    return (rows + 31) & ~31


def rounded(x: Tensor, *beside: Tensor) -> Tensor:
    """``x``, and what stands beside it, with rows of zeros up to a multiple of 32.

    Example:
        >>> rounded(torch.ones(5, 2)).sum(1)[4:6]
        tensor([2., 0.])
    """
    given = x.size(0)
    rows = round_up(given)
    if not beside and rows == given:
        return x
    out = x.new_empty(rows, x.size(1) + sum(part.size(1) for part in beside))
    if beside:
        torch.cat((x, *beside), dim=1, out=out[:given])
    else:
        out[:given] = x
    out[given:] = 0
    return out


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor | None, *parts: Tensor) -> Tensor:
        ctx.rows, ctx.widths = parts[0].size(0), [part.size(1) for part in parts]
        x = rounded(*parts)
        ctx.save_for_backward(x, weight)
        return product(x, weight.T, bias)[: ctx.rows]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        wants_weight, wants_bias, *wanted = ctx.needs_input_grad
        grad = rounded(grad)
        columns = torch.split(weight, ctx.widths, dim=1)
        return (
            contract(grad, x) if wants_weight else None,
            grad.sum(0) if wants_bias else None,
            *(
                product(grad, part)[: ctx.rows] if wants else None
                for part, wants in zip(columns, wanted, strict=True)
            ),
        )


def linear(x: Tensor | Sequence[Tensor], weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x [m, k] @ weight.T + bias`` with gradients, as :func:`torch.nn.functional.linear`.

    Args:
        x: ``[m, k]``, or parts of it side by side: those that want no gradient then cost none.
        weight: ``[n, k]``.
        bias: ``[n]``.

    Example:
        >>> linear(torch.ones(2, 3), torch.ones(4, 3)).shape
        torch.Size([2, 4])
        >>> linear([torch.ones(2, 1), torch.ones(2, 2)], torch.ones(1, 3)).tolist()
        [[3.0], [3.0]]
    """
    parts = [x] if isinstance(x, Tensor) else list(x)
    size = parts[0].size(0) * weight.numel()
    if not all(part.dim() == 2 and _served(part, weight, size, _LINEAR) for part in parts):
        joined = parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
        return torch.nn.functional.linear(joined, weight, bias)
    out: Tensor = _Linear.apply(weight, bias, *parts)  # type: ignore[no-untyped-call]
    return out
