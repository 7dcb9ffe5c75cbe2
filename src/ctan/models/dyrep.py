r"""DyRep: memories that hear of their partner's neighbourhood (ICLR 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor

from ctan.arrays import IntArray
from ctan.models.base import Dims, NodeEncoder
from ctan.models.batch import Events
from ctan.models.features import Features
from ctan.models.memory import MemoryState, NodeMemory
from ctan.models.state import State
from ctan.models.view import Sees, View
from ctan.nn import Attention, Incoming
from ctan.nn.linear import Linear
from ctan.nn.memory import MemoryCell


@dataclass
class DyRepState(MemoryState):
    """What DyRep remembers beside its memories: whom each node's partner had met.

    Attributes:
        near: neighbours of the partner when its event was observed, ``[N, K]``, on the CPU.
        near_event: the events through which the partner had met them, ``[N, K]``.
        near_count: how many there are, ``[N]``.
    """

    near: Tensor
    near_event: Tensor
    near_count: Tensor


class DyRepMemory(NodeMemory):
    r"""A memory whose messages say what the partner's neighbourhood looked like.

    .. math:: z_v = W s_v + \Phi(s_v, \{s_w, e_{vw}\}_{w \in N_v})
    """

    def __init__(self, dims: Dims, dim: int, neighbors: int) -> None:
        # The RNN's own recurrence holds s_u, and its elapsed time is a number, as DyRep has both.
        cell = MemoryCell(dim, dims.edge_dim, dims.node_dim, time_dim=0, cell="rnn", tell_own=False)
        super().__init__(dims, cell, dim)
        self.neighbors = neighbors
        self.phi = Attention(dim, dims.edge_dim)
        self.partner = Linear(dim, dim)

    def start(self, device: torch.device | str) -> DyRepState:
        """All memories zero, nothing waiting."""
        plain = super().start(device)
        near = torch.zeros(self.dims.nodes, self.neighbors, dtype=torch.int64)
        return DyRepState(
            **vars(plain), near=near, near_event=near.clone(), near_count=near[:, 0].clone()
        )

    def other(
        self, state: MemoryState, owner: IntArray, partner: IntArray, features: Features
    ) -> Tensor:
        """Embeddings of ``partner [B]`` from its memory and those of its neighbours, ``[B, d]``."""
        state = cast(DyRepState, state)
        near, event, count = (
            table.numpy()[owner] for table in (state.near, state.near_event, state.near_count)
        )
        met, row = np.unique(near, return_inverse=True)
        h = state.memory.read(np.concatenate([partner, met]))
        known, slot, through = (
            torch.from_numpy(array).to(h.device, non_blocking=True)
            for array in (count, row.reshape(near.shape) + len(partner), event)
        )
        edges = Incoming(
            slot,
            present=torch.arange(self.neighbors, device=h.device) < known.unsqueeze(1),
            count=known,
            attr=h.new_zeros(*slot.shape, 0),
            table=features.msg,
            event=through,
        )
        z: Tensor = self.partner(h[: len(partner)]) + self.phi(h, edges)
        return z

    def observe(
        self, state: MemoryState, events: Events, view: View, embedded: bool = False
    ) -> MemoryState:
        """As every memory, and note whom the partners have met."""
        state = cast(DyRepState, super().observe(state, events, view, embedded))
        partner = view.ends[np.searchsorted(events.touched, events.partner)]
        slot, count = view.hood.slot[partner], view.hood.count[partner]
        # Slots are no wider than the busiest entry of the batch needs; all others hold 0, so that
        # the state says nothing of what else was asked.
        present = np.arange(slot.shape[1]) < count[:, None]
        near, near_event = state.near.numpy(), state.near_event.numpy()
        near[events.touched] = near_event[events.touched] = 0
        near[events.touched, : slot.shape[1]] = np.where(present, view.nodes[slot], 0)
        near_event[events.touched, : slot.shape[1]] = view.hood.event[partner]
        state.near_count.numpy()[events.touched] = count
        return state


class DyRep(NodeEncoder):
    r"""DyRep in the form of the paper's comparison: an RNN memory told of its partner's neighbours.

    .. math::
        s_u \leftarrow \mathrm{RNN}([z_v \| e_{uv} \| x_u \| x_v \| \Delta], s_u), \qquad
        z_v = W s_v + \Phi(s_v, \{s_w, e_{vw}\}_{w \in N_v}), \qquad z_u = [s_u \| x_u]

    :math:`N_v` are the neighbours that v had when the event was observed, and their memories are
    read when the message is made. :math:`\Phi` is the aggregation of CTAN's section with one head
    and no dropout, as the paper's code has it; that code takes the maximum over the events that
    wait in the same batch instead, and leaves :math:`W` without gradient.

    Args:
        dims: what is known of the stream.
        dim: size of the memories; embeddings carry the node features beside them.
        neighbors: how many temporal neighbours of its partner a node hears of.

    Example:
        >>> DyRep(Dims(nodes=10), dim=8).init_state().near.shape
        torch.Size([10, 5])
    """

    paper = "Trivedi et al., DyRep: Learning Representations over Dynamic Graphs, ICLR 2019"
    use = "Where whom a partner knows says more than who it is; otherwise TGN, which reads more."

    def __init__(self, dims: Dims, *, dim: int = 100, neighbors: int = 5) -> None:
        super().__init__()
        self.memory = DyRepMemory(dims, dim, neighbors)
        self.dim = dim + dims.node_dim
        # Neighbours are read when events are observed: of the events' endpoints, one hop.
        self.sees = Sees(hops=1, neighbors=neighbors)

    def init_state(self, device: torch.device | str = "cpu") -> State:
        """All memories zero."""
        return self.memory.start(device)

    def embed(self, state: State, view: View) -> Tensor:
        """Memories and features of the asked entries, ``[asked, d]``."""
        s, _ = self.memory.read_view(cast(DyRepState, state), view, view.asked)
        return s if view.x is None else torch.cat([s, view.x[: view.asked]], dim=1)

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """Let ``events`` wait until a node of theirs is next read."""
        return self.memory.observe(cast(DyRepState, state), events, view, z is not None)
