r"""TGAT: layers of temporal attention over raw features, no memory (arXiv 2002.07962)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from ctan.errors import unknown_name
from ctan.models.base import Dims, NodeEncoder
from ctan.models.batch import Events
from ctan.models.stack import Stack
from ctan.models.state import State
from ctan.models.view import Sees, View
from ctan.nn import FixedTimeEncoding, TimeEncoding

TIMES = {"learned": TimeEncoding, "fixed": FixedTimeEncoding}


@dataclass
class Clock(State):
    """When each node was last seen; nothing else is remembered.

    Attributes:
        last_update: time of each node's latest event, ``[N]``.
    """

    last_update: Tensor


class TGAT(NodeEncoder):
    r"""Temporal Graph Attention, arXiv 2002.07962, with the paper's aggregation and budget.

    .. math::
        h^0_u = x_u, \qquad
        h^\ell_u = \tanh\bigl(W_\ell h^{\ell-1}_u + \Phi_\ell(\{h^{\ell-1}_v,
        e_{uv} \| \cos(w \Delta_v + b)\}_{v \in N_u})\bigr)

    Two heads of ``dim`` units side by side, unshared layers and attention dropout 0.1 are the form
    of the paper's comparison. Where nodes have no features :math:`h^0` is one zero.

    Args:
        dims: what is known of the stream.
        dim: size of each head; embeddings have ``heads * dim``.
        layers: number of attention layers, each reaching one hop further.
        heads: attention heads.
        dropout: attention dropout.
        time_dim: size of the time encoding.
        time: ``learned`` frequencies of standardised times, or ``fixed`` ones of plain times.
        neighbors: how many temporal neighbours each node reads.
        query_time: :math:`\Delta` is the time from the edge to the question, as TGAT's authors
            have it; otherwise to the neighbour's last event, as in the paper's comparison, and
            those times are then a state.

    Example:
        >>> model = TGAT(Dims(nodes=10), dim=8, layers=2)
        >>> model.sees.hops, model.dim, model.stateful
        (2, 16, False)
    """

    paper = "Xu et al., Inductive Representation Learning on Temporal Graphs, arXiv 2002.07962"
    use = (
        "Nodes never met in training, and causal scoring at any batch size: there is no memory. "
        "Sees no further than its layers."
    )

    stateful = False

    def __init__(
        self,
        dims: Dims,
        *,
        dim: int = 50,
        layers: int = 1,
        heads: int = 2,
        dropout: float = 0.1,
        time_dim: int = 16,
        time: str = "learned",
        neighbors: int = 5,
        query_time: bool = True,
    ) -> None:
        super().__init__()
        if time not in TIMES:
            raise unknown_name("time encoding", time, TIMES)
        self.dims, self.stateful = dims, not query_time
        self.time = TIMES[time](time_dim)
        self.stack = Stack(
            dims, max(1, dims.node_dim), dim, layers, "attention", heads, dropout, time_dim
        )
        self.dim = self.stack.out_dim
        self.sees = Sees(hops=layers, neighbors=neighbors, query_time=query_time)

    def init_state(self, device: torch.device | str = "cpu") -> State:
        """Nothing to remember, or when each node was last seen."""
        if not self.stateful:
            return State()
        time = torch.float64 if isinstance(self.dims.start, float) else torch.int64
        start = torch.full((self.dims.nodes,), self.dims.start, dtype=time, device=device)
        return Clock(last_update=start)

    def embed(self, state: State, view: View) -> Tensor:
        """Attend hop by hop towards the asked entries: ``[asked, d]``."""
        h = view.x
        if h is None:
            h = torch.zeros(len(view.nodes), 1, device=view.features.device)
        last = cast(Clock, state).last_update[view.node] if self.stateful else None
        z: Tensor = self.stack(h, view, self.time, last)
        return z

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """Nothing to remember but the time: the index knows the events."""
        if self.stateful:
            touched, latest = (
                torch.from_numpy(column).to(view.features.device, non_blocking=True)
                for column in (events.touched, events.latest)
            )
            cast(Clock, state).last_update[touched] = view.features.t[latest]
        return state
