r"""What becomes of a planted signal: over hops (sensitivity) and over events (retention).

Two questions that coincide only in a linear system:

- the *derivative* :math:`\partial h_v(t) / \partial x_u(t_0)`, on which learning depends, and which
  the theory of non-dissipative systems is about;
- the *difference* that the signal's sign makes, everything else equal. A saturated bistable state
  keeps the sign for ever although its derivative vanishes.

What can be read off in the end is a third: the difference has to stand out from what the noise of
other inputs makes of the state. `readable` is the accuracy of the best linear readout of it.

All is measured in double precision on a copy of the model, and the derivative by central
differences: a signal has one number where an embedding has many, so two more looks at the stream
give it after every step, where reverse mode needs a pass per number and step.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ctan.errors import CtanError
from ctan.events import EventStream
from ctan.models import Model
from ctan.study.playback import FeatureSizes, Playback, double_precision, features_of
from ctan.study.probes import first_nodes, path, star

Curve = NDArray[np.float64]
#: Half the distance over which the derivative is taken: what rounding makes of a state of size 1 is
#: then 1e-12 of the derivative, and what curvature makes of it about 1e-8.
_STEP = 1e-4


@dataclass(frozen=True)
class Signal:
    """A planted signal after each of some steps, averaged over the graphs of a stream.

    Attributes:
        step: how many steps after the one at which it entered, ``[S]``.
        derivative: Frobenius norm of the embedding's derivative by the signal, ``[S]``; exact to
            about 1e-12 of the embedding.
        difference: norm of the difference between the embeddings for a signal of +1 and of -1.
        spread: root mean square distance of embeddings of one sign from their mean.
        readable: accuracy of a linear readout fitted to one half of the graphs, on the other half;
            NaN for a single graph.
    """

    step: NDArray[np.int64]
    derivative: Curve
    difference: Curve
    spread: Curve
    readable: Curve


def follow(model: Model, stream: EventStream) -> Signal:
    """Plant +1 and -1 at each graph's first node, and follow the destinations' embeddings.

    Args:
        model: a node encoder, fresh or trained.
        stream: a union of disjoint graphs of equal length with node features; see
            :func:`~ctan.study.path` and :func:`~ctan.study.star`.

    Example:
        >>> from ctan.models import Dims, build
        >>> model = build("ctan", Dims(nodes=1, edge_dim=1, node_dim=1), dim=4)
        >>> follow(model, path(5, graphs=8)).derivative.shape
        (4,)
    """
    if stream.x is None or stream.graph is None:
        raise CtanError(
            "this stream has no "
            + ("node features" if stream.x is None else "graphs")
            + ": a signal is planted in the features of each graph's first node."
        )
    source = torch.from_numpy(first_nodes(stream))
    noise = torch.tensor(stream.x, dtype=torch.float64)
    plus, minus = ((noise.index_fill(0, source, sign)) for sign in (1.0, -1.0))
    with torch.no_grad(), double_precision():
        exact = copy.deepcopy(model).double()

        def played(x: Tensor) -> list[Tensor]:
            return [moment.dst for moment in Playback(exact, stream, x)]

        up, down = played(plus), played(minus)
        squares = [torch.zeros(len(z), dtype=torch.float64) for z in up]
        for feature in range(stream.node_dim):
            more, less = plus.clone(), plus.clone()
            more[source, feature] += _STEP
            less[source, feature] -= _STEP
            for square, one, two in zip(squares, played(more), played(less), strict=True):
                square += ((one - two) / (2 * _STEP)).square().sum(1)
    pairs = list(zip(up, down, strict=True))
    return Signal(
        step=np.arange(len(pairs)),
        derivative=np.array([float(square.sqrt().mean()) for square in squares]),
        difference=np.array([float((a - b).norm(dim=1).mean()) for a, b in pairs]),
        spread=np.array([float(((_centred(a) + _centred(b)) / 2) ** 0.5) for a, b in pairs]),
        readable=np.array([_readable(a, b) for a, b in pairs]),
    )


def sensitivity(model: Model, hops: int, *, graphs: int = 64) -> Signal:
    r"""How much of a node's input arrives after k hops: :func:`follow` on a temporal path.

    Entry k is about the node k + 1 hops from the signal, right after the event that reached it.

    Args:
        model: a node encoder for a stream with node features.
        hops: how far.
        graphs: paths with different noise to average over.

    Example:
        >>> from ctan.models import Dims, build
        >>> dims = Dims(nodes=1, edge_dim=1, node_dim=1)
        >>> model = build("ctan", dims, dim=8, epsilon=1.0, psi="concat", init="latching")
        >>> bool(sensitivity(model, hops=12, graphs=8).difference[-1] > 1)
        True
    """
    return follow(model, path(hops + 1, graphs=graphs, **_sizes(model)))


def retention(model: Model, events: int, *, graphs: int = 64) -> Signal:
    """How much of an event survives m further events at the same node.

    This is the paper's definition of non-dissipativeness over time, as a curve, and sensitivity
    against events: :func:`follow` on a star whose hub meets the signal first. While the first
    partner is among the hub's sampled neighbours, the signal is seen again at each event; after
    that the state alone carries it.

    Args:
        model: a node encoder for a stream with node features.
        events: how many further events.
        graphs: stars with different noise to average over.

    Example:
        >>> from ctan.models import Dims, build
        >>> dims = Dims(nodes=1, edge_dim=1, node_dim=1)
        >>> model = build("ctan", dims, dim=8, psi="input_only")
        >>> bool(retention(model, events=9, graphs=8).difference[-1] == 0)
        True
    """
    return follow(model, star(events + 1, graphs=graphs, **_sizes(model)))


def _sizes(model: Model) -> FeatureSizes:
    sizes = features_of(model)
    if not sizes["node_dim"]:
        raise CtanError(
            f"this {type(model).__name__} was made for a stream without node features: a signal "
            "is planted in the features of a node."
        )
    return sizes


def _centred(z: Tensor) -> float:
    return float((z - z.mean(0)).square().sum(1).mean())


def _readable(up: Tensor, down: Tensor) -> float:
    """Least squares on both signs of half of the graphs, with a little ridge; the rest is asked."""
    half = len(up) // 2
    fit_on = torch.cat([up[:half], down[:half]]).double()
    asked = torch.cat([up[half:], down[half:]]).double()
    if half == 0:
        return float("nan")
    centre = fit_on.mean(0)
    scale = fit_on.std().clamp(min=1e-300)
    fit_on, asked = (fit_on - centre) / scale, (asked - centre) / scale
    sign = torch.ones(half, dtype=torch.float64)
    target = torch.cat([sign, -sign])
    ridge = 1e-3 * torch.eye(fit_on.shape[1], dtype=torch.float64)
    weight = torch.linalg.solve(fit_on.T @ fit_on / len(fit_on) + ridge, fit_on.T @ target)
    answer = asked @ weight
    rest = torch.ones(len(up) - half, dtype=torch.float64)
    right = answer * torch.cat([rest, -rest])
    # A tie is half right: without any signal that makes one half.
    return float(((right > 0).double() + 0.5 * (right == 0).double()).mean())
