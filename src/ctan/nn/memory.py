"""Node memories that a recurrent cell updates from messages (arXiv 2006.10637)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ctan.errors import unknown_name
from ctan.nn.time import TimeEncoding

CELLS: dict[str, type[nn.RNNCell] | type[nn.GRUCell]] = {"rnn": nn.RNNCell, "gru": nn.GRUCell}


@dataclass(frozen=True)
class Message:
    """What a node is told of an event it took part in; ``[B, ...]`` each.

    Attributes:
        own: the node's memory before.
        other: its partner's memory.
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
    r"""One update of a node's memory.

    .. math::
        s_u \leftarrow \mathrm{cell}\bigl([s_u \,\|\, s_v \,\|\, e_{uv} \,\|\, x_u \,\|\, x_v
        \,\|\, \cos(w \Delta + b)],\; s_u\bigr)

    Node features are part of the message: a memory that is not told them cannot remember them.

    Args:
        dim: size of the memory.
        edge_dim: size of the event features.
        node_dim: size of the node features.
        time_dim: size of the time encoding.
        cell: ``rnn`` or ``gru``.

    Example:
        >>> cell = MemoryCell(4, edge_dim=0, node_dim=0, time_dim=2, cell="gru")
        >>> s = torch.zeros(3, 4)
        >>> cell(Message(s, s, torch.zeros(3), None, None, None)).shape
        torch.Size([3, 4])
    """

    def __init__(self, dim: int, edge_dim: int, node_dim: int, time_dim: int, cell: str) -> None:
        super().__init__()
        if cell not in CELLS:
            raise unknown_name("memory cell", cell, CELLS)
        self.time = TimeEncoding(time_dim)
        self.cell = CELLS[cell](2 * dim + edge_dim + 2 * node_dim + time_dim, dim)

    def forward(self, message: Message) -> Tensor:
        """The memories after ``message``, ``[B, d]``."""
        parts = [message.own, message.other, message.msg, message.x_own, message.x_other]
        parts.append(self.time(message.elapsed))
        told = torch.cat([part for part in parts if part is not None], dim=1)
        updated: Tensor = self.cell(told, message.own)
        return updated
