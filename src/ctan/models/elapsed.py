"""How long after each edge the neighbour was last active: what time encodings are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from ctan.models.base import Dims
from ctan.models.view import View


def since_edges(dims: Dims, view: View, last: Tensor, targets: int) -> Tensor:
    r""":math:`|t_v^- - t_{uv}|` of each neighbour v of the first targets u, standardised.

    Args:
        dims: how long nodes wait as a rule.
        view: the neighbours.
        last: time of the last update of each entry, ``[M]``.
        targets: how many entries count.

    Returns:
        ``[targets, K]``.
    """
    slot, event, t = view.slot[:targets], view.event[:targets], view.features.t
    if t.device.type != "cpu" or last.dtype != t.dtype:
        return dims.standardise((last[slot] - t[event]).abs())
    out = torch.empty(slot.shape)
    arrays = [tensor.numpy() for tensor in (last, slot, t, event, out)]
    _since_edges(*arrays, dims.elapsed_mean, dims.elapsed_std)
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _since_edges(
    last: NDArray[Any],
    slot: NDArray[np.int64],
    t: NDArray[Any],
    event: NDArray[np.int64],
    out: NDArray[Any],
    mean: float,
    std: float,
) -> None:
    for row in range(slot.shape[0]):
        for j in range(slot.shape[1]):
            # Subtracted in full precision, then narrowed.
            waited = abs(last[slot[row, j]] - t[event[row, j]])
            out[row, j] = (waited - mean) / std
