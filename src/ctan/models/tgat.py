r"""TGAT: layers of temporal attention over raw features, no memory (arXiv 2002.07962)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ctan.models.base import Dims, NodeEncoder
from ctan.models.state import State
from ctan.models.view import Events, Sees, View
from ctan.nn import Attention, Incoming, TimeEncoding


class TGAT(NodeEncoder):
    r"""TGAT in the form of the paper's comparison: unshared attention layers with two heads.

    .. math::
        h^0_u = W_0 x_u, \qquad
        h^\ell_u = \mathrm{relu}\bigl(W_\ell h^{\ell-1}_u + \Phi_\ell(\{h^{\ell-1}_v,
        e_{uv} \| \cos(w(t - t_{uv}) + b)\}_{v \in N_u})\bigr)

    (no relu after the last layer), with ``t`` the time of the question.

    Args:
        dims: what is known of the stream.
        dim: size of the embeddings.
        layers: number of attention layers, each reaching one hop further.
        heads: attention heads, concatenated.
        dropout: attention dropout.
        time_dim: size of the time encoding.
        neighbors: how many temporal neighbours each node reads.

    Example:
        >>> TGAT(Dims(nodes=10), dim=8, layers=2).sees.hops
        2
    """

    stateful = False

    def __init__(
        self,
        dims: Dims,
        *,
        dim: int = 100,
        layers: int = 1,
        heads: int = 2,
        dropout: float = 0.1,
        time_dim: int = 16,
        neighbors: int = 5,
    ) -> None:
        super().__init__()
        self.dims, self.dim = dims, dim
        self.encode = nn.Linear(dims.node_dim, dim) if dims.node_dim else None
        self.time = TimeEncoding(time_dim)
        self.attention = nn.ModuleList(
            Attention(dim, dims.edge_dim + time_dim, heads, dropout) for _ in range(layers)
        )
        self.skip = nn.ModuleList(nn.Linear(dim, dim) for _ in range(layers))
        self.sees = Sees(hops=layers, neighbors=neighbors, query_time=True)

    def init_state(self, device: torch.device | str = "cpu") -> State:
        """Nothing to remember."""
        return State()

    def embed(self, state: State, view: View) -> Tensor:
        """Attend hop by hop towards the asked entries: ``[asked, d]``."""
        if self.encode is None or view.x is None:
            h = view.features.t.new_zeros(len(view.nodes), self.dim, dtype=self._dtype())
        else:
            h = self.encode(view.x)
        attr = self.time(self.dims.standardise(view.time[: view.sizes[-2], None] - view.edge_time))
        if view.msg is not None:
            attr = torch.cat([view.msg.to(attr.dtype), attr], dim=-1)
        edges = Incoming(view.slot, view.present, view.count, attr)
        for layer, (attention, skip) in enumerate(zip(self.attention, self.skip, strict=True), 1):
            near = edges.first(view.sizes[-1 - layer])
            h = skip(h[: near.targets]) + attention(h, near)
            if layer < len(self.attention):
                h = torch.relu(h)
        return h

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """Nothing to remember: the index knows the events."""
        return state

    def _dtype(self) -> torch.dtype:
        return self.time.linear.weight.dtype
