"""The memory of TGN, JODIE and DyRep: pending messages, applied when a node is next read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ctan.arrays import IntArray
from ctan.models.base import Dims
from ctan.models.state import Rows, State
from ctan.models.view import Events, Features
from ctan.nn.memory import MemoryCell, Message


@dataclass
class MemoryState(State):
    """What a model with a message memory remembers.

    Attributes:
        memory: the node memories, ``[N, d]``.
        last_update: time of the latest event that each memory knows, ``[N]``.
        pending: position of each node's latest event that its memory does not know yet, or -1,
            ``[N]``, on the CPU.
        partner: the other endpoint of that event, ``[N]``, on the CPU.
    """

    memory: Rows
    last_update: Tensor
    pending: Tensor
    partner: Tensor

    @classmethod
    def start(cls, dims: Dims, dim: int, device: torch.device | str) -> MemoryState:
        """All memories zero, nothing pending."""
        time = torch.float64 if isinstance(dims.start, float) else torch.int64
        return cls(
            memory=Rows(torch.zeros(dims.nodes, dim, device=device)),
            last_update=torch.full((dims.nodes,), dims.start, dtype=time, device=device),
            pending=torch.full((dims.nodes,), -1),
            partner=torch.full((dims.nodes,), -1),
        )


def updated(
    cell: MemoryCell, dims: Dims, state: MemoryState, nodes: IntArray, features: Features
) -> tuple[Tensor, Tensor]:
    """Memories ``[M, d]`` and last update times ``[M]`` with the pending messages applied.

    Pure: the state stays as it is. Gradients reach the cell, which is how a memory is trained
    although it is stored without gradient: each message is applied anew where it is first read.
    """
    device = features.device
    own, last = state.memory.read(nodes), state.last_update[_on(nodes, device)]
    waiting = np.flatnonzero(state.pending.numpy()[nodes] >= 0)
    if len(waiting) == 0:
        return own, last
    told = nodes[waiting]
    event = _on(state.pending.numpy()[told], device)
    partner = state.partner.numpy()[told]
    row = _on(waiting, device)
    t = features.t[event]
    message = Message(
        own=own[row],
        other=state.memory.read(partner),
        elapsed=dims.standardise((t - last[row]).abs()),
        msg=None if features.msg is None else features.msg[event].to(own.dtype),
        x_own=None if features.x is None else features.x[_on(told, device)].to(own.dtype),
        x_other=None if features.x is None else features.x[_on(partner, device)].to(own.dtype),
    )
    return own.index_copy(0, row, cell(message)), last.index_copy(0, row, t)


def remember(
    cell: MemoryCell,
    dims: Dims,
    state: MemoryState,
    events: Events,
    features: Features,
) -> MemoryState:
    """Apply what was pending at the events' endpoints, then let the events pend."""
    memory, last = updated(cell, dims, state, events.touched, features)
    state.last_update[_on(events.touched, features.device)] = last
    state.pending.numpy()[events.touched] = events.latest
    state.partner.numpy()[events.touched] = events.partner
    state.memory = state.memory.write(events.touched, memory)
    return state


def _on(array: IntArray, device: torch.device) -> Tensor:
    return torch.from_numpy(array).to(device, non_blocking=True)
