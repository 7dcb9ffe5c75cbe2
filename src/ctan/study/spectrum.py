r"""Eigenvalues of CTAN's Jacobian: of the ODE, of the solver's step, and of a whole event.

With the neighbours held fixed, an event takes a node's stored state :math:`h` to

.. math:: h \;\xrightarrow{\psi}\; h_0 \;\xrightarrow{\text{solver}}\; h_1, \qquad
    \dot h = f(h) = \sigma((W - W^\top - \gamma I) h + \Phi + b)

- ``field``: :math:`\partial f / \partial h` at :math:`h_0`. If :math:`\Phi` does not depend on h,
  its real parts lie in :math:`[-\gamma \max\sigma', -\gamma \min\sigma']`. Attention's query does
  depend on h: what that does is measured here.
- ``step``: :math:`\partial h_1 / \partial h_0`. Outside of the unit circle it grows.
- ``event``: :math:`\partial h_1 / \partial h`, with :math:`\psi`: what a stored state meets at each
  event of its node. This, not the field alone, decides what is remembered.

What passes from node to node takes another way, past the antisymmetric weights: see :func:`hop`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ctan.errors import CtanError
from ctan.events import EventStream
from ctan.models import CTAN, CTANState, Model
from ctan.nn import Incoming
from ctan.study.playback import Playback

Eigenvalues = NDArray[np.complex128]


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues at the destinations of one step's events, ``[G, d]`` each.

    Attributes:
        field: of the right-hand side of the ODE; multiply by the step size to compare with a
            solver's stability region.
        step: of the map that the solver makes of it.
        event: of the map from the stored state to the next one, the initial condition included.
        solver: name of the solver that takes the step.
        epsilon: its step size.
    """

    field: Eigenvalues
    step: Eigenvalues
    event: Eigenvalues
    solver: str
    epsilon: float

    @property
    def growth(self) -> float:
        """Largest modulus of ``event``: above 1 a stored state grows along some direction."""
        return float(np.abs(self.event).max())


def spectrum(model: Model, stream: EventStream, step: int) -> Spectrum:
    """Jacobians of the first of CTAN's steps, as it stands after ``step`` steps of a stream.

    Args:
        model: a CTAN, fresh or trained.
        stream: what to play before; see :class:`~ctan.study.Playback`.
        step: which step's events to look at, from 0.

    Example:
        With the identity, no aggregation of neighbours that matters, and gamma 0.1, the real
        parts are -0.1 to the last bit that counts.

        >>> from ctan.models import Dims
        >>> from ctan.study import star
        >>> model = CTAN(Dims(1, 1, 1), dim=4, act="identity", phi="mean", gamma=0.1)
        >>> spectrum(model, star(3, graphs=2), step=2).field.real.round(4)
        array([[-0.1, -0.1, -0.1, -0.1],
               [-0.1, -0.1, -0.1, -0.1]])
    """
    playback = Playback(model, stream)
    shown = _ctan(playback.model)
    if not 0 <= step < len(playback.batches):
        raise CtanError(f"step {step}: the stream has steps 0 to {len(playback.batches) - 1}.")
    state = cast(CTANState, playback.until(step))
    _, view = playback.view(step)
    rows, layer, sizes = view.dst, shown.layers[0], (view.asked, view.sizes[1])
    with torch.no_grad():
        # The parts of CTAN.solve, so that one state can be varied apart from the others.
        stored = state.h.read(view.nodes[: sizes[1]])
        x = shown._input(view, torch.arange(view.asked), sizes)
        fixed = shown.initial(stored, x)
        edges = shown._edges(state, view, view.asked)

    def pick(own: Tensor) -> tuple[Tensor, Incoming]:
        """All rows twice: the nodes' own states, to vary, then the neighbours', fixed."""
        moved = fixed.index_copy(0, rows, own)[: view.asked]
        return torch.cat([moved, fixed]), replace(
            edges,
            slot=edges.slot + view.asked,
            count=torch.cat([edges.count[: view.asked], edges.count]),
        )

    def field(own: Tensor) -> Tensor:
        states, apart = pick(own)
        asked = layer.phi(states, apart.with_self() if layer.include_self else apart)
        return layer.field(states[: view.asked], asked)[rows]

    def advance(own: Tensor) -> Tensor:
        states, apart = pick(own)
        moved: Tensor = layer(states, apart)
        return moved[rows]

    def event(memory: Tensor) -> Tensor:
        return advance(shown.initial(memory, None if x is None else x[rows]))

    return Spectrum(
        field=_eigenvalues(field, fixed[rows]),
        step=_eigenvalues(advance, fixed[rows]),
        event=_eigenvalues(event, stored[rows]),
        solver=layer.solver.name,
        epsilon=layer.epsilon,
    )


def hop(model: Model) -> Eigenvalues:
    r"""Eigenvalues of a hop: of what a new node makes of the small state of its one neighbour.

    They are those of :math:`\partial h_v / \partial h_u` at states of 0 without inputs, after the
    first of CTAN's steps: of :math:`\epsilon V E` where biases are 0 and Euler takes the step. The
    largest modulus is the gain: below 1 a signal fades from hop to hop, above 1 it grows until the
    activation holds it. Where that eigenvalue is not positive, its sign depends on how many hops
    it has come.

    Args:
        model: a CTAN, fresh or trained.

    Returns:
        ``[d]``.

    Example:
        >>> from ctan.models import Dims
        >>> model = CTAN(Dims(1, 1, 1), dim=4, epsilon=0.5, init="latching", gain=3.0)
        >>> hop(model).real.round(4)
        array([3., 3., 3., 3.])
    """
    layer, psi = _ctan(model).layers[0], _ctan(model).initial
    x = layer.weight.new_zeros(1, psi.node_dim) if psi.node_dim else None
    # Row 0 is the new node, row 1 its neighbour; both have met no other.
    met = torch.ones(1, 1, dtype=torch.long)
    attr = layer.weight.new_zeros(1, 1, cast(int, layer.phi.edge_dim))
    edges = Incoming(met, met.bool(), met.new_ones(2), attr, self_attr=attr[0])

    def pass_on(state: Tensor) -> Tensor:
        new = psi(torch.zeros_like(state), x)
        moved: Tensor = layer(torch.cat([new, psi(state, x)]), edges)
        return moved

    found: Eigenvalues = _eigenvalues(pass_on, layer.weight.new_zeros(1, layer.dim))[0]
    return found


def _ctan(model: Model) -> CTAN:
    if not isinstance(model, CTAN):
        raise CtanError(
            f"{type(model).__name__} is no CTAN: a spectrum is about its antisymmetric step."
        )
    return model


def _eigenvalues(function: Callable[[Tensor], Tensor], at: Tensor) -> Eigenvalues:
    """Of each row's Jacobian; rows do not depend on one another, so one sum serves them all."""
    at = at.detach().requires_grad_()
    with torch.enable_grad():
        value = function(at)
        # A sub-problem that forgets its state has no path for gradients.
        if not value.requires_grad:
            return np.zeros(at.shape, dtype=np.complex128)
        rows = [
            torch.autograd.grad(column, at, retain_graph=True, materialize_grads=True)[0]
            for column in value.sum(0)
        ]
    jacobian = torch.stack(rows, dim=1).double().numpy()
    return np.linalg.eigvals(jacobian).astype(np.complex128)
