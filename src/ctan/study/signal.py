r"""What becomes of a planted signal: over hops (sensitivity) and over events (retention).

Two questions that coincide only in a linear system:

- the *derivative* :math:`\partial h_v(t) / \partial x_u(t_0)`, on which learning depends, and which
  the theory of non-dissipative systems is about;
- the *difference* that the signal's sign makes, everything else equal. A saturated bistable state
  keeps the sign for ever although its derivative vanishes.

What can be read off in the end is a third: the difference has to stand out from what the noise of
other inputs makes of the state. `readable` is the accuracy of the best linear readout of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ctan.errors import CtanError
from ctan.events import EventStream
from ctan.models import Model
from ctan.study.playback import Playback
from ctan.study.probes import first_nodes, path, star

Curve = NDArray[np.float64]


@dataclass(frozen=True)
class Signal:
    """A planted signal after each of some steps, averaged over the graphs of a stream.

    Attributes:
        step: how many steps after the one at which it entered, ``[S]``.
        derivative: Frobenius norm of the embedding's derivative by the signal, ``[S]``; NaN where
            it was not asked for.
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


def follow(model: Model, stream: EventStream, derivative_at: Sequence[int] = ()) -> Signal:
    """Plant +1 and -1 at each graph's first node, and follow the destinations' embeddings.

    Args:
        model: a node encoder, fresh or trained.
        stream: a union of disjoint graphs of equal length with node features; see
            :func:`~ctan.study.path` and :func:`~ctan.study.star`.
        derivative_at: steps at which to compute the derivative; one backward pass for each
            dimension of the embedding.

    Example:
        >>> from ctan.models import Dims, build
        >>> model = build("ctan", Dims(nodes=1, edge_dim=1, node_dim=1), dim=4)
        >>> follow(model, path(5, graphs=8), derivative_at=[3]).derivative.round().shape
        (4,)
    """
    if stream.x is None or stream.graph is None:
        raise CtanError(
            "this stream has no "
            + ("node features" if stream.x is None else "graphs")
            + ": a signal is planted in the features of each graph's first node."
        )
    source = torch.from_numpy(first_nodes(stream))
    noise = torch.tensor(stream.x, dtype=torch.get_default_dtype())
    plus, minus = ((noise.index_fill(0, source, sign)) for sign in (1.0, -1.0))
    difference, spread, readable = [], [], []
    with torch.no_grad():
        both = zip(Playback(model, stream, plus), Playback(model, stream, minus), strict=True)
        for up, down in both:
            difference.append(float((up.dst - down.dst).norm(dim=1).mean()))
            spread.append(float(((_centred(up.dst) + _centred(down.dst)) / 2) ** 0.5))
            readable.append(_readable(up.dst, down.dst))
    derivative = np.full(len(difference), np.nan)
    if len(derivative_at):
        last = max(derivative_at)
        x = plus.requires_grad_()
        for moment in Playback(model, stream, x):
            if moment.step in derivative_at:
                derivative[moment.step] = _derivative(moment.dst, x, source)
            if moment.step == last:
                break
    return Signal(
        np.arange(len(difference)),
        derivative,
        np.array(difference),
        np.array(spread),
        np.array(readable),
    )


def sensitivity(
    model: Model, hops: int, *, graphs: int = 64, derivative_at: Sequence[int] | None = None
) -> Signal:
    r"""How much of a node's input arrives after k hops: :func:`follow` on a temporal path.

    Entry k is about the node k + 1 hops from the signal, right after the event that reached it.

    Args:
        model: a node encoder for one node feature and one event feature.
        hops: how far.
        graphs: paths with different noise to average over.
        derivative_at: steps at which to differentiate; all if not given.

    Example:
        >>> from ctan.models import Dims, build
        >>> dims = Dims(nodes=1, edge_dim=1, node_dim=1)
        >>> model = build("ctan", dims, dim=8, epsilon=1.0, psi="concat", init="latching")
        >>> bool(sensitivity(model, hops=12, graphs=8).difference[-1] > 1)
        True
    """
    at = range(hops) if derivative_at is None else derivative_at
    return follow(model, path(hops + 1, graphs=graphs), at)


def retention(
    model: Model, events: int, *, graphs: int = 64, derivative_at: Sequence[int] | None = None
) -> Signal:
    """How much of an event survives m further events at the same node.

    This is the paper's definition of non-dissipativeness over time, as a curve: :func:`follow` on
    a star whose hub meets the signal first. While the first partner is among the hub's sampled
    neighbours, the signal is seen again at each event; after that the state alone carries it.

    Args:
        model: a node encoder for one node feature and one event feature.
        events: how many further events.
        graphs: stars with different noise to average over.
        derivative_at: steps at which to differentiate; all if not given.

    Example:
        >>> from ctan.models import Dims, build
        >>> dims = Dims(nodes=1, edge_dim=1, node_dim=1)
        >>> model = build("ctan", dims, dim=8, psi="input_only")
        >>> bool(retention(model, events=9, graphs=8).difference[-1] == 0)
        True
    """
    at = range(events + 1) if derivative_at is None else derivative_at
    return follow(model, star(events + 1, graphs=graphs), at)


def _centred(z: Tensor) -> float:
    return float((z - z.mean(0)).square().sum(1).mean())


def _derivative(z: Tensor, x: Tensor, source: Tensor) -> float:
    """Mean over graphs of the Frobenius norm; graphs are disjoint, so one sum serves them all."""
    squares = torch.zeros(len(source), dtype=x.dtype)
    for column in z.sum(0):
        (gradient,) = torch.autograd.grad(column, x, retain_graph=True)
        squares += gradient[source].square().sum(1)
    return float(squares.sqrt().mean())


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
