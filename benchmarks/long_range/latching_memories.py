"""JODIE, DyRep and TGN with the start that CTAN's ``latching`` has, to part model from start.

Their memory passes a signal on as CTAN does: the cell of a new node reads its partner's memory.
Here that block of the cell's input weights is gain times the identity, and all else it reads is
weak at first, but for the partner's features. These models exist for the benchmark only: importing
this file registers them.
"""

from __future__ import annotations

import torch
from torch import nn

from ctan.models import JODIE, MODELS, TGN, Dims, DyRep
from ctan.nn.memory import MemoryCell

GAIN = 3.0


@torch.no_grad()
def latch(cell: MemoryCell, dim: int, edge_dim: int, node_dim: int) -> None:
    """Columns of the input weights: [own] other | msg | x_own | x_other | time."""
    weight, hidden = cell.cell.weight_ih, cell.cell.weight_hh
    other = dim if cell.tell_own else 0
    msg, x_own = other + dim, other + dim + edge_dim
    x_other = x_own + node_dim
    time = x_other + node_dim
    # The candidate's rows are the last: the only ones of an RNN, the third block of a GRU.
    candidate = slice(weight.shape[0] - dim, weight.shape[0])
    weight[candidate, :other] *= 0.01
    weight[candidate, other:msg] = GAIN * torch.eye(dim)
    weight[candidate, msg:x_own] *= 0.01
    weight[candidate, x_own:x_other] *= 0.1
    weight[candidate, time:] *= 0.01
    hidden[candidate] *= 0.1
    nn.init.zeros_(cell.cell.bias_ih)
    nn.init.zeros_(cell.cell.bias_hh)
    if isinstance(cell.cell, nn.GRUCell):
        weight[: 2 * dim] *= 0.1
        hidden[: 2 * dim] *= 0.1
        # The update gate keeps the old state: nearly shut, a new node takes the candidate.
        cell.cell.bias_ih[dim : 2 * dim] = -3.0


class LatchingJODIE(JODIE):
    """JODIE whose memory starts as a latch."""

    def __init__(self, dims: Dims, *, dim: int = 100, time_dim: int = 16) -> None:
        super().__init__(dims, dim=dim, time_dim=time_dim)
        latch(self.memory.cell, dim, dims.edge_dim, dims.node_dim)


class LatchingTGN(TGN):
    """TGN whose memory starts as a latch."""

    def __init__(self, dims: Dims, *, dim: int = 50, time_dim: int = 16) -> None:
        super().__init__(dims, dim=dim, time_dim=time_dim)
        latch(self.memory.cell, dim, dims.edge_dim, dims.node_dim)


class LatchingDyRep(DyRep):
    """DyRep whose memory starts as a latch, told of its partner's own memory first."""

    def __init__(self, dims: Dims, *, dim: int = 100) -> None:
        super().__init__(dims, dim=dim)
        latch(self.memory.cell, dim, dims.edge_dim, dims.node_dim)
        with torch.no_grad():
            nn.init.eye_(self.memory.partner.weight)
            nn.init.zeros_(self.memory.partner.bias)
            self.memory.phi.value.weight.mul_(0.1)
            nn.init.zeros_(self.memory.phi.value.bias)
            if self.memory.phi.edge is not None:
                self.memory.phi.edge.weight.mul_(0.01)


MODELS.update(
    {
        "jodie-latching": LatchingJODIE,
        "tgn-latching": LatchingTGN,
        "dyrep-latching": LatchingDyRep,
    }
)
