r"""The initial condition :math:`\psi`: how a node's input meets its stored state (appendix A)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ctan.errors import unknown_name
from ctan.nn import kernels
from ctan.nn.linear import Linear

#: add: h + P x; concat: E [h ; x]; tanh_concat: E tanh([h ; x]); input_only: P x (forgets h).
INITIAL_CONDITIONS = ("add", "concat", "tanh_concat", "input_only")


class InitialCondition(nn.Module):
    r"""The state from which a node's sub-problem starts, :math:`h_u(t_s) = \psi(h_u, x_u)`.

    ========================  =================================================================
    ``add``                   :math:`h + P x`, P the identity if the widths agree
    ``concat``                :math:`E [h ; x] + b` (as the paper's code has it)
    ``tanh_concat``           :math:`E \tanh([h ; x]) + b` (as the paper's text has it)
    ``input_only``            :math:`P x`: dissipative, the paper's counter-example
    ========================  =================================================================

    Args:
        kind: one of the names above.
        dim: size of the node states.
        node_dim: size of the node features, 0 if there are none.

    Example:
        >>> psi = InitialCondition("add", dim=2, node_dim=2)
        >>> psi(torch.ones(1, 2), torch.ones(1, 2))
        tensor([[2., 2.]])
    """

    def __init__(self, kind: str, dim: int, node_dim: int) -> None:
        super().__init__()
        if kind not in INITIAL_CONDITIONS:
            raise unknown_name("psi", kind, INITIAL_CONDITIONS)
        self.kind, self.dim, self.node_dim = kind, dim, node_dim
        self.encoder: nn.Module
        if kind in ("concat", "tanh_concat"):
            self.encoder = Linear(dim + node_dim, dim)
        elif node_dim == dim:
            self.encoder = nn.Identity()
        else:
            self.encoder = Linear(node_dim, dim, bias=False) if node_dim else nn.Identity()

    def forward(self, h: Tensor, x: Tensor | None) -> Tensor:
        """Combine states ``h [M, d]`` with inputs ``x [M, dn]`` (None if there are none)."""
        out: Tensor
        if self.kind in ("concat", "tanh_concat"):
            joined = h if x is None else torch.cat([h, x], dim=1)
            out = self.encoder(kernels.tanh(joined) if self.kind == "tanh_concat" else joined)
        elif self.kind == "add":
            out = h if x is None else h + self.encoder(x)
        else:
            out = torch.zeros_like(h) if x is None else self.encoder(x)
        return out

    def extra_repr(self) -> str:
        """Settings, for printing."""
        return f"{self.kind!r}, dim={self.dim}, node_dim={self.node_dim}"
