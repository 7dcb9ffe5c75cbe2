r"""One step of an ODE solver, for fields of the form :math:`f(h) = \sigma(A h + c)`.

The states of the neighbours are held fixed during a step, so :math:`c` is a constant of the step
and each node's problem is its own. How a solver treats a linear problem :math:`h' = \lambda h` is
all in its stability function R: one step multiplies :math:`h` by :math:`R(\epsilon\lambda)`.

===============  =====  ===========================================  =============================
solver           order  :math:`R(z)`                                 on the imaginary axis
===============  =====  ===========================================  =============================
``euler``        1      :math:`1 + z`                                grows
``heun``         2      :math:`1 + z + z^2/2`                        grows, by a higher order
``rk4``          4      :math:`1 + z + z^2/2 + z^3/6 + z^4/24`       decays, up to 2.828 from 0
``cayley``       2      :math:`(1 + z/2) / (1 - z/2)`                keeps the norm
``exponential``  any    :math:`e^z`                                  keeps the norm
===============  =====  ===========================================  =============================

The last two treat the linear part implicitly or exactly: with the activation :math:`\sigma`,

.. math:: h \leftarrow h + \epsilon\, M\, \sigma(A h + c), \qquad
    M = (I - \tfrac{\epsilon}{2} A)^{-1} \;\text{ or }\; \varphi_1(\epsilon A) =
    \int_0^1 e^{s \epsilon A} ds

where M is the same for all nodes, whatever their state. For the identity activation these are the
Cayley transform and the exact solution; for another, M takes :math:`\sigma' = 1`, its value at rest
for tanh, and the step is consistent to first order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from ctan.errors import unknown_name

Field = Callable[[Tensor], Tensor]
Complex = NDArray[np.complexfloating]


def _euler(field: Field, h: Tensor, epsilon: float, generator: Tensor) -> Tensor:
    return h + epsilon * field(h)


def _heun(field: Field, h: Tensor, epsilon: float, generator: Tensor) -> Tensor:
    first = field(h)
    second = field(h + epsilon * first)
    return h + (epsilon / 2) * (first + second)


def _rk4(field: Field, h: Tensor, epsilon: float, generator: Tensor) -> Tensor:
    k1 = field(h)
    k2 = field(h + (epsilon / 2) * k1)
    k3 = field(h + (epsilon / 2) * k2)
    k4 = field(h + epsilon * k3)
    return h + (epsilon / 6) * (k1 + 2 * k2 + 2 * k3 + k4)


def _cayley(field: Field, h: Tensor, epsilon: float, generator: Tensor) -> Tensor:
    eye = torch.eye(len(generator), dtype=h.dtype, device=h.device)
    slope: Tensor = torch.linalg.solve(eye - (epsilon / 2) * generator, field(h).T)
    return h + epsilon * slope.T


def _exponential(field: Field, h: Tensor, epsilon: float, generator: Tensor) -> Tensor:
    return h + epsilon * (field(h) @ phi1(epsilon * generator).T)


def phi1(matrix: Tensor) -> Tensor:
    r""":math:`\varphi_1(M) = \int_0^1 e^{sM} ds`, also where M is singular.

    It is a block of the exponential of :math:`[[M, I], [0, 0]]`.

    Example:
        >>> phi1(torch.zeros(1, 1))
        tensor([[1.]])
    """
    size = len(matrix)
    eye = torch.eye(size, dtype=matrix.dtype, device=matrix.device)
    top = torch.cat([matrix, eye], dim=1)
    block: Tensor = torch.linalg.matrix_exp(torch.cat([top, torch.zeros_like(top)]))
    return block[:size, size:]


@dataclass(frozen=True)
class Solver:
    """A one-step method.

    Attributes:
        name: as it is asked for.
        order: of convergence on a linear problem; infinite where it is exact.
        step: ``step(field, h [T, d], epsilon, generator [d, d])``, the states a time epsilon later.
        stability: the stability function R, on complex arrays.

    Example:
        >>> solver("heun").stability(np.array([0.0, -1.0 + 0j])).real.tolist()
        [1.0, 0.5]
    """

    name: str
    order: float
    step: Callable[[Field, Tensor, float, Tensor], Tensor]
    stability: Callable[[Complex], Complex]

    def growth(self, eigenvalues: ArrayLike, epsilon: float) -> NDArray[np.floating]:
        r"""Factors :math:`|R(\epsilon\lambda)|` by which one step multiplies each eigenvector.

        Example:
            >>> solver("euler").growth([1j], epsilon=1.0).round(3).tolist()
            [1.414]
        """
        z = epsilon * np.asarray(eigenvalues, dtype=np.complex128)
        return np.abs(self.stability(z))

    def bound(self, gamma: float, epsilon: float) -> float:
        r"""Largest :math:`\omega` up to which no eigenvalue :math:`-\gamma + i\omega` grows.

        In closed form for Euler, :math:`e = \sqrt{2\gamma/\epsilon - \gamma^2}`, and for Heun,
        :math:`\sqrt{e^2 + 2e/\epsilon}`; 0 where even the damped part alone is unstable, infinite
        where nothing ever grows.

        Example:
            >>> round(solver("euler").bound(gamma=0.1, epsilon=1.0), 4)
            0.4359
            >>> solver("cayley").bound(gamma=0.1, epsilon=1.0)
            inf
        """
        eulers = math.sqrt(max(0.0, 2 * gamma / epsilon - gamma**2))
        if self.name == "euler":
            return eulers
        if self.name == "heun":
            return math.sqrt(eulers**2 + 2 * eulers / epsilon)
        if math.isinf(self.order) or self.name == "cayley":
            return math.inf
        # Rounding must not pass for growth: R is 1 to the last bit at rest.
        omega = np.linspace(0, 4 / epsilon, 40_001)
        grows = self.growth(-gamma + 1j * omega, epsilon) > 1 + 1e-12
        return float(omega[max(0, int(grows.argmax()) - 1)])


SOLVERS: dict[str, Solver] = {
    s.name: s
    for s in (
        Solver("euler", 1, _euler, lambda z: 1 + z),
        Solver("heun", 2, _heun, lambda z: 1 + z + z**2 / 2),
        Solver("rk4", 4, _rk4, lambda z: 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24),
        Solver("cayley", 2, _cayley, lambda z: (1 + z / 2) / (1 - z / 2)),
        Solver("exponential", math.inf, _exponential, np.exp),
    )
}


def solver(name: str) -> Solver:
    """A solver by name.

    Example:
        >>> solver("rk4").order
        4
    """
    if name not in SOLVERS:
        raise unknown_name("solver", name, SOLVERS)
    return SOLVERS[name]
