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

All of this is outside autograd: :mod:`ctan.nn.kernels.attention` and :mod:`ctan.nn.kernels.flow`
wrap it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ctan.nn.edges import Incoming
from ctan.nn.kernels._neighbors import attend_backward, attend_forward
from ctan.nn.kernels.products import between_weights, contract, product, round_up, rounded


class AttentionWeights(NamedTuple):
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

    query: Tensor
    query_bias: Tensor
    key: Tensor
    value: Tensor
    value_bias: Tensor
    edge: Tensor | None = None
    own: Tensor | None = None
    own_bias: Tensor | None = None


class Gathered:
    """Where the neighbours of some targets stand, as the compiled loops take it.

    Args:
        h: node states, ``[M, in]``.
        edges: the neighbours.
        keep: dropout factors, ``[H, T, K]``, or None.
    """

    def __init__(self, h: Tensor, edges: Incoming, keep: Tensor | None = None) -> None:
        dtype = h.detach().numpy().dtype
        table = np.empty((0, 0), dtype) if edges.table is None else array(edges.table)
        event = edges.slot if edges.event is None else edges.event
        self.rows = (array(h), array(edges.attr), table)
        self.where = (array(edges.slot), array(event), array(edges.present))
        self.keep = np.empty((0, 0, 0), dtype) if keep is None else array(keep)


@dataclass
class Pass:
    """What a backward pass needs of its forward pass."""

    gathered: Gathered
    own: Tensor
    both: Tensor
    pooled: Tensor
    alpha: np.ndarray


class Folded:
    """The folded weights of one layer, and the sums of their gradients over several passes.

    Args:
        weights: the layer's.
        heads: number of heads.
        attr_dim: size of the attributes that do not stand in the table.
        projected: whether the table has been through the edge map, which leaves nothing to map.
    """

    def __init__(
        self, weights: AttentionWeights, heads: int, attr_dim: int, projected: bool
    ) -> None:
        w = self.weights = weights
        self.heads, self.attr_dim, self.projected = heads, attr_dim, projected
        self.out, self.in_dim = w.query.shape
        self.each = self.out // heads
        self.scale = self.each**-0.5
        self.first = 0 if w.own is None else self.out
        known, told = [w.key], [w.value]
        if w.edge is not None:
            tabled = w.edge.size(1) - attr_dim
            table, attr = w.edge[:, :tabled], w.edge[:, tabled:]
            known, told = [*known, attr], [*told, attr]
        told.append(w.value_bias.unsqueeze(1))
        if w.edge is not None and not projected:
            known, told = [*known, table], [*told, table]
        #: ``[out, D]`` and ``[out, P]``, less the columns of a projected table.
        self.key, self.value = torch.cat(known, dim=1), torch.cat(told, dim=1)
        self.into, self.bias = self._fold()
        self.grad_into: Tensor | None = None
        self.grad_bias: Tensor | None = None
        self.grad_value: Tensor | None = None

    def _heads(self, maps: Tensor) -> tuple[Tensor, ...]:
        return (maps,) if self.heads == 1 else torch.split(maps, self.each)

    def _fold(self) -> tuple[Tensor, Tensor]:
        """``[in, first + H D]`` and ``[first + H D]``."""
        w = self.weights
        maps, biases = [], []
        if w.own is not None:
            maps.append(w.own.T)
            biases.append(w.key.new_zeros(self.out) if w.own_bias is None else w.own_bias)
        scaled, bias = w.query * self.scale, w.query_bias * self.scale
        for query, b, key in zip(
            self._heads(scaled), self._heads(bias), self._heads(self.key), strict=True
        ):
            maps.append(between_weights(query.T, key))
            biases.append(b @ key)
            if self.projected:
                maps.append(query.T)
                biases.append(b)
        return torch.cat(maps, dim=1), torch.cat(biases)

    def forward(
        self, h: Tensor, edges: Incoming, keep: Tensor | None = None
    ) -> tuple[Tensor, Pass]:
        """The layer's output ``[>= T, out]``, of which the first T rows count, and what it left."""
        targets = edges.targets
        # The rows that follow the targets serve as padding to a shape that oneDNN knows.
        rows = round_up(targets)
        own = h[:rows] if rows <= h.size(0) else rounded(h[:targets])
        both = product(own, self.into, self.bias)
        gathered = Gathered(h, edges, keep)
        width = sum(part.shape[-1] for part in gathered.rows)
        if both.size(1) != self.first + self.heads * width:
            # The compiled loops do not check: a wrong shape would write outside the buffers.
            raise ValueError(
                f"the weights take {(both.size(1) - self.first) // self.heads} numbers of each "
                f"neighbour, and the edges give {width}"
            )
        # numpy owns the buffers: allocating with torch costs more than filling these.
        alpha = np.empty((targets, self.heads, edges.slot.size(1)), gathered.rows[0].dtype)
        buffer = np.empty((len(both), self.heads * (width + 1)), alpha.dtype)
        buffer[targets:] = 0
        attend_forward(
            both.numpy(), self.first, gathered.rows, gathered.where, gathered.keep, alpha, buffer
        )
        pooled = torch.from_numpy(buffer)
        out = self._mapped(pooled, width + 1)
        if self.first:
            out += both[:, : self.out]
        return out, Pass(gathered, own, both, pooled, alpha)

    def _mapped(self, pooled: Tensor, width: int) -> Tensor:
        """The pooled rows ``[R, H P]`` through the value maps, ``[R, out]``."""
        mapped, columns = [], self.value.size(1)
        for head, value in enumerate(self._heads(self.value)):
            start = head * width
            part = product(pooled[:, start : start + columns], value.T)
            if self.projected:
                part += pooled[:, start + columns : start + width]
            mapped.append(part)
        return mapped[0] if self.heads == 1 else torch.cat(mapped, dim=1)

    def backward(
        self,
        done: Pass,
        grad: Tensor,
        grad_h: Tensor | None,
        grad_attr: Tensor | None,
        grad_table: Tensor | None,
    ) -> None:
        """Add the gradients of one forward pass to those of the weights and to the given ones.

        Args:
            done: what the forward pass left.
            grad: gradient of its output, ``[T, out]``.
            grad_h: added to, ``[M, in]``; this and the next two None if not wanted.
            grad_attr: added to, ``[>= T, K, da]``.
            grad_table: added to, ``[E, dm]``.
        """
        gathered, own, both, pooled = done.gathered, done.own, done.both, done.pooled
        targets, width = len(done.alpha), pooled.size(1) // self.heads
        padded, grad_both = rounded(grad.contiguous()), both.new_zeros(both.shape)
        if self.first:
            grad_both[:, : self.out] = padded

        columns = self.value.size(1)
        parts, values = [], []
        for head, value in enumerate(self._heads(self.value)):
            of_head = padded if self.heads == 1 else padded[:, head * self.each :][:, : self.each]
            of_head = of_head.contiguous()
            start = head * width
            parts.append(product(of_head, value))
            if self.projected:
                parts.append(of_head)
            values.append(contract(of_head, pooled[:, start : start + columns]))
        grad_pooled = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
        none = np.empty((0, 0), done.alpha.dtype)
        attend_backward(
            both.numpy(),
            self.first,
            gathered.rows,
            gathered.where,
            gathered.keep,
            done.alpha,
            grad_pooled.numpy(),
            grad_both.numpy(),
            (
                none if grad_h is None else grad_h.numpy(),
                none[:, :, None] if grad_attr is None else grad_attr.numpy(),
                none if grad_table is None else grad_table.numpy(),
            ),
        )
        if grad_h is not None:
            grad_h[:targets] += product(grad_both, self.into.T)[:targets]
        self._add(contract(own, grad_both), grad_both.sum(0), values)

    def _add(self, into: Tensor, bias: Tensor, values: list[Tensor]) -> None:
        value = values[0] if len(values) == 1 else torch.cat(values)
        if self.grad_into is None or self.grad_bias is None or self.grad_value is None:
            self.grad_into, self.grad_bias, self.grad_value = into, bias, value
        else:
            self.grad_into += into
            self.grad_bias += bias
            self.grad_value += value

    def gradients(self) -> AttentionWeights:
        """Gradients of the weights; zero for a projected table's columns of the edge map."""
        assert self.grad_into is not None
        assert self.grad_bias is not None
        assert self.grad_value is not None
        w, first = self.weights, self.first
        query, query_bias, key = [], [], []
        of_key = self.key.size(1)
        width = of_key + (self.each if self.projected else 0)
        for head, (q, b, k) in enumerate(
            zip(
                self._heads(w.query),
                self._heads(w.query_bias),
                self._heads(self.key),
                strict=True,
            )
        ):
            start = first + head * width
            fold = self.grad_into[:, start : start + of_key]
            bias = self.grad_bias[start : start + of_key]
            grad_q, grad_b = between_weights(k, fold.T), k @ bias
            if self.projected:
                grad_q = grad_q + self.grad_into[:, start + of_key : start + width].T
                grad_b = grad_b + self.grad_bias[start + of_key : start + width]
            query.append(grad_q * self.scale)
            query_bias.append(grad_b * self.scale)
            key.append(torch.addr(between_weights(q, fold), b, bias) * self.scale)
        grad_key, d, da = _joined(key), self.in_dim, self.attr_dim
        edge = None
        if w.edge is not None:
            value = self.grad_value
            attr = grad_key[:, d : d + da] + value[:, d : d + da]
            if self.projected:
                table = attr.new_zeros(self.out, w.edge.size(1) - da)
            else:
                table = grad_key[:, d + da :] + value[:, d + da + 1 :]
            edge = torch.cat([table, attr], dim=1)
        return AttentionWeights(
            query=_joined(query),
            query_bias=_joined(query_bias),
            key=grad_key[:, :d],
            value=self.grad_value[:, :d],
            value_bias=self.grad_value[:, d + da],
            edge=edge,
            own=None if w.own is None else self.grad_into[:, : self.out].T,
            own_bias=None if w.own_bias is None else self.grad_bias[: self.out],
        )


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def array(tensor: Tensor) -> np.ndarray:
    """The numbers of a tensor, in one piece."""
    return tensor.detach().contiguous().numpy()
