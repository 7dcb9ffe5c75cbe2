r"""GraphMixer: an MLP-mixer over a node's latest links, no attention, no memory."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ctan.history import TimeWindow
from ctan.models.base import Dims, NodeEncoder
from ctan.models.batch import Events
from ctan.models.state import State
from ctan.models.view import Sees, View
from ctan.nn import FixedTimeEncoding, Mixer
from ctan.nn.linear import Linear

#: Entries that are mixed at once.
ENTRIES_AT_ONCE = 8192


class GraphMixer(NodeEncoder):
    r"""GraphMixer, arXiv 2302.11636.

    .. math::
        T_u &= [\cos((t - t_{uv}) w) \,\|\, e_{uv}] \text{ of the K latest links of } u, \qquad
        t_u = \mathrm{mean}(\mathrm{norm}(\mathrm{mixer}(T_u W))) \\
        s_u &= x_u + \mathrm{mean}\{x_v : v \in N(u;\, t - T,\, t)\}, \qquad
        z_u = W_t t_u + W_s s_u + b

    The frequencies :math:`w` are fixed and fall from 1 to 1e-9, so that the slowest tells years of
    seconds apart; its paper's :math:`\sqrt{d}^{-(i - 1)/\sqrt{d}}` ends there for its 100 of them,
    and at 0.006 for 16. A link that is not there is a row of zeros after the projection W. N counts
    a neighbour once for each event; without node features there is no :math:`s_u`.

    Args:
        dims: what is known of the stream.
        dim: size of the tokens and embeddings.
        layers: mixer blocks (one in the paper's equations, two in its released code).
        dropout: inside the mixer.
        time_dim: size of the time encoding.
        neighbors: number of links K (10 to 30 in its own paper).
        window: length T of the time window in the stream's time.
        window_links: the most links of one node that the window holds, the latest.

    Example:
        >>> GraphMixer(Dims(nodes=10), dim=8).sees.neighbors
        5
    """

    paper = (
        "Cong et al., Do We Really Need Complicated Model Architectures for Temporal Networks?, "
        "arXiv 2302.11636"
    )
    use = (
        "Where a node's own latest links tell what comes next: no memory, and one embedding "
        "for any number of pairs. Sees one hop, and nothing that two nodes have in common."
    )

    stateful = False

    def __init__(
        self,
        dims: Dims,
        *,
        dim: int = 100,
        layers: int = 2,
        dropout: float = 0.1,
        time_dim: int = 16,
        neighbors: int = 5,
        window: float = math.inf,
        window_links: int = 2000,
    ) -> None:
        super().__init__()
        self.dims, self.dim, self.neighbors = dims, dim, neighbors
        self.time = FixedTimeEncoding(time_dim)
        self.project = Linear(time_dim + dims.edge_dim, dim)
        self.mixer = Mixer(neighbors, dim, layers, dropout)
        self.head = Linear(dim, dim)
        self.node_head = Linear(dims.node_dim, dim, bias=False) if dims.node_dim else None
        # Checked even where there is nothing to look up: an option without a meaning is an error.
        near = TimeWindow(window, window_links)
        self.sees = Sees(
            hops=1, neighbors=neighbors, query_time=True, window=near if dims.node_dim else None
        )

    def init_state(self, device: torch.device | str = "cpu") -> State:
        """Nothing to remember."""
        return State()

    def embed(self, state: State, view: View) -> Tensor:
        """Links and neighbours of the asked entries, ``[asked, d]``."""
        # A few at a time: a thousand candidates for each event are many entries.
        parts = range(0, max(1, view.asked), ENTRIES_AT_ONCE)
        z: Tensor = self.head(
            torch.cat([self.mixer(self.links(view, i, i + ENTRIES_AT_ONCE)) for i in parts])
        )
        if self.node_head is not None:
            z = z + self.node_head(self.neighborhood(view))
        return z

    def links(self, view: View, start: int, stop: int) -> Tensor:
        """The projected tokens of the latest links of some asked entries, ``[asked, K, d]``."""
        event = view.event[start:stop]
        token = self.time(view.time[: view.asked][start:stop, None] - view.features.t[event])
        if view.features.msg is not None:
            token = torch.cat([token, view.features.msg[event].to(token.dtype)], dim=-1)
        token = self.project(token) * view.present[start:stop, :, None]
        # A view is only as wide as its longest history; the mixer has a place for each of K links.
        return F.pad(token, (0, 0, 0, self.neighbors - token.size(1)))

    def neighborhood(self, view: View) -> Tensor:
        """:math:`s_u`: own features and the mean of the window's, ``[asked, dn]``."""
        assert view.window is not None
        x = view.features.x
        assert x is not None
        cut = np.repeat(view.hood.cut[: view.asked], view.window.count)
        node, start = (
            torch.from_numpy(column).to(x.device, non_blocking=True)
            for column in (view.features.rows(view.window.node, cut), view.window.ptr[:-1])
        )
        own = x[view.feature_row[: view.asked]]
        near = F.embedding_bag(node, x, start, mode="mean")
        return (own + near).to(self.head.weight.dtype)

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """Nothing to remember: the index knows the events."""
        return state
