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
from torch import Tensor
from torch.autograd.function import once_differentiable

from ctan.compiled.functions import tanh
from ctan.compiled.team import Team, spread, team
from ctan.nn.kernels._arrays import Floats, array


class _Gates(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, heard: Tensor, kept: Tensor, own: Tensor) -> Tensor:
        given = [array(x) for x in (heard, kept, own)]
        gates, out = np.empty_like(given[0]), np.empty_like(given[2])
        _forward_in_parts(team(20 * gates.size), (*given, gates, out))
        ctx.arrays = (gates, *given[1:])
        return torch.from_numpy(out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        gates, kept, own = ctx.arrays
        found = [np.empty_like(x) for x in (kept, kept, own)]
        given = (gates, kept, own, array(grad), *found)
        _backward_in_parts(team(10 * gates.size), given)
        return tuple(map(torch.from_numpy, found))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _forward(
    part: int,
    parts: int,
    heard: Floats,
    kept: Floats,
    own: Floats,
    gates: Floats,
    out: Floats,
) -> None:
    """Write the states to ``out``, and r, z and n side by side to ``gates``: some of the rows."""
    rows, d = own.shape
    half = own.dtype.type(0.5)
    for row in range(rows * part // parts, rows * (part + 1) // parts):
        # Sliced once per row: an index such as [d + i] would keep the loop from vectors.
        a, b, g = heard[row], kept[row], gates[row]
        for i in range(2 * d):
            # The logistic function is a tanh.
            g[i] = half + half * tanh(half * (a[i] + b[i]))
        a_n, b_n, s, to = a[2 * d :], b[2 * d :], own[row], out[row]
        r, z, n = g[:d], g[d : 2 * d], g[2 * d :]
        for i in range(d):
            n[i] = tanh(a_n[i] + r[i] * b_n[i])
            to[i] = n[i] + z[i] * (s[i] - n[i])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _backward(
    part: int,
    parts: int,
    gates: Floats,
    kept: Floats,
    own: Floats,
    grad: Floats,
    grad_heard: Floats,
    grad_kept: Floats,
    grad_own: Floats,
) -> None:
    rows, d = own.shape
    one = own.dtype.type(1)
    for row in range(rows * part // parts, rows * (part + 1) // parts):
        r, z, n = gates[row, :d], gates[row, d : 2 * d], gates[row, 2 * d :]
        b_n, s, g = kept[row, 2 * d :], own[row], grad[row]
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


@njit(cache=True, nogil=True)
def _forward_in_parts(team: Team, given: tuple[Floats, ...]) -> None:
    spread(team, _forward, given)


@njit(cache=True, nogil=True)
def _backward_in_parts(team: Team, given: tuple[Floats, ...]) -> None:
    spread(team, _backward, given)


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
