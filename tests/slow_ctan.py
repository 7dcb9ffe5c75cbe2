"""CTAN as section 3 of the paper reads: one node at a time, dictionaries, nothing clever."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from ctan.events import EventStream
from ctan.history import Batch
from ctan.models import CTAN
from ctan.nn import Attention, NormalisedSum, Readout

Pairs = list[tuple[int, int]]


class SlowCTAN:
    """The state of every node, and how an event changes it (Euler's method, recent neighbours)."""

    def __init__(self, model: CTAN, readout: Readout, stream: EventStream) -> None:
        self.model, self.readout, self.stream = model, readout, stream
        self.h: dict[int, Tensor] = {}
        self.last: dict[int, float] = {}
        self.reset()
        self.known: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def reset(self) -> None:
        zero = torch.zeros(self.model.dim)
        self.h = dict.fromkeys(range(self.stream.num_nodes), zero)
        self.last = dict.fromkeys(self.h, self.stream.t[0].item())

    # What a node sees.

    def neighbours(self, u: int, cut: int) -> list[tuple[int, int]]:
        """(neighbour, event) of the last k events of u at positions below the cut."""
        if (u, cut) in self.known:
            return self.known[u, cut]
        met = []
        for e in reversed(range(cut)):
            ends = int(self.stream.src[e]), int(self.stream.dst[e])
            if u in ends:
                met.append((ends[0] if ends[1] == u else ends[1], e))
        self.known[u, cut] = met[: self.model.sees.neighbors]
        return self.known[u, cut]

    def ball(self, u: int, cut: int) -> set[int]:
        """The nodes within L hops of u along those lists."""
        inside = {u}
        for _ in range(self.model.steps):
            inside |= {v for w in inside for v, _ in self.neighbours(w, cut)}
        return inside

    # What it makes of it.

    def encode(self, delta: float) -> Tensor:
        dims = self.model.dims
        scaled = (delta - dims.elapsed_mean) / dims.elapsed_std
        linear = self.model.time.linear
        return torch.cos(linear.weight[:, 0] * scaled + linear.bias)

    def edges(self, u: int, cut: int, now: float) -> list[tuple[int, Tensor]]:
        """(neighbour, attributes) of u, itself included where the equation says so."""
        model, t = self.model, self.stream.t
        near = self.neighbours(u, cut)
        found = []
        for v, e in near:
            since = now if model.query_time else self.last[v]
            parts = [self.encode(abs(since - t[e].item()))]
            if self.stream.msg is not None:
                parts.insert(0, torch.from_numpy(self.stream.msg[e]).to(parts[0].dtype))
            found.append((v, torch.cat(parts)))
        if model.include_self:
            latest = t[near[0][1]].item() if near else self.last[u]
            since = now if model.query_time else latest
            encoded = self.encode(abs(since - self.last[u]))
            found.append((u, torch.cat([encoded.new_zeros(model.dims.edge_dim), encoded])))
        return found

    def initial(self, u: int, sees_x: bool) -> Tensor:
        """psi(h_u, x_u), x being zero where it does not enter."""
        psi, h = self.model.initial, self.h[u]
        if self.stream.x is None:
            x = h.new_zeros(0)
        else:
            x = torch.from_numpy(self.stream.x[u]).to(h.dtype) * sees_x
        if psi.kind == "concat":
            return psi.encoder.weight @ torch.cat([h, x]) + psi.encoder.bias
        if psi.kind == "tanh_concat":
            return psi.encoder.weight @ torch.tanh(torch.cat([h, x])) + psi.encoder.bias
        if len(x) == 0:
            entering = torch.zeros_like(h)
        else:
            entering = x if len(x) == len(h) else psi.encoder.weight @ x
        return h + entering if psi.kind == "add" else entering

    def embed(self, u: int, cut: int, now: float, entered: Callable[[int, bool], bool]) -> Tensor:
        """h_u after L steps; `entered(v, own)`: does x of v enter, v being u itself or another?"""
        model = self.model
        everywhere = model.inject == "frontier"
        known: dict[tuple[int, int, bool], Tensor] = {}

        def after(steps: int, v: int, own: bool) -> Tensor:
            key = steps, v, own
            if key not in known and steps == 0:
                known[key] = self.initial(v, everywhere or entered(v, own))
            elif key not in known:
                layer = model.layers[(steps - 1) % len(model.layers)]
                before = after(steps - 1, v, own)
                met = []
                for w, attr in self.edges(v, cut, now):
                    itself = model.include_self and len(met) == len(self.neighbours(v, cut))
                    met.append((w, after(steps - 1, w, own if itself else False), attr))
                counts = [self.count(w, cut) for w, _, _ in met]
                phi = aggregate(layer.phi, before, met, self.count(v, cut), counts)
                skew = layer.weight - layer.weight.T - layer.gamma * torch.eye(model.dim)
                known[key] = before + layer.epsilon * layer.act(skew @ before + phi + layer.bias)
            return known[key]

        z = after(model.steps, u, True)
        return torch.tanh(z) if model.final_act else z

    def count(self, u: int, cut: int) -> int:
        return len(self.neighbours(u, cut)) + self.model.include_self

    # What it remembers and says.

    def score(self, z_src: Tensor, z_dst: Tensor) -> Tensor:
        read = self.readout
        hidden = read.from_destination.weight @ z_dst + read.from_destination.bias
        if read.from_source is not None:
            hidden = hidden + read.from_source.weight @ z_src + read.from_source.bias
        return read.final.weight @ torch.relu(hidden) + read.final.bias

    def play(
        self,
        batch: Batch,
        asked: list[Pairs],
        observe_first: bool,
        observed: bool,
        storing: AbstractContextManager[Any] | None = None,
    ) -> list[Tensor]:
        """The scores of what is asked of each event of a batch; the state moves on.

        What is stored is computed within `storing` (with gradients, or without).
        """
        events = [int(e) for e in batch.events]
        cut, after = (
            {e: int(c) if isinstance(c, int) else int(c[i]) for i, e in enumerate(events)}
            for c in (batch.cut, batch.after)
        )
        t = {e: self.stream.t[e].item() for e in events}
        if observe_first:
            self.observe(after, t, lambda touched: lambda v, own: v in touched)
            return [
                self.score(self.h[u], self.h[v])
                for e, pairs in zip(events, asked, strict=True)
                for u, v in pairs
            ]

        def alone(v: int, own: bool) -> bool:
            return own

        scores = []
        for e, pairs in zip(events, asked, strict=True):
            for u, v in pairs:
                z = [self.embed(node, cut[e], t[e], alone) for node in (u, v)]
                scores.append(self.score(*z))
        with storing or nullcontext():
            if observed:
                self.observe(after, t, lambda touched: lambda v, own: v in touched)
            elif self.model.update == "ball":
                self.observe(cut, t, lambda touched: lambda v, own: v in touched)
            else:
                self.observe(cut, t, lambda touched: alone)
        return scores

    def observe(
        self,
        cuts: dict[int, int],
        t: dict[int, float],
        entering: Callable[[set[int]], Callable[[int, bool], bool]],
    ) -> None:
        """Store the embeddings of the endpoints (or of the balls round them), all at once."""
        latest = {}
        for e in cuts:
            latest[int(self.stream.src[e])] = latest[int(self.stream.dst[e])] = e
        solved_at = {}
        if self.model.update == "ball":
            for u, e in sorted(latest.items(), key=lambda item: item[1]):
                solved_at.update(dict.fromkeys(self.ball(u, cuts[e]), e))
        solved_at.update(latest)
        entered = entering(set(latest))
        self.h.update({u: self.embed(u, cuts[e], t[e], entered) for u, e in solved_at.items()})
        self.last.update({u: t[e] for u, e in latest.items()})

    def detach(self) -> None:
        self.h = {u: h.detach() for u, h in self.h.items()}


def aggregate(
    phi: torch.nn.Module,
    own: Tensor,
    met: list[tuple[int, Tensor, Tensor]],
    own_count: int,
    counts: list[int],
) -> Tensor:
    """The sum over the neighbours that each aggregation is."""
    total = torch.zeros_like(own)
    if not met:
        return total
    if isinstance(phi, Attention):
        size = len(own) // phi.heads
        heads = []
        for head in range(phi.heads):
            rows = slice(head * size, (head + 1) * size)
            query = (phi.query.weight @ own + phi.query.bias)[rows]
            said, scores = [], []
            for _, h, attr in met:
                edge = (phi.edge.weight @ attr)[rows]
                key = (phi.key.weight @ h + phi.key.bias)[rows] + edge
                scores.append(query @ key / math.sqrt(size))
                said.append((phi.value.weight @ h + phi.value.bias)[rows] + edge)
            alpha = torch.softmax(torch.stack(scores), 0)
            heads.append(sum(a * value for a, value in zip(alpha, said, strict=True)))
        return torch.cat(heads)
    for (_, h, attr), count in zip(met, counts, strict=True):
        share = 1 / len(met)
        if isinstance(phi, NormalisedSum):
            share = 1 / math.sqrt(own_count * count) if count else 0.0
        total = total + share * (phi.value.weight @ h + phi.edge.weight @ attr)
    return total
