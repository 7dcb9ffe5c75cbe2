"""How a node's memory learns of an event: message and recurrent cell (arXiv 2006.10637)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ctan.errors import unknown_name
from ctan.nn import kernels
from ctan.nn.kernels import linear
from ctan.nn.linear import Linear
from ctan.nn.time import TimeEncoding

CELLS: dict[str, type[nn.RNNCell] | type[nn.GRUCell]] = {"rnn": nn.RNNCell, "gru": nn.GRUCell}
#: identity: what is known, side by side; mlp: two layers on top of that.
MESSAGES = ("identity", "mlp")


@dataclass(frozen=True)
class Message:
    """What a node is told of an event it took part in; ``[B, ...]`` each.

    Attributes:
        own: the node's memory before.
        other: its partner's memory, or what else is known of the partner.
        elapsed: standardised time since the node's previous event, ``[B]``.
        msg: event features, or None.
        x_own: the node's features, or None.
        x_other: its partner's, or None.
    """

    own: Tensor
    other: Tensor
    elapsed: Tensor
    msg: Tensor | None
    x_own: Tensor | None
    x_other: Tensor | None


class MemoryCell(nn.Module):
    r"""The update of a node's memory.

    .. math::
        m = [s_u \,\|\, s_v \,\|\, e_{uv} \,\|\, x_u \,\|\, x_v \,\|\, \cos(w \Delta + b)], \qquad
        s_u \leftarrow \mathrm{cell}(\bar m, s_u)

    with :math:`\bar m` the aggregate of the messages that wait; the message ``mlp`` is
    :math:`W_2\, \mathrm{relu}(W_1 m + b_1) + b_2` instead. Node features are part of the message:
    a memory that is not told them cannot remember them.

    Args:
        dim: size of the memory.
        edge_dim: size of the event features.
        node_dim: size of the node features.
        time_dim: size of the time encoding; 0 gives the elapsed time itself, one number.
        cell: ``rnn`` or ``gru``.
        message: ``identity`` or ``mlp``.
        tell_own: whether the message holds :math:`s_u`, which the cell knows anyway.

    Example:
        >>> cell = MemoryCell(4, edge_dim=0, node_dim=0, time_dim=2, cell="gru")
        >>> s = torch.zeros(3, 4)
        >>> told = cell.message(Message(s, s, torch.zeros(3), None, None, None))
        >>> [part.shape[1] for part in told], cell(told, s).shape
        ([4, 4, 2], torch.Size([3, 4]))
    """

    def __init__(
        self,
        dim: int,
        edge_dim: int,
        node_dim: int,
        time_dim: int,
        cell: str,
        message: str = "identity",
        tell_own: bool = True,
    ) -> None:
        super().__init__()
        if cell not in CELLS:
            raise unknown_name("memory cell", cell, CELLS)
        if message not in MESSAGES:
            raise unknown_name("message", message, MESSAGES)
        self.tell_own = tell_own
        self.time = TimeEncoding(time_dim) if time_dim else None
        known = (1 + tell_own) * dim + edge_dim + 2 * node_dim + max(1, time_dim)
        self.mlp = None
        if message == "mlp":
            self.mlp = nn.Sequential(Linear(known, known // 2), nn.ReLU(), Linear(known // 2, dim))
        self.cell = CELLS[cell](known if self.mlp is None else dim, dim)

    def message(self, about: Message) -> list[Tensor]:
        """What the cell is told of each event: parts side by side, ``[B, ...]`` each."""
        elapsed = about.elapsed.unsqueeze(1) if self.time is None else self.time(about.elapsed)
        parts = [about.other, about.msg, about.x_own, about.x_other, elapsed]
        if self.tell_own:
            parts.insert(0, about.own)
        told = [part for part in parts if part is not None]
        return told if self.mlp is None else [self.mlp(torch.cat(told, dim=1))]

    def forward(self, told: Sequence[Tensor], own: Tensor) -> Tensor:
        """The memories ``[U, d]`` after one message each, given in parts ``[U, ...]``."""
        # The cell holds the weights; its two products take the fast road, on which parts without
        # gradient, such as stored memories, ask for none.
        heard = linear(told, self.cell.weight_ih, self.cell.bias_ih)
        kept = linear(own, self.cell.weight_hh, self.cell.bias_hh)
        if isinstance(self.cell, nn.RNNCell):
            return kernels.tanh(heard + kept)
        if kernels.usable(heard, own):
            return kernels.gru_gates(heard, kept, own)
        return self.gates(heard, kept, own)

    @staticmethod
    def gates(heard: Tensor, kept: Tensor, own: Tensor) -> Tensor:
        """A gated recurrent unit, its two maps applied: see :mod:`ctan.nn.kernels.gates`."""
        reset_in, update_in, new_in = heard.chunk(3, 1)
        reset_own, update_own, new_own = kept.chunk(3, 1)
        update = torch.sigmoid(update_in + update_own)
        new = torch.tanh(new_in + torch.sigmoid(reset_in + reset_own) * new_own)
        return torch.lerp(new, own, update)
