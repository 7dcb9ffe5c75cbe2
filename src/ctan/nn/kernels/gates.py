r"""The gates of a gated recurrent unit, fused: :class:`torch.nn.GRUCell` but for its products.

.. math::
    r = \sigma(a_r + b_r), \qquad z = \sigma(a_z + b_z), \qquad
    n = \tanh(a_n + r \odot b_n), \qquad s \leftarrow n + z \odot (s - n)

with :math:`a` what the message says and :math:`b` what the state says, three parts each.
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


class _Gates(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, heard: Tensor, kept: Tensor, own: Tensor) -> Tensor:
        d = own.size(1)
        # torch's exponentials run in vector registers, numba's do not.
        open_ = torch.add(heard[:, : 2 * d], kept[:, : 2 * d]).sigmoid_()
        new = torch.addcmul(heard[:, 2 * d :], open_[:, :d], kept[:, 2 * d :]).tanh_()
        ctx.save_for_backward(open_, new, kept, own)
        return torch.lerp(new, own, open_[:, d:])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        saved = [x.detach().contiguous().numpy() for x in (*ctx.saved_tensors, grad)]
        rows, d = grad.shape
        heard, kept = grad.new_empty(rows, 3 * d), grad.new_empty(rows, 3 * d)
        own = grad.new_empty(rows, d)
        _backward(*saved, heard.numpy(), kept.numpy(), own.numpy())
        return heard, kept, own


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def _backward(
    open_: Floats,
    new: Floats,
    kept: Floats,
    own: Floats,
    grad: Floats,
    grad_heard: Floats,
    grad_kept: Floats,
    grad_own: Floats,
) -> None:
    rows, d = new.shape
    one = new.dtype.type(1)
    for row in range(rows):
        # Sliced once per row: an index such as [d + i] would keep the loop from vectors.
        r, z = open_[row, :d], open_[row, d:]
        b_n, n, s, g = kept[row, 2 * d :], new[row], own[row], grad[row]
        a_r, a_z, a_n = grad_heard[row, :d], grad_heard[row, d : 2 * d], grad_heard[row, 2 * d :]
        for i in range(d):
            of_new = g[i] * (one - z[i]) * (one - n[i] * n[i])
            a_n[i] = of_new
            a_z[i] = g[i] * (s[i] - n[i]) * z[i] * (one - z[i])
            a_r[i] = of_new * b_n[i] * r[i] * (one - r[i])
            grad_own[row, i] = g[i] * z[i]
        g_r, g_z, g_n = grad_kept[row, :d], grad_kept[row, d : 2 * d], grad_kept[row, 2 * d :]
        for i in range(d):
            g_r[i], g_z[i], g_n[i] = a_r[i], a_z[i], a_n[i] * r[i]


def gru_gates(heard: Tensor, kept: Tensor, own: Tensor) -> Tensor:
    """The states ``[T, d]`` after one update.

    Args:
        heard: the message through its map, ``[T, 3 d]``: for the gates r and z, and the new state.
        kept: the state through its map, ``[T, 3 d]``.
        own: the state, ``[T, d]``.

    Example:
        >>> gru_gates(torch.zeros(1, 6), torch.zeros(1, 6), torch.ones(1, 2))
        tensor([[0.5000, 0.5000]])
    """
    out: Tensor = _Gates.apply(heard, kept, own)  # type: ignore[no-untyped-call]
    return out
