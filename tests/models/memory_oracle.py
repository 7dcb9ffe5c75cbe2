"""The memory of TGN twice more: by PyG, and word for word in Python loops."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch_geometric.nn import TransformerConv
from torch_geometric.nn.models.tgn import IdentityMessage, TGNMemory

from ctan.events import EventStream
from ctan.history import TemporalIndex, chronological
from ctan.models import Asked, Dims, Events, Features, Model, View, look


def stream(
    seed: int,
    *,
    events: int = 60,
    nodes: int = 14,
    ties: bool = True,
    loops: bool = True,
    node_dim: int = 0,
    edge_dim: int = 3,
) -> EventStream:
    """Nodes meet several times within a batch and change roles; the last node meets no one.

    Without ties, no node has two events of one time; others still do.
    """
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, nodes - 1, (2, events))
    if not loops:
        dst = np.where(dst == src, (src + 1) % (nodes - 1), dst)
    gaps, busy = rng.integers(0, 3, events), set()
    for e, ends in enumerate(zip(src.tolist(), dst.tolist(), strict=True)):
        if not ties and busy & set(ends):
            gaps[e] = max(gaps[e], 1)
        busy = set(ends) if gaps[e] else busy | set(ends)
    return EventStream.from_arrays(
        src=src,
        dst=dst,
        t=np.cumsum(gaps),
        msg=rng.normal(size=(events, edge_dim)).astype(np.float32) if edge_dim else None,
        x=rng.normal(size=(nodes, node_dim)).astype(np.float32) if node_dim else None,
        num_nodes=nodes,
    )


def dims_of(stream: EventStream) -> Dims:
    """PyG's memory starts at time 0 and does not standardise: nor does ours here."""
    return Dims(nodes=stream.num_nodes, edge_dim=stream.edge_dim, node_dim=stream.node_dim, start=0)


def walk(stream: EventStream, model: Model, size: int) -> Iterator[tuple[Events, View]]:
    """Batch after batch, every node is asked about before the events are observed."""
    index, features = TemporalIndex.build(stream), Features.of(stream)
    nodes = np.arange(stream.num_nodes)
    for batch in chronological(0, len(stream), size):
        events = Events.of(stream, batch.events)
        asked = Asked(nodes, nodes[::-1].copy(), np.full(len(nodes), len(batch) - 1))
        yield events, look(index, features, model.sees, batch, events, asked)


class MendedMemory(TGNMemory):
    """PyG's memory with its two faults mended, see the tests of the faults in ``test_tgn.py``."""

    def update_state(self, src: Tensor, dst: Tensor, t: Tensor, raw_msg: Tensor) -> None:
        touched = torch.cat([src, dst]).unique()
        self._update_memory(touched)
        # A node's older messages in its other role are answered, too.
        nothing = src[:0], dst[:0], t[:0], raw_msg[:0]
        for node in touched.tolist():
            self.msg_s_store[node] = self.msg_d_store[node] = nothing
        self._update_msg_store(src, dst, t, raw_msg, self.msg_s_store)
        self._update_msg_store(dst, src, t, raw_msg, self.msg_d_store)

    def _get_updated_memory(self, n_id: Tensor) -> tuple[Tensor, Tensor]:
        memory, last_update = super()._get_updated_memory(n_id)
        # A node that was told nothing stays as it is.
        stores = self.msg_s_store, self.msg_d_store
        told = torch.tensor([any(len(store[n][0]) for store in stores) for n in n_id.tolist()])
        return (
            torch.where(told.unsqueeze(1), memory, self.memory[n_id]),
            torch.where(told, last_update, self.last_update[n_id]),
        )


def pyg_memory(
    stream: EventStream, dim: int, time_dim: int, aggregator: torch.nn.Module, kind=MendedMemory
) -> TGNMemory:
    message = IdentityMessage(stream.edge_dim, dim, time_dim)
    return kind(stream.num_nodes, stream.edge_dim, dim, time_dim, message, aggregator)


def tell(memory: TGNMemory, stream: EventStream, events: Events) -> None:
    """Let PyG's memory know the events of a batch."""
    columns = (events.src, events.dst, stream.t[events.position])
    msg = torch.from_numpy(stream.msg[events.position]).to(memory.memory.dtype)
    memory.update_state(*(torch.from_numpy(column) for column in columns), msg)


def memory_twins(ours, theirs: TGNMemory) -> list[tuple[Tensor, Tensor]]:
    """Weights of our memory beside those of PyG's, which are copied to ours."""
    twins = [
        (ours.cell.time.linear.weight, theirs.time_enc.lin.weight),
        (ours.cell.time.linear.bias, theirs.time_enc.lin.bias),
        *((getattr(ours.cell.cell, name), p) for name, p in theirs.gru.named_parameters()),
    ]
    return copied(twins)


def conv_twins(phi, own, conv: TransformerConv) -> list[tuple[Tensor, Tensor]]:
    """The same for a layer of graph convolution."""
    pairs = [(phi.query, conv.lin_query), (phi.key, conv.lin_key), (phi.value, conv.lin_value)]
    pairs += [(own, conv.lin_skip)]
    twins = [(phi.edge.weight, conv.lin_edge.weight)] if phi.edge is not None else []
    for a, b in pairs:
        twins += [(a.weight, b.weight), (a.bias, b.bias)]
    return copied(twins)


@torch.no_grad()
def copied(twins: list[tuple[Tensor, Tensor]]) -> list[tuple[Tensor, Tensor]]:
    for ours, theirs in twins:
        ours.copy_(theirs)
    return twins


def edges_of(view: View) -> tuple[Tensor, Tensor]:
    """The view's edges as PyG has them, ``[2, n]``, and the place of each among the slots."""
    target, column = view.present.nonzero(as_tuple=True)
    return torch.stack([view.slot[target, column], target]), torch.stack([target, column])


def assert_same_gradients(ours: Tensor, theirs: Tensor, twins: list[tuple[Tensor, Tensor]]) -> None:
    """Of both sums with the same random weights."""
    weigh = torch.linspace(-1, 1, ours.numel()).view_as(ours)
    own = torch.autograd.grad(
        (ours * weigh).sum(), [a for a, _ in twins], allow_unused=True, materialize_grads=True
    )
    other = torch.autograd.grad(
        (theirs * weigh).sum(), [b for _, b in twins], allow_unused=True, materialize_grads=True
    )
    for mine, reference in zip(own, other, strict=True):
        torch.testing.assert_close(mine, reference)


class LiteralMemory:
    """One node, one event at a time: a dictionary of memories and lists of messages.

    ``other(oracle, node, partner, event)`` is what a message says of the partner.
    """

    def __init__(self, memory, stream: EventStream, other=None) -> None:
        self.module, self.stream, self.other = memory, stream, other or self.memory_of
        zero = torch.zeros(memory.dim)
        self.memory = dict.fromkeys(range(stream.num_nodes), zero)
        self.last = dict.fromkeys(range(stream.num_nodes), 0)
        self.waiting: dict[int, list[tuple[int, int]]] = {}

    def memory_of(self, node: int, partner: int, event: int) -> Tensor:
        return self.memory[partner]

    def read(self, node: int) -> tuple[Tensor, int]:
        """Memory and last update time once the waiting messages are applied."""
        if node not in self.waiting:
            return self.memory[node], self.last[node]
        told = [self.message(node, partner, event) for partner, event in self.waiting[node]]
        message = told[-1] if self.module.aggregator == "last" else sum(told) / len(told)
        update = self.module.cell.cell(message.unsqueeze(0), self.memory[node].unsqueeze(0))
        return update[0], int(self.stream.t[self.waiting[node][-1][1]])

    def message(self, node: int, partner: int, event: int) -> Tensor:
        cell, stream = self.module.cell, self.stream
        elapsed = torch.tensor([float(stream.t[event] - self.last[node])])
        parts = [self.memory[node]] if cell.tell_own else []
        parts.append(self.other(node, partner, event))
        if stream.msg is not None:
            parts.append(torch.tensor(stream.msg[event].astype(float)))
        if stream.x is not None:
            parts += [torch.tensor(stream.x[n].astype(float)) for n in (node, partner)]
        parts.append(elapsed if cell.time is None else torch.cos(cell.time.linear(elapsed)))
        told = torch.cat(parts)
        return told if cell.mlp is None else cell.mlp(told)

    def observe(self, events: Events) -> None:
        touched = events.touched.tolist()
        after = {node: self.read(node) for node in touched}
        for node in touched:
            self.memory[node], self.last[node] = after[node]
            self.waiting[node] = []
        for event, u, v in zip(events.position, events.src, events.dst, strict=True):
            for node, partner in {int(u): int(v), int(v): int(u)}.items():
                self.waiting[node].append((partner, int(event)))

    def detach(self) -> None:
        self.memory = {node: memory.detach() for node, memory in self.memory.items()}
