r"""Initial weights along the path that carries a state from node to node.

A node that is new takes one neighbour's state :math:`h_v` and keeps
:math:`\psi(0, x) + \epsilon\,\sigma(V \psi(h_v, x_v) + \dots)`. For small states a hop therefore
multiplies by :math:`\epsilon V E`, with E the state part of :math:`\psi`; the antisymmetric W never
meets the passing signal, only the node's own. What becomes of a signal over many hops is decided by
the gain :math:`g` of that product:

- ``default``: torch's own draw; :math:`g` is about 0.35 and signals die out.
- ``isometric``: E the identity, V orthogonal: :math:`\epsilon V E` keeps directions apart and, at
  :math:`\epsilon = 1`, lengths as they are, a linear memory of at most d past inputs.
- ``latching``: E the identity, V = (gain / epsilon) I, no biases: each coordinate is bistable. It
  grows until the activation holds it, and what came first decides to which side. With gain 3 the
  first input outweighs all later ones of its size together: it counts :math:`g^n`, each later one
  twice (at its own event and when it is next read) :math:`g^{n-k}`, and
  :math:`2 (1/g + 1/g^2 + \dots) = 2/(g - 1) \le 1`.

Both of the latter scale W down to stay within the solver's stability bound, and queries and edge
maps to start from plain averages of states.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import nn

from ctan.errors import unknown_name
from ctan.nn.aggregate import Attention, Mean
from ctan.nn.antisymmetric import AntiSymmetricStep
from ctan.nn.initial import InitialCondition

#: Initial weights: see the top of this file.
STARTS = ("default", "bounded", "isometric", "latching")
#: Just inside the stability bound, so that rounding cannot leave it.
_WITHIN = 0.99


@torch.no_grad()
def start(
    name: str, initial: InitialCondition, layers: list[AntiSymmetricStep], gain: float = 3.0
) -> None:
    r"""Set the initial weights of :math:`\psi` and of the steps.

    Args:
        name: one of :data:`STARTS`; ``bounded`` is ``default`` with W within the stability bound.
        initial: the initial condition.
        layers: the distinct steps.
        gain: what ``latching`` multiplies a small state by, per hop.

    Example:
        >>> layer = AntiSymmetricStep(4, Mean(4, edge_dim=0), epsilon=0.5)
        >>> start("latching", InitialCondition("add", 4, 4), [layer])
        >>> layer.phi.value.weight[0]
        tensor([6., 0., 0., 0.], grad_fn=<SelectBackward0>)
    """
    if name not in STARTS:
        raise unknown_name("init", name, STARTS)
    if name == "default":
        return
    for layer in layers:
        if name != "bounded":
            layer.weight.mul_(0.1)
            _open_path(name, layer, gain)
        keep_within_bound(layer)
    if name != "bounded" and initial.kind in ("concat", "tanh_concat"):
        encoder = cast(nn.Linear, initial.encoder)
        encoder.weight[:, : initial.dim] = torch.eye(initial.dim)
        if name == "latching":
            nn.init.zeros_(encoder.bias)


def _open_path(name: str, layer: AntiSymmetricStep, gain: float) -> None:
    phi = layer.phi
    if isinstance(phi, Attention):
        phi.query.weight.mul_(0.1)
        phi.query.bias.mul_(0.1)
        nn.init.zeros_(phi.value.bias)
    if isinstance(phi, Attention | Mean):
        if name == "isometric":
            nn.init.orthogonal_(phi.value.weight)
        else:
            nn.init.eye_(phi.value.weight).mul_(gain / layer.epsilon)
            if phi.edge is not None:
                phi.edge.weight.mul_(0.01)


@torch.no_grad()
def keep_within_bound(layer: AntiSymmetricStep) -> None:
    r"""Scale W down until no frequency of :math:`W - W^\top` grows under the layer's solver.

    Without damping Euler and Heun bear no frequency, and W becomes 0.

    Example:
        >>> layer = AntiSymmetricStep(50, Mean(50, edge_dim=0), epsilon=1.0, gamma=0.1)
        >>> keep_within_bound(layer)
        >>> bool(layer.frequencies().max() <= 0.4359)
        True
    """
    fastest = float(layer.frequencies().max())
    bound = layer.solver.bound(layer.gamma, layer.epsilon)
    if fastest > bound:
        layer.weight.mul_(_WITHIN * bound / fastest)
