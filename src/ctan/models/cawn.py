r"""CAWN: causal anonymous walks from both nodes of a pair, read by a recurrent network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ctan.arrays import IntArray
from ctan.errors import CtanError, unknown_name
from ctan.history import CausalWalks, Occurrences, Walks
from ctan.models.base import Dims, PairEncoder
from ctan.models.batch import Events
from ctan.models.sequences import in_parts, on
from ctan.models.state import State
from ctan.models.view import Sees, View
from ctan.nn import TimeEncoding
from ctan.nn.linear import Linear

#: How the walks of a node are pooled.
POOLS = ("attention", "mean")
#: Pairs whose walks are read at once.
PAIRS_AT_ONCE = 256


class CAWN(PairEncoder):
    r"""Causal anonymous walk network, arXiv 2101.05974.

    From each node of a pair set out M walks of up to m steps back in time. On them nodes have no
    names: a node w is known by how often it stands at each step of the walks of both ends,

    .. math::
        g(w; S_u)_i &= \tfrac{1}{M}\,|\{W \in S_u : W_i = w\}|, \qquad
        I(w) = f(g(w; S_u)) + f(g(w; S_v)) \\
        h_i &= \mathrm{GRU}\bigl([I(w_i) \,\|\, \cos(\omega (t_{i-1} - t_i) + b) \,\|\, e_i \,\|\,
            x_{w_i}],\; h_{i-1}\bigr)

    with f a network of two layers. The last states of a node's walks are pooled: ``mean``, or
    ``attention``, :math:`\frac1M \sum_i \mathrm{softmax}_j(h_i^\top Q_1 h_j / \sqrt d)\, h_j`;
    one linear map follows (the paper's Q_2).

    Args:
        dims: what is known of the stream.
        dim: size of the encodings and embeddings.
        walks: walks M from each node (32 to 128 in its own paper).
        length: steps m of each walk.
        alpha: decay per unit of the stream's time: a walk prefers recent events by
            :math:`\exp(\alpha \Delta t)`; 0 draws uniformly (1e-6 and about suits seconds).
        pool: ``attention`` or ``mean``.
        time_dim: size of the time encoding.

    Example:
        >>> CAWN(Dims(nodes=10), dim=8).sees.walks
        CausalWalks(count=32, length=2, alpha=1e-06)
    """

    paper = "Wang et al., Inductive Representation Learning in Temporal Networks, arXiv 2101.05974"
    use = (
        "Pairs of nodes never met in training: only the pattern of walks counts, not who is on "
        "them. The dearest model here; its score is that of one draw of walks."
    )

    stateful = False

    def __init__(
        self,
        dims: Dims,
        *,
        dim: int = 100,
        walks: int = 32,
        length: int = 2,
        alpha: float = 1e-6,
        pool: str = "attention",
        time_dim: int = 16,
    ) -> None:
        super().__init__()
        if pool not in POOLS:
            raise unknown_name("pooling of walks", pool, POOLS)
        if (walks + 1) ** (length + 1) >= 2**63:
            raise CtanError(
                f"{walks} walks of {length} steps: their counts do not fit a 64-bit number. "
                "Choose fewer or shorter walks."
            )
        self.dims, self.dim, self.walks = dims, dim, walks
        self.time = TimeEncoding(time_dim)
        self.position = nn.Sequential(Linear(length + 1, dim), nn.ReLU(), Linear(dim, dim))
        self.cell = nn.GRUCell(dim + time_dim + dims.edge_dim + dims.node_dim, dim)
        self.attend = Linear(dim, dim, bias=False) if pool == "attention" else None
        self.out = Linear(dim, dim)
        self.sees = Sees(query_time=True, walks=CausalWalks(walks, length, alpha))

    def init_state(self, device: torch.device | str = "cpu") -> State:
        """Nothing to remember."""
        return State()

    def embed_pairs(self, state: State, view: View) -> tuple[Tensor, Tensor]:
        """Embeddings of the asked sources and destinations, ``[P, d]`` each."""
        device, walks = view.features.device, view.walks
        assert walks is not None

        def embed(entries: IntArray, src: IntArray, dst: IntArray) -> tuple[Tensor, Tensor]:
            there = walks.of(entries)
            seen, counts = anonymous(there)
            # The cell's map of its input is linear: what a node's own walks give is worked out
            # once for each node, and what the other end adds is a row of a small table.
            table = self.position_gates(on(counts, device))
            gates = self.told_gates(view, entries, there)
            gates = gates + F.embedding(on(seen.own(), device), table)
            sizes = [1] + there.steps * [self.walks]
            own = [step.contiguous() for step in torch.split(gates, sizes, dim=1)]
            alive = on(_by_step(np.arange(there.steps) < there.length[..., None]), device)
            rows, others = np.concatenate([src, dst]), np.concatenate([dst, src])
            at, met = on(rows, device), on(seen.across(rows, others), device)
            told = (
                step.index_select(0, at) + F.embedding(other, table)
                for step, other in zip(own, torch.split(met, sizes, dim=1), strict=True)
            )
            h = self.read(told, alive.index_select(0, at))
            z_src, z_dst = self.out(self.pooled(h)).chunk(2)
            return z_src, z_dst

        return in_parts(embed, view.pairs, PAIRS_AT_ONCE)

    def position_gates(self, counts: Tensor) -> Tensor:
        """What the cell makes of ``f(counts [U, m + 1])``: ``[U, 3d]``."""
        share = counts.to(self.cell.weight_ih.dtype) / self.walks
        return F.linear(self.position(share), self.cell.weight_ih[:, : self.dim])

    def told_gates(self, view: View, entries: IntArray, walks: Walks) -> Tensor:
        """What the cell makes of times and features at the places of :func:`places`."""
        device, features = view.features.device, view.features
        assert view.hood.time is not None
        time = on(view.hood.time[entries], device)
        event = on(_by_step(walks.event), device)
        then = features.t[event]
        before = torch.cat([time[:, None, None].expand(-1, 1, then.size(2)), then[:, :-1]], dim=1)
        # The start of a walk is reached through no event, at the time of the question.
        waited = F.pad((before - then).flatten(1), (1, 0))
        told = [self.time(self.dims.standardise(waited))]
        if features.msg is not None:
            told.append(F.pad(features.msg[event].flatten(1, 2), (0, 0, 1, 0)).to(told[0].dtype))
        if features.x is not None:
            node = places(walks)
            cut = np.repeat(view.hood.cut[entries], node.shape[1])
            row = features.rows(np.maximum(node, 0).ravel(), cut).reshape(node.shape)
            told.append(features.x[on(row, device)].to(told[0].dtype))
        weight = self.cell.weight_ih[:, self.dim :]
        return F.linear(torch.cat(told, dim=-1), weight, self.cell.bias_ih)

    def read(self, gates: Iterator[Tensor], alive: Tensor) -> Tensor:
        """The last states of walks, ``[B, M, d]``.

        Args:
            gates: what the cell makes of its inputs, step by step: ``[B, 1, 3d]`` of the start,
                which all walks share, then ``[B, M, 3d]`` of each step.
            alive: which walks take each step, ``[B, m, M]``; the others keep their states.
        """
        start = next(gates)
        h = self.step(start, start.new_zeros(len(start), 1, self.dim))
        for there, step in zip(alive.unbind(1), gates, strict=True):
            h = torch.where(there[..., None], self.step(step, h), h)
        return h

    def step(self, gates: Tensor, h: Tensor) -> Tensor:
        """The GRU, its map of the input made beforehand: ``gates [B, M, 3d]``, ``h [B, *, d]``."""
        sizes = [2 * self.dim, self.dim]
        told, new = torch.split(gates, sizes, dim=-1)
        kept = F.linear(h, self.cell.weight_hh, self.cell.bias_hh)
        held, own = torch.split(kept, sizes, dim=-1)
        reset, update = torch.sigmoid(told + held).chunk(2, dim=-1)
        return torch.lerp(torch.tanh(torch.addcmul(new, reset, own)), h, update)

    def pooled(self, h: Tensor) -> Tensor:
        """One vector for the walks ``h [B, M, d]`` of each node: ``[B, d]``."""
        if self.attend is None:
            return h.mean(1)
        score = self.attend(h) @ h.mT / self.dim**0.5
        weight = torch.softmax(score, dim=-1).mean(1, keepdim=True)
        pooled: Tensor = (weight @ h)[:, 0]
        return pooled

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """Nothing to remember: the index knows the events."""
        return state


def places(walks: Walks) -> IntArray:
    """The nodes of each row of walks: the start, then all first steps, all second ones, and so on.

    Example:
        >>> node = np.array([[[5, 1, 2], [5, 3, 4]]])
        >>> places(Walks(node, node[:, :, 1:], np.full((1, 2), 2))).tolist()
        [[5, 1, 3, 2, 4]]
    """
    steps = _by_step(walks.node[:, :, 1:]).reshape(len(walks.node), -1)
    return np.concatenate([walks.node[:, 0, :1], steps], axis=1)


def anonymous(walks: Walks) -> tuple[Occurrences, IntArray]:
    """Replace the nodes on walks by how often they stand at each step.

    Returns:
        The occurrences of the nodes of :func:`places`, whose counts are rows of the second value,
        and the distinct vectors of counts, ``[U, m + 1]``; the first is all zeros.

    Example:
        >>> node = np.array([[[5, 1, 5], [5, 1, 0]]])
        >>> seen, counts = anonymous(Walks(node, node[:, :, 1:], np.array([[2, 1]])))
        >>> counts[seen.own()][0].tolist()  # 5, then 1 and 1, then 5 and nothing
        [[2, 0, 1], [0, 2, 0], [0, 2, 0], [2, 0, 1], [0, 0, 0]]
    """
    rows, count, steps = walks.event.shape
    # A vector of counts, none above M, is one number with the counts as its digits to base M + 1.
    digit = (count + 1) ** np.arange(steps + 1)
    there = np.arange(steps)[:, None] < walks.length[:, None, :]
    present = np.concatenate([np.ones((rows, 1), np.bool_), there.reshape(rows, -1)], axis=1)
    weight = np.concatenate([digit[:1] * count, np.repeat(digit[1:], count)])
    seen = Occurrences.of(places(walks), present, weight)
    numbers, row = np.unique(np.append(0, seen.count), return_inverse=True)
    counts = numbers[:, None] // digit % (count + 1)
    return replace(seen, count=row[1:].reshape(seen.count.shape)), counts


def _by_step(columns: np.ndarray) -> np.ndarray:
    """``[A, M, m]`` as ``[A, m, M]``."""
    return np.ascontiguousarray(columns.transpose(0, 2, 1))
