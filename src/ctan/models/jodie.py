r"""JODIE: recurrent memories, projected to the time of the question (arXiv 1908.01207)."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from ctan.models.base import Dims, NodeEncoder
from ctan.models.memory import MemoryState, remember, updated
from ctan.models.state import State
from ctan.models.view import Events, Sees, View
from ctan.nn.memory import MemoryCell


class JODIE(NodeEncoder):
    r"""JODIE in the form of the paper's comparison: an RNN memory and a time projection.

    .. math::
        s_u \leftarrow \mathrm{RNN}([s_u \| s_v \| e_{uv} \| x_u \| x_v \| \cos(w\Delta + b)], s_u)
        \qquad z_u(t) = (1 + w_p \Delta_u(t) + b_p) \odot s_u

    with :math:`\Delta_u(t)` the standardised time since u's last event.

    Args:
        dims: what is known of the stream.
        dim: size of memories and embeddings.
        time_dim: size of the time encoding.

    Example:
        >>> JODIE(Dims(nodes=10), dim=8).sees.hops
        0
    """

    def __init__(self, dims: Dims, *, dim: int = 100, time_dim: int = 16) -> None:
        super().__init__()
        self.dims, self.dim = dims, dim
        self.cell = MemoryCell(dim, dims.edge_dim, dims.node_dim, time_dim, cell="rnn")
        self.project = nn.Linear(1, dim)
        nn.init.normal_(self.project.weight, std=dim**-0.5)
        nn.init.zeros_(self.project.bias)
        self.sees = Sees(query_time=True)

    def init_state(self, device: torch.device | str = "cpu") -> MemoryState:
        """All memories zero."""
        return MemoryState.start(self.dims, self.dim, device)

    def embed(self, state: State, view: View) -> Tensor:
        """Memories projected to the time of the question, ``[asked, d]``."""
        state = cast(MemoryState, state)
        memory, last = updated(self.cell, self.dims, state, view.nodes, view.features)
        elapsed = self.dims.standardise(view.time - last).unsqueeze(1)
        projected: Tensor = memory * (1 + self.project(elapsed))
        return projected

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """Store the messages of ``events``."""
        state = cast(MemoryState, state)
        return remember(self.cell, self.dims, state, events, view.features)
