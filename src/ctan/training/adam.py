"""Adam, whose step takes as long as its arithmetic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from ctan.compiled.rows import array_at
from ctan.nn.kernels import usable


class Adam(torch.optim.Adam):
    """:class:`torch.optim.Adam` with one compiled pass over all weights on the CPU.

    The same numbers but for rounding, and the same state. torch's own step finds and groups some
    twenty weights anew each time, which for small models takes about as long as to move them.

    Args:
        weights: what is trained.
        lr: learning rate.
        weight_decay: added to the gradient, times the weight.

    Example:
        >>> weight = torch.ones(2, requires_grad=True)
        >>> optimiser = Adam([weight], lr=0.1)
        >>> (3 * weight).sum().backward()
        >>> optimiser.step()
        >>> weight
        tensor([0.9000, 0.9000], requires_grad=True)
    """

    def __init__(
        self, weights: Iterable[Tensor], lr: float = 1e-3, weight_decay: float = 0.0
    ) -> None:
        super().__init__(weights, lr=lr, weight_decay=weight_decay, fused=True)

    def step(self, closure: Any = None) -> Any:
        """Move every weight that has a gradient."""
        moved = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        if closure is not None or not moved or not _served(moved):
            return super().step(closure)
        for group in self.param_groups:
            self._move(group)
        return None

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients; ``set_to_none=False`` keeps their memory."""
        if not set_to_none:
            return super().zero_grad(set_to_none=False)
        for group in self.param_groups:
            for weight in group["params"]:
                weight.grad = None
        return None

    def _move(self, group: dict[str, Any]) -> None:
        zero, places, kept = None, [], []
        for weight in group["params"]:
            grad = weight.grad
            if grad is None:
                continue
            state = self.state[weight]
            if not state:
                state["step"] = torch.zeros((), dtype=torch.float32)
                state["exp_avg"] = torch.zeros_like(weight)
                state["exp_avg_sq"] = torch.zeros_like(weight)
            grad = grad.contiguous()
            kept.append(grad)  # until its numbers have been read
            tensors = (weight, grad, state["exp_avg"], state["exp_avg_sq"], state["step"])
            places.append((*(tensor.data_ptr() for tensor in tensors), weight.numel()))
            zero = _ZERO[weight.dtype]
        if zero is not None:
            betas, rate, decay = group["betas"], float(group["lr"]), group["weight_decay"]
            _move_all(zero, np.array(places), rate, *betas, group["eps"], decay)


_ZERO = {torch.float32: np.float32(0), torch.float64: np.float64(0)}


def _served(weights: list[Tensor]) -> bool:
    return usable(*weights) and all(weight.is_contiguous() for weight in weights)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _move_all(
    zero: Any,
    places: NDArray[np.int64],
    rate: float,
    beta1: float,
    beta2: float,
    eps: float,
    decay: float,
) -> None:
    """Algorithm 1 of arXiv 1412.6980 for all weights.

    Args:
        zero: a number of their type.
        places: addresses of each weight, its gradient, both moments and the count of its steps,
            and how many numbers it holds, ``[W, 6]``.
        rate: learning rate.
        beta1: decay of the first moment.
        beta2: decay of the second.
        eps: keeps the denominator from 0.
        decay: of weights.
    """
    kind = type(zero)
    b1, b2, e, wd, one = kind(beta1), kind(beta2), kind(eps), kind(decay), kind(1)
    for k in range(len(places)):
        weight, grad, first, second, count, size = places[k]
        p, g = array_at(zero, weight, size), array_at(zero, grad, size)
        m, v = array_at(zero, first, size), array_at(zero, second, size)
        steps = array_at(np.float32(0), count, 1)
        steps[0] += np.float32(1)
        far = kind(rate / (1 - beta1 ** steps[0]))
        scale = kind(1 / np.sqrt(1 - beta2 ** steps[0]))
        for i in range(size):
            slope = g[i] + wd * p[i]
            m[i] = b1 * m[i] + (one - b1) * slope
            v[i] = b2 * v[i] + (one - b2) * slope * slope
            p[i] -= far * m[i] / (np.sqrt(v[i]) * scale + e)
