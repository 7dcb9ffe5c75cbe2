r"""One attention layer as a product, compiled loops, and a product; forward and backward.

.. math::
    D_u = A h_u + b + \sum_v \alpha_{uv} (V h_v + b_v + E e_{uv}), \qquad
    \alpha_{uv} = \mathrm{softmax}_v\; s\,(Q h_u + b_q)^\top (K h_v + E e_{uv})

Queries are projected instead of neighbours, of which there are more, and the two maps that a query
goes through are folded into one:

.. math::
    s\,(Q h_u + b_q)^\top (K h_v + E e) = (F^\top h_u + f)^\top [h_v ; e], \qquad
    F = s\,Q^\top [K | E], \quad f = s\,[K | E]^\top b_q

so that one product with :math:`[A^\top | F]` gives each target its own part and its query. After
the loops, :math:`[V | E | b_v]` maps the pooled rows, whose last column is the sum of the weights:
0 without neighbours, and not 1 under dropout. The key's bias cancels in the softmax.

All of this is outside autograd, on numpy's arrays: :mod:`ctan.nn.kernels.attention` and
:mod:`ctan.nn.kernels.flow` wrap it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

import numpy as np
from torch import Tensor

from ctan.compiled.team import team
from ctan.nn.edges import Incoming
from ctan.nn.kernels._arrays import Floats, Kind, array
from ctan.nn.kernels._neighbors import attend_backward, attend_forward
from ctan.nn.kernels.matmul import matmul, multiply


class AttentionWeights(NamedTuple, Generic[Kind]):
    """The weights of one attention layer: states of size ``in``, output of size ``out``.

    Attributes:
        query: ``[out, in]``.
        query_bias: ``[out]``.
        key: ``[out, in]``.
        value: ``[out, in]``.
        value_bias: ``[out]``.
        edge: ``[out, dm + da]``, the columns that read the table before those that read ``attr``;
            None without edge attributes.
        own: ``[out, in]``, the map of each target's own state, or None.
        own_bias: ``[out]``, or None.
    """

    query: Kind
    query_bias: Kind
    key: Kind
    value: Kind
    value_bias: Kind
    edge: Kind | None = None
    own: Kind | None = None
    own_bias: Kind | None = None


class Gathered:
    """Where the neighbours of some targets stand, as the compiled loops take it.

    Args:
        h: node states, ``[M, in]``.
        edges: the neighbours.
        keep: dropout factors, ``[H, T, K]``, or None.
    """

    def __init__(self, h: Floats, edges: Incoming, keep: Tensor | None = None) -> None:
        table = np.empty((0, 0), h.dtype) if edges.table is None else array(edges.table)
        event = edges.slot if edges.event is None else edges.event
        self.rows = (h, array(edges.attr), table)
        self.where = (array(edges.slot), array(event), array(edges.present))
        self.keep = np.empty((0, 0, 0), h.dtype) if keep is None else array(keep)


@dataclass
class Pass:
    """What a backward pass needs of its forward pass."""

    gathered: Gathered
    both: Floats
    pooled: Floats
    alpha: Floats


class Folded:
    """The folded weights of one layer, and the sums of their gradients over several passes.

    Args:
        weights: the layer's.
        heads: number of heads.
        attr_dim: size of the attributes that do not stand in the table.
        projected: whether the table has been through the edge map, which leaves nothing to map.
    """

    def __init__(
        self, weights: AttentionWeights[Floats], heads: int, attr_dim: int, projected: bool
    ) -> None:
        w = self.weights = weights
        self.heads, self.attr_dim, self.projected = heads, attr_dim, projected
        self.out, self.in_dim = w.query.shape
        self.each = self.out // heads
        self.scale = w.query.dtype.type(self.each**-0.5)
        self.first = 0 if w.own is None else self.out
        known, told = [w.key], [w.value]
        if w.edge is not None:
            tabled = w.edge.shape[1] - attr_dim
            table, attr = w.edge[:, :tabled], w.edge[:, tabled:]
            known, told = [*known, attr], [*told, attr]
        told.append(w.value_bias[:, None])
        if w.edge is not None and not projected:
            known, told = [*known, table], [*told, table]
        #: ``[out, D]`` and ``[out, P]``, less the columns of a projected table.
        self.key, self.value = np.concatenate(known, axis=1), np.concatenate(told, axis=1)
        #: Columns of a query, of which a projected table has its own.
        self.width = self.key.shape[1] + (self.each if projected else 0)
        self.into, self.bias = self._fold()
        # Once, where each of many passes would make them again.
        self.into_back = np.ascontiguousarray(self.into.T)
        self.value_on = np.ascontiguousarray(self.value.T)
        self.grad_into, self.grad_bias = np.zeros_like(self.into), np.zeros_like(self.bias)
        self.grad_value = np.zeros_like(self.value)

    def _of_heads(self, width: int, first: int = 0) -> list[slice]:
        return [slice(first + i * width, first + (i + 1) * width) for i in range(self.heads)]

    def _fold(self) -> tuple[Floats, Floats]:
        """``[in, first + H width]`` and ``[1, first + H width]``."""
        w, of_key = self.weights, self.key.shape[1]
        columns = self.first + self.heads * self.width
        into = np.empty((self.in_dim, columns), w.query.dtype)
        bias = np.zeros((1, columns), w.query.dtype)
        if w.own is not None:
            into[:, : self.out] = w.own.T
            if w.own_bias is not None:
                bias[0, : self.out] = w.own_bias
        scaled, scaled_bias = w.query * self.scale, w.query_bias[None] * self.scale
        none = into[:0]
        for rows, at in zip(
            self._of_heads(self.each), self._of_heads(self.width, self.first), strict=True
        ):
            query, key = scaled[rows].T, self.key[rows]
            to, to_bias = into[:, at], bias[:, at]
            multiply(query, key, none, to[:, :of_key])
            multiply(scaled_bias[:, rows], key, none, to_bias[:, :of_key])
            if self.projected:
                to[:, of_key:] = query
                to_bias[:, of_key:] = scaled_bias[:, rows]
        return into, bias

    def forward(
        self, h: Floats, edges: Incoming, keep: Tensor | None = None
    ) -> tuple[Floats, Pass]:
        """The layer's output ``[T, out]``, and what it left behind."""
        gathered, targets = Gathered(h, edges, keep), edges.targets
        width = sum(part.shape[-1] for part in gathered.rows)
        if width != self.width:
            # The compiled loops do not check: a wrong shape would write outside the buffers.
            raise ValueError(
                f"the weights take {self.width} numbers of each neighbour, and the edges give "
                f"{width}"
            )
        both = matmul(h[:targets], self.into, self.bias)
        alpha = np.empty((targets, self.heads, edges.slot.size(1)), h.dtype)
        pooled = np.empty((targets, self.heads * (width + 1)), h.dtype)
        attend_forward(
            team(4 * gathered.where[0].size * self.heads * width),
            both,
            self.first,
            gathered.rows,
            gathered.where,
            gathered.keep,
            alpha,
            pooled,
        )
        return self._map(pooled, both), Pass(gathered, both, pooled, alpha)

    def _map(self, pooled: Floats, both: Floats) -> Floats:
        """The pooled rows ``[T, H P]`` through the value maps, and the own part: ``[T, out]``."""
        out = np.empty((len(pooled), self.out), pooled.dtype)
        columns = self.value.shape[1]
        for rows, at in zip(self._of_heads(self.each), self._of_heads(self.width + 1), strict=True):
            own = both[:, rows] if self.first else both[:0]
            part, to = pooled[:, at], out[:, rows]
            multiply(part[:, :columns], self.value_on[:, rows], own, to)
            if self.projected:
                to += part[:, columns:]
        return out

    def backward(
        self,
        done: Pass,
        grad: Floats,
        grad_h: Floats | None,
        grad_attr: Floats | None,
        grad_table: Floats | None,
    ) -> None:
        """Add the gradients of one forward pass to those of the weights and to the given ones.

        Args:
            done: what the forward pass left.
            grad: gradient of its output, ``[T, out]``.
            grad_h: added to, ``[M, in]``; this and the next two None if not wanted.
            grad_attr: added to, ``[>= T, K, da]``.
            grad_table: added to, ``[E, dm]``.
        """
        gathered, both, pooled = done.gathered, done.both, done.pooled
        targets, columns = len(grad), self.value.shape[1]
        grad_both, grad_pooled = np.empty_like(both), np.empty_like(pooled)
        if self.first:
            grad_both[:, : self.out] = grad
        for rows, at in zip(self._of_heads(self.each), self._of_heads(self.width + 1), strict=True):
            of_head, to = grad[:, rows], grad_pooled[:, at]
            multiply(of_head, self.value[rows], both[:0], to[:, :columns])
            if self.projected:
                to[:, columns:] = of_head
            grad_value = self.grad_value[rows]
            multiply(of_head.T, pooled[:, at][:, :columns], grad_value, grad_value)
        none = np.empty((0, 0), grad.dtype)
        attend_backward(
            team(8 * gathered.where[0].size * self.heads * self.width),
            both,
            self.first,
            gathered.rows,
            gathered.where,
            gathered.keep,
            done.alpha,
            grad_pooled,
            grad_both,
            (
                none if grad_h is None else grad_h,
                none[:, :, None] if grad_attr is None else grad_attr,
                none if grad_table is None else grad_table,
            ),
        )
        if grad_h is not None:
            multiply(grad_both, self.into_back, grad_h[:targets], grad_h[:targets])
        multiply(gathered.rows[0][:targets].T, grad_both, self.grad_into, self.grad_into)
        self.grad_bias += grad_both.sum(0)

    def gradients(self) -> AttentionWeights[Floats]:
        """Gradients of the weights; zero for a projected table's columns of the edge map."""
        w, of_key = self.weights, self.key.shape[1]
        query, query_bias = np.empty_like(w.query), np.empty_like(w.query_bias)
        key = np.empty_like(self.key)
        scaled, scaled_bias = w.query * self.scale, w.query_bias * self.scale
        for rows, at in zip(
            self._of_heads(self.each), self._of_heads(self.width, self.first), strict=True
        ):
            fold, bias = self.grad_into[:, at], self.grad_bias[0, at]
            # Through the product of queries and keys: by the one, and by the other.
            multiply(self.key[rows], fold[:, :of_key].T, query[:0], query[rows])
            query_bias[rows] = self.key[rows] @ bias[:of_key]
            if self.projected:
                query[rows] += fold[:, of_key:].T
                query_bias[rows] += bias[of_key:]
            outer = np.multiply.outer(scaled_bias[rows], bias[:of_key])
            multiply(scaled[rows], fold[:, :of_key], outer, key[rows])
        query *= self.scale
        query_bias *= self.scale
        value, d, da, edge = self.grad_value, self.in_dim, self.attr_dim, None
        if w.edge is not None:
            tabled = w.edge.shape[1] - da
            edge = np.zeros_like(w.edge)
            np.add(key[:, d : d + da], value[:, d : d + da], out=edge[:, tabled:])
            if not self.projected:
                np.add(key[:, d + da :], value[:, d + da + 1 :], out=edge[:, :tabled])
        return AttentionWeights(
            query=query,
            query_bias=query_bias,
            key=key[:, :d],
            value=value[:, :d],
            value_bias=value[:, d + da],
            edge=edge,
            own=None if w.own is None else self.grad_into[:, : self.out].T,
            own_bias=None if w.own_bias is None else self.grad_bias[0, : self.out],
        )


def arrays(weights: Sequence[Any]) -> AttentionWeights[Floats]:
    """The numbers of :class:`AttentionWeights` that stand in tensors."""
    numbers: list[Any] = [None if weight is None else array(weight) for weight in weights]
    return AttentionWeights(*numbers)
