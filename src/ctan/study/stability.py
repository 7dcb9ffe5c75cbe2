r"""What a solver does to the frequencies of CTAN's ODE: closed forms, and a linear system.

A linear problem :math:`h' = \lambda h` is multiplied by :math:`R(\epsilon\lambda)` at each step, so
a frequency :math:`\omega` of :math:`W - W^\top`, damped by :math:`\gamma`, grows or fades as the
powers of :math:`|R(\epsilon(-\gamma + i\omega))|`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ctan.errors import CtanError
from ctan.nn import solver

#: The fastest frequency of W - W^T as torch draws W, uniform in +-1/sqrt(d): the edge of the
#: semicircle law of entries of variance 2/(3d), as d grows.
FASTEST = 2 * math.sqrt(2 / 3)


@dataclass(frozen=True)
class Stability:
    """A solver at one step size and damping.

    Attributes:
        solver: its name.
        order: of convergence on linear problems.
        stable_up_to: the largest frequency that it bears.
        at_rest: the factor of a step at frequency 0: 1 keeps, below 1 damps.
        at_one: the factor at frequency 1.
        at_fastest: the factor at :data:`FASTEST`.
    """

    solver: str
    order: float
    stable_up_to: float
    at_rest: float
    at_one: float
    at_fastest: float

    def facts(self) -> dict[str, Any]:
        """All but the name, with spaces for underscores."""
        facts = asdict(self)
        del facts["solver"]
        return {name.replace("_", " "): value for name, value in facts.items()}


def stability(name: str, epsilon: float, gamma: float) -> Stability:
    """The closed forms of a solver.

    Args:
        name: of the solver.
        epsilon: the step size.
        gamma: the damping.

    Example:
        >>> round(stability("euler", epsilon=1.0, gamma=0.0).at_one, 4)
        1.4142
        >>> round(stability("cayley", epsilon=1.0, gamma=0.0).at_fastest, 12)
        1.0
    """
    method = solver(name)
    _possible(epsilon, gamma)
    rest, one, fastest = (
        float(method.growth(complex(-gamma, omega), epsilon)) for omega in (0.0, 1.0, FASTEST)
    )
    return Stability(name, method.order, method.bound(gamma, epsilon), rest, one, fastest)


def norms(
    name: str, *, epsilon: float, gamma: float, steps: int, dim: int = 50, seed: int = 0
) -> NDArray[np.float64]:
    """Norm of a state over the steps of a linear system as a fresh CTAN has it, from 1.

    Args:
        name: of the solver.
        epsilon: the step size.
        gamma: the damping.
        steps: how many.
        dim: size of the state.
        seed: of the weights and of the state.

    Returns:
        ``[steps + 1]``.

    Example:
        >>> norms("exponential", epsilon=1.0, gamma=0.0, steps=3).round(6)
        array([1., 1., 1., 1.])
    """
    _possible(epsilon, gamma)
    draw = torch.Generator().manual_seed(seed)
    weight = torch.rand(dim, dim, generator=draw, dtype=torch.float64).mul_(2).sub_(1)
    weight /= math.sqrt(dim)
    generator = weight - weight.T - gamma * torch.eye(dim, dtype=torch.float64)
    h = torch.randn(1, dim, generator=draw, dtype=torch.float64)
    h /= h.norm()
    found = [1.0]
    for _ in range(steps):
        h = solver(name).step(lambda state: state @ generator.T, h, epsilon, generator)
        found.append(float(h.norm()))
    return np.array(found)


def _possible(epsilon: float, gamma: float) -> None:
    if not (0 < epsilon < math.inf and 0 <= gamma < math.inf):
        raise CtanError(
            f"epsilon is {epsilon:g} and gamma is {gamma:g}: expected a step size above 0 and "
            "damping of 0 or more."
        )
