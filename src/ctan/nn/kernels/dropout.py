"""Dropout whose choice is a hash of the place: one pass, and no mask to keep for the way back.

torch draws for dropout one number after the other, which takes a quarter to a third of a
transformer's training step. Here torch's generator gives one number for each call, and each place
hashes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from ctan.compiled.counter import mix
from ctan.nn.kernels._arrays import Floats, array
from ctan.nn.kernels.products import usable


@njit(cache=True, nogil=True, error_model="numpy")
def _drop(x: Floats, seed: np.uint64, share: float, out: Floats) -> None:
    """Write ``x`` to ``out``, a share of it as 0 and all else larger for it."""
    least = np.uint64(share * 2.0**63) << np.uint64(1)
    scale, zero = x.dtype.type(1 / (1 - share)), x.dtype.type(0)
    for i in range(len(x)):
        out[i] = x[i] * scale if mix(seed, i) >= least else zero


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, share: float) -> Tensor:
        ctx.seed = np.uint64(torch.randint(1 << 62, ()).item())
        ctx.share = share
        return _dropped(x, ctx.seed, share)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _dropped(grad, ctx.seed, ctx.share), None


def _dropped(x: Tensor, seed: np.uint64, share: float) -> Tensor:
    out = np.empty(x.shape, array(x[:0]).dtype)
    _drop(array(x).reshape(-1), seed, share, out.reshape(-1))
    return torch.from_numpy(out)


def dropout(x: Tensor, share: float, training: bool = True) -> Tensor:
    """:func:`torch.nn.functional.dropout`, with draws of its own.

    Args:
        x: any shape.
        share: of the numbers that become 0; the others grow by 1 / (1 - share).
        training: whether anything is dropped at all.

    Example:
        >>> set(dropout(torch.ones(100), 0.5).tolist()) == {0.0, 2.0}
        True
    """
    if not training or share == 0 or share == 1 or x.dim() == 0 or not usable(x):
        return torch.nn.functional.dropout(x, share, training)
    out: Tensor = _Dropout.apply(x, share)  # type: ignore[no-untyped-call]
    return out
