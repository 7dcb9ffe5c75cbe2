r"""CTAN, the Continuous-Time Graph Anti-Symmetric Network (section 3 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from ctan.arrays import IntArray
from ctan.errors import unknown_name
from ctan.history import ball
from ctan.models.base import Dims, NodeEncoder
from ctan.models.batch import Events
from ctan.models.elapsed import since_edges
from ctan.models.state import Rows, State
from ctan.models.view import Sees, View
from ctan.nn import (
    AntiSymmetricStep,
    Incoming,
    InitialCondition,
    TimeEncoding,
    aggregation,
    kernels,
    start,
)

#: Where the input x enters: at the event's endpoints (the paper's text), or at every node that is
#: computed (the paper's code).
INJECTIONS = ("endpoints", "frontier")
#: Which nodes an event updates: its endpoints, or all nodes within L hops of them.
UPDATES = ("endpoints", "ball")


@dataclass
class CTANState(State):
    """What CTAN remembers.

    Attributes:
        h: the node states, ``[N, d]``.
        last_update: time of each node's latest event, ``[N]``.
    """

    h: Rows
    last_update: Tensor


class CTAN(NodeEncoder):
    r"""The Continuous-Time Graph Anti-Symmetric Network, arXiv 2406.02740.

    Each event is a Cauchy problem, solved in ``steps`` steps from the states that the events
    before it left (here by Euler's method):

    .. math::
        h_u(t_s) &= \psi(h_u, x_u) \\
        h_u &\leftarrow h_u + \epsilon\, \sigma\bigl((W - W^\top - \gamma I) h_u
            + \Phi(\{h_v, e_{uv} \,\|\, \cos(w \Delta_v + b)\}_{v \in N_u}) + b\bigr)

    with :math:`\Delta_v = |t_v^- - t_{uv}|`, standardised: how long after the edge ``uv`` the
    neighbour ``v`` was last active.

    Args:
        dims: what is known of the stream.
        dim: size of the node states and embeddings.
        steps: number of steps L; the terminal time is ``epsilon * steps``.
        epsilon: step size.
        gamma: damping.
        act: name of the monotone activation.
        phi: ``attention``, ``mean`` or ``gcn``.
        include_self: count a node among its own neighbours, as the paper's equation does.
        heads: attention heads.
        psi: ``add``, ``concat``, ``tanh_concat`` or ``input_only``.
        inject: ``endpoints`` or ``frontier``.
        final_act: tanh on the finished embedding, as the paper's code has it.
        share_weights: one set of weights for all steps.
        update: ``endpoints`` or ``ball``.
        time_dim: size of the time encoding.
        neighbors: how many temporal neighbours each node reads.
        query_time: count :math:`\Delta` from the time of the question instead of :math:`t_v^-`.
        init: initial weights, ``default``, ``bounded``, ``isometric`` or ``latching``: see
            :mod:`ctan.nn.starts`.
        gain: what ``latching`` multiplies a small state by, per hop.
        solver: ``euler``, ``heun``, ``rk4``, ``cayley`` or ``exponential``: see
            :mod:`ctan.nn.solvers`.

    Example:
        >>> CTAN(Dims(nodes=10, edge_dim=2, node_dim=1), dim=8).init_state().last_update.shape
        torch.Size([10])
    """

    paper = "Gravina et al., Long Range Propagation on Continuous-Time Dynamic Graphs, ICML 2024"
    use = (
        "What matters is many hops or many events away, or memory is short: 408 bytes a node at "
        "dim 100. See docs/long-range.md for how to start it."
    )

    def __init__(
        self,
        dims: Dims,
        *,
        dim: int = 100,
        steps: int = 1,
        epsilon: float = 0.5,
        gamma: float = 0.1,
        act: str = "tanh",
        phi: str = "attention",
        include_self: bool = False,
        heads: int = 1,
        psi: str = "tanh_concat",
        inject: str = "frontier",
        final_act: bool = False,
        share_weights: bool = True,
        update: str = "endpoints",
        time_dim: int = 16,
        neighbors: int = 5,
        query_time: bool = False,
        init: str = "default",
        gain: float = 3.0,
        solver: str = "euler",
    ) -> None:
        super().__init__()
        if inject not in INJECTIONS:
            raise unknown_name("injection", inject, INJECTIONS)
        if update not in UPDATES:
            raise unknown_name("update", update, UPDATES)
        self.dims, self.dim, self.steps = dims, dim, steps
        self.inject, self.update, self.final_act = inject, update, final_act
        self.include_self, self.query_time = include_self, query_time
        self.initial = InitialCondition(psi, dim, dims.node_dim)
        self.time = TimeEncoding(time_dim)
        self.flow = nn.ModuleList(
            AntiSymmetricStep(
                dim,
                aggregation(phi, dim, dims.edge_dim + time_dim, heads),
                epsilon=epsilon,
                gamma=gamma,
                act=act,
                include_self=include_self,
                solver=solver,
            )
            for _ in range(1 if share_weights else steps)
        )
        self.sees = Sees(
            hops=steps * (2 if update == "ball" else 1),
            neighbors=neighbors,
            query_time=query_time,
            own_entry=inject == "endpoints" and dims.node_dim > 0,
        )
        start(init, self.initial, self.layers, gain)

    def init_state(self, device: torch.device | str = "cpu") -> CTANState:
        """All nodes at zero, last active when the stream starts."""
        time = torch.float64 if isinstance(self.dims.start, float) else torch.int64
        return CTANState(
            h=Rows(torch.zeros(self.dims.nodes, self.dim, device=device)),
            last_update=torch.full((self.dims.nodes,), self.dims.start, dtype=time, device=device),
        )

    def embed(self, state: State, view: View) -> Tensor:
        """Solve the sub-problems of the asked entries: ``[asked, d]``."""
        return self.solve(cast(CTANState, state), view, self._asked(view), reach=0)

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """Store the embeddings of the events' endpoints, or of the ball around them."""
        state = cast(CTANState, state)
        if self.update == "ball":
            # Each node of the ball takes all L steps with its own neighbours, x at endpoints only.
            solved = self.solve(state, view, self._endpoints(events, view), reach=self.steps)
            inside = self._ball(view)
            nodes, values = view.nodes[inside], solved.index_select(0, _on(inside, view))
        else:
            if z is None:
                # Before its event a node's input is its own affair: see `look`.
                entering = self._endpoints(events, view) if view.observed else self._asked(view)
                z = self.solve(state, view, entering, reach=0)
            nodes, values = events.touched, z.index_select(0, view.touched)
        touched, latest = _on(events.touched, view), _on(events.latest, view)
        state.last_update.index_copy_(0, touched, view.features.t.index_select(0, latest))
        return CTANState(state.h.write(nodes, values), state.last_update)

    def recall(self, state: State, view: View) -> Tensor:
        """The stored embeddings of the asked entries."""
        return cast(CTANState, state).h.read(view.nodes[: view.asked])

    def solve(self, state: CTANState, view: View, injected: Tensor, reach: int) -> Tensor:
        """Embeddings of all entries within ``reach`` hops of the asked ones, x at ``injected``."""
        sizes = view.sizes[reach : reach + self.steps + 1]
        h = self.initial(state.h.read(view.nodes[: sizes[-1]]), self._input(view, injected, sizes))
        edges = self._edges(state, view, sizes[-2])
        # Step l is needed only by the nodes from which L - l further steps lead to the asked ones.
        targets = sizes[-2::-1]
        if len(self.flow) == 1:
            h = self.layers[0].steps(h, edges, targets)
        else:
            for layer, count in zip(self.layers, targets, strict=True):
                h = layer(h, edges.first(count))
        return kernels.tanh(h) if self.final_act else h

    def _asked(self, view: View) -> Tensor:
        """The asked entries."""
        return torch.arange(view.asked, device=view.features.device)

    def _endpoints(self, events: Events, view: View) -> Tensor:
        """All entries of the events' endpoints, also those at which others meet them."""
        if self.inject == "frontier":
            return view.touched
        return _on(np.flatnonzero(np.isin(view.nodes, events.touched)), view)

    def _ball(self, view: View) -> IntArray:
        """One entry of each node within L hops of the events' endpoints."""
        hood, own = view.hood, view.ends
        inside = ball(hood, own, self.steps)
        # Balls overlap: a node that is in several, by cut or time, counts as it is in the latest.
        keys = [hood.cut[inside]] if hood.time is None else [hood.time[inside], hood.cut[inside]]
        # An endpoint counts as itself, not as another's neighbour: of each node the last entry.
        entries = np.concatenate([inside[np.lexsort(keys)], own])[::-1]
        _, first = np.unique(view.nodes[entries], return_index=True)
        return entries[first]

    @property
    def layers(self) -> list[AntiSymmetricStep]:
        """The distinct steps: one if they share weights."""
        return [cast(AntiSymmetricStep, layer) for layer in self.flow]

    def _input(self, view: View, injected: Tensor, sizes: tuple[int, ...]) -> Tensor | None:
        if view.x is None:
            return None
        x = view.x[: sizes[-1]]
        if self.inject == "endpoints":
            at = torch.zeros(len(x), 1, dtype=torch.bool, device=x.device)
            at[injected] = True
            x = x * at
        return x

    def _edges(self, state: CTANState, view: View, targets: int) -> Incoming:
        last = state.last_update[view.node]
        own = None
        if self.include_self:
            # e_uu = 0, and the time since u's previous event.
            met = view.count[:targets] > 0
            latest = torch.where(met, view.edge_time[:targets, 0], last[:targets])
            now = view.time[:targets] if self.query_time else latest
            waited = self.time(self.dims.standardise((now - last[:targets]).abs()))
            own = torch.cat([waited.new_zeros(targets, self.dims.edge_dim), waited], dim=1)
        if self.query_time:
            asked = (view.time[:targets, None] - view.edge_time[:targets]).abs()
            elapsed = self.dims.standardise(asked)
        else:
            elapsed = since_edges(self.dims, view, last, targets)
        return Incoming(
            view.slot[:targets],
            view.present[:targets],
            view.count,
            self.time(elapsed),
            own,
            table=view.features.msg,
            event=view.event[:targets],
        )


def _on(array: IntArray, view: View) -> Tensor:
    return torch.from_numpy(array).to(view.features.device, non_blocking=True)
