r"""The antisymmetric step: the non-dissipative ODE of section 3 of the paper, one solver step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ctan.errors import CtanError, unknown_name
from ctan.nn import kernels
from ctan.nn.aggregate import Attention
from ctan.nn.edges import Incoming
from ctan.nn.solvers import solver as solver_by_name

#: Monotone activations by name; the propositions need a derivative above zero.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "identity": lambda z: z,
    "relu": F.relu,
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "softplus": F.softplus,
    "sigmoid": torch.sigmoid,
}


def activation(name: str) -> Callable[[Tensor], Tensor]:
    """A monotone activation by name.

    Example:
        >>> activation("relu")(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    if name not in ACTIVATIONS:
        raise unknown_name("activation", name, ACTIVATIONS)
    return ACTIVATIONS[name]


class AntiSymmetricStep(nn.Module):
    r"""One step of the CTAN equation, forward Euler unless told otherwise (eq. 7 of the paper).

    .. math::
        h_u \leftarrow h_u + \epsilon\, \sigma\bigl((W - W^\top - \gamma I) h_u
        + \Phi(\{h_v, \hat e_{uv}\}_{v \in N_u}) + b\bigr)

    Args:
        dim: size of the node states.
        phi: the aggregation, ``phi(h [M, d], edges) -> [T, d]``.
        epsilon: the step size.
        gamma: the damping that keeps forward Euler stable.
        act: name of a monotone activation.
        include_self: count a node among its own neighbours, as the paper's equation does.
        solver: ``euler``, or another of :mod:`ctan.nn.solvers`.

    Shapes:
        - ``h``: ``[M, d]``; the nodes to update come first
        - output: ``[T, d]`` for the ``T`` nodes whose neighbours ``edges`` lists

    Example:
        >>> from ctan.nn import Mean
        >>> step = AntiSymmetricStep(4, Mean(4, edge_dim=0), epsilon=0.5, gamma=0.1)
        >>> slot, present = torch.tensor([[1]]), torch.tensor([[True]])
        >>> edges = Incoming(slot, present, torch.tensor([1, 1]), attr=torch.zeros(1, 1, 0))
        >>> step(torch.zeros(2, 4), edges)
        tensor([[0., 0., 0., 0.]], grad_fn=<AddBackward0>)
    """

    def __init__(
        self,
        dim: int,
        phi: nn.Module,
        *,
        epsilon: float = 0.1,
        gamma: float = 0.1,
        act: str = "tanh",
        include_self: bool = False,
        solver: str = "euler",
    ) -> None:
        super().__init__()
        if epsilon <= 0 or gamma < 0:
            raise CtanError(
                f"epsilon is {epsilon:g} and gamma is {gamma:g}: expected a step size above 0 and "
                "damping of 0 or more."
            )
        self.dim, self.epsilon, self.gamma = dim, epsilon, gamma
        self.solver = solver_by_name(solver)
        self.act_name, self.act, self.include_self = act, activation(act), include_self
        self.weight = nn.Parameter(torch.empty(dim, dim))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.phi = phi
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))

    def generator(self) -> Tensor:
        r"""The matrix :math:`W - W^\top - \gamma I`, ``[d, d]``."""
        eye = torch.eye(self.dim, dtype=self.weight.dtype, device=self.weight.device)
        return self.weight - self.weight.T - self.gamma * eye

    def frequencies(self) -> Tensor:
        r"""The frequencies of :math:`W - W^\top`, the moduli of its eigenvalues, ``[d]``."""
        moduli: Tensor = torch.linalg.svdvals((self.weight - self.weight.T).detach())
        return moduli

    def field(self, h: Tensor, aggregate: Tensor) -> Tensor:
        """The right-hand side of the ODE at ``h [T, d]``, the neighbours' part given ``[T, d]``."""
        return self.act(torch.addmm(aggregate, h, self.generator().T) + self.bias)

    def forward(self, h: Tensor, edges: Incoming) -> Tensor:
        """One step for the first ``T`` rows of ``h [M, d]``."""
        return self.steps(h, edges, [edges.targets])

    def steps(self, h: Tensor, edges: Incoming, targets: Sequence[int]) -> Tensor:
        """As many steps as there are ``targets``, each for so many first rows of ``h [M, d]``.

        Args:
            h: node states.
            edges: the neighbours of the targets of the first step.
            targets: never rising; the last says how many rows come out.
        """
        if self.include_self:
            edges = edges.with_self()
        if self._fusible(h, edges):
            course = kernels.Course(edges, targets, self.epsilon, self.gamma)
            attention = cast(Attention, self.phi).weights()
            return kernels.flow(h, course, self.weight, self.bias, attention)
        for count in targets:
            h = self._plain(h, edges.first(count))
        return h

    def _plain(self, h: Tensor, edges: Incoming) -> Tensor:
        aggregate = self.phi(h, edges)
        # The neighbours are held fixed: within a step each node's problem is its own.
        return self.solver.step(
            lambda state: self.field(state, aggregate),
            h[: edges.targets],
            self.epsilon,
            self.generator(),
        )

    def _fusible(self, h: Tensor, edges: Incoming) -> bool:
        phi = self.phi
        return (
            self.solver.name == "euler"
            and self.act_name == "tanh"
            and isinstance(phi, Attention)
            and phi.heads == 1
            and phi.dim == phi.in_dim
            and not (phi.dropout and self.training)
            and kernels.usable(h, edges.attr, edges.table)
        )

    def extra_repr(self) -> str:
        """Settings, for printing."""
        return (
            f"dim={self.dim}, epsilon={self.epsilon}, gamma={self.gamma}, act={self.act_name!r}"
            + (", include_self=True" if self.include_self else "")
            + (f", solver={self.solver.name!r}" if self.solver.name != "euler" else "")
        )
