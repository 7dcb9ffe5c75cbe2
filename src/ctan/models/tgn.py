r"""TGN: a memory for each node, read through layers of graph convolution (arXiv 2006.10637)."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from ctan.errors import unknown_name
from ctan.models.base import Dims, NodeEncoder
from ctan.models.batch import Events
from ctan.models.memory import MemoryState, NodeMemory
from ctan.models.stack import Stack
from ctan.models.state import State
from ctan.models.view import Sees, View
from ctan.nn import CONVOLUTIONS, TimeEncoding
from ctan.nn.memory import MemoryCell

#: attention, sum: layers of graph convolution; identity: the memory as it is; time: the memory
#: projected to the time of the question.
EMBEDDINGS = (*CONVOLUTIONS, "identity", "time")


class TGN(NodeEncoder):
    r"""Temporal Graph Network, arXiv 2006.10637.

    .. math::
        s_u &\leftarrow \mathrm{cell}\bigl(\mathrm{agg}\{[s_u \| s_v \| e_{uv} \| x_u \| x_v \|
            \cos(w \Delta + b)]\}, s_u\bigr) \\
        h^0_u &= [s_u \| x_u], \qquad
        h^\ell_u = \tanh\bigl(W_\ell h^{\ell-1}_u + \Phi_\ell(\{h^{\ell-1}_v, e_{uv} \|
            \cos(w \Delta_v + b)\}_{v \in N_u})\bigr)

    The defaults are the form of the paper's comparison: the aggregation of CTAN's section, two
    heads of ``dim`` units side by side, unshared layers, attention dropout 0.1, one time encoding
    for memory and layers, and :math:`\Delta_v` as CTAN sees it. ``time`` gives
    :math:`(1 + w_p \Delta_u(t) + b_p) \odot [s_u \| x_u]` instead of layers.

    Args:
        dims: what is known of the stream.
        dim: size of the memories and of each head; embeddings have ``heads * dim``.
        layers: number of layers of graph convolution.
        message: ``identity`` or ``mlp``.
        aggregator: of the messages of one batch to one node: ``last`` or ``mean``.
        cell: ``gru`` or ``rnn``.
        embedding: ``attention``, ``sum``, ``identity`` or ``time``.
        heads: attention heads.
        dropout: attention dropout.
        time_dim: size of the time encoding.
        neighbors: how many temporal neighbours each node reads.
        query_time: count :math:`\Delta` from the time of the question, as TGN's authors do.

    Example:
        >>> TGN(Dims(nodes=10), dim=8, layers=2).sees.hops
        2
    """

    paper = "Rossi et al., Temporal Graph Networks, arXiv 2006.10637"
    use = (
        "The default choice where nodes return often and have long histories; CTAN where what "
        "matters is many hops or many events away."
    )

    def __init__(
        self,
        dims: Dims,
        *,
        dim: int = 50,
        layers: int = 1,
        message: str = "identity",
        aggregator: str = "last",
        cell: str = "gru",
        embedding: str = "attention",
        heads: int = 2,
        dropout: float = 0.1,
        time_dim: int = 16,
        neighbors: int = 5,
        query_time: bool = False,
    ) -> None:
        super().__init__()
        if embedding not in EMBEDDINGS:
            raise unknown_name("embedding", embedding, EMBEDDINGS)
        self.dims, self.query_time = dims, query_time
        update = MemoryCell(dim, dims.edge_dim, dims.node_dim, time_dim, cell, message)
        self.memory = NodeMemory(dims, update, dim, aggregator)
        self.dim = dim + dims.node_dim
        self.stack = self.project = None
        if embedding in CONVOLUTIONS:
            self.stack = Stack(dims, self.dim, dim, layers, embedding, heads, dropout, time_dim)
            self.dim = self.stack.out_dim
        elif embedding == "time":
            self.project = nn.Linear(1, self.dim)
            # Small enough to leave the memory recognisable after a long absence.
            nn.init.normal_(self.project.weight, std=self.dim**-0.5)
            nn.init.zeros_(self.project.bias)
        self.sees = Sees(
            hops=layers if self.stack is not None else 0,
            neighbors=neighbors,
            query_time=embedding == "time" or (query_time and self.stack is not None),
        )

    def init_state(self, device: torch.device | str = "cpu") -> State:
        """All memories zero."""
        return self.memory.start(device)

    def embed(self, state: State, view: View) -> Tensor:
        """Embeddings of the asked entries, ``[asked, d]``."""
        h, last = self.memory.read_view(cast(MemoryState, state), view, len(view.nodes))
        if view.x is not None:
            h = torch.cat([h, view.x], dim=1)
        if self.stack is not None:
            time = cast(TimeEncoding, self.memory.cell.time)
            z: Tensor = self.stack(h, view, time, None if self.query_time else last)
            return z
        if self.project is not None:
            elapsed = self.dims.standardise(view.time - last).unsqueeze(1)
            h = h * (1 + self.project(elapsed))
        return h

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """Let ``events`` wait until a node of theirs is next read."""
        return self.memory.observe(cast(MemoryState, state), events, view, z is not None)
