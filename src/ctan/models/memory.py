"""The memory of TGN, JODIE and DyRep: messages wait, and are applied when a node is next read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from ctan.arrays import IntArray
from ctan.errors import unknown_name
from ctan.models.base import Dims
from ctan.models.batch import Events
from ctan.models.features import Features
from ctan.models.state import Rows, State
from ctan.models.view import View
from ctan.nn.memory import MemoryCell, Message

#: last: of the messages that wait, only the latest counts; mean: their mean.
AGGREGATORS = ("last", "mean")


@dataclass
class MemoryState(State):
    """What a model with a message memory remembers.

    The messages that wait stand in a box: those of node u in ``start[u] : start[u] + count[u]``,
    in stream order. They all come from one batch, the last that touched u.

    Attributes:
        memory: the node memories, ``[N, d]``.
        last_update: time of the latest event that each memory knows, ``[N]``.
        event: positions of the events in the box, on the CPU like all that follows.
        partner: the other endpoints of those events.
        start: where a node's messages start, ``[N]``.
        count: how many of them wait, ``[N]``.
        used: how much of the box is taken, ``[1]``.
    """

    memory: Rows
    last_update: Tensor
    event: Tensor
    partner: Tensor
    start: Tensor
    count: Tensor
    used: Tensor

    def forget(self, nodes: IntArray, start: Self) -> Self:
        """``nodes [M]`` start anew: an empty memory, and no message that waits."""
        at = torch.from_numpy(nodes)
        self.memory = self.memory.write(nodes, start.memory.read(nodes).detach())
        on = at.to(self.last_update.device, non_blocking=True)
        self.last_update[on] = start.last_update[on]
        self.count[at] = 0
        return self

    def waiting(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Number of messages of each of ``nodes [M]``, and the places in the box of them all."""
        count = self.count.numpy()[nodes]
        return count, spans(self.start.numpy()[nodes], count)

    def load(self, tensors: dict[str, Tensor]) -> Self:
        """Take over values that :meth:`tensors` gave; the box may have any size."""
        for name in ("event", "partner"):
            if name in tensors:
                setattr(self, name, torch.empty_like(tensors[name]))
        return super().load(tensors)


class NodeMemory(nn.Module):
    """The memory module of TGN: who is told what, when it counts, and what is known then.

    The rule is that of PyG's ``TGNMemory`` in training, in evaluation too: an event waits until one
    of its endpoints is read or takes part in another. Then the endpoint's message is made, with
    the memories of both as they stand at that moment, and applied with gradient; a memory is
    stored when its node takes part in the next event. A node that met no one stays at zero.

    Args:
        dims: what is known of the stream.
        cell: message and update.
        dim: size of the memories.
        aggregator: ``last`` or ``mean`` of the messages that wait.
    """

    def __init__(self, dims: Dims, cell: MemoryCell, dim: int, aggregator: str = "last") -> None:
        super().__init__()
        if aggregator not in AGGREGATORS:
            raise unknown_name("message aggregator", aggregator, AGGREGATORS)
        self.dims, self.cell, self.dim, self.aggregator = dims, cell, dim, aggregator

    def start(self, device: torch.device | str) -> MemoryState:
        """All memories zero, nothing waiting."""
        nodes = self.dims.nodes
        time = torch.float64 if isinstance(self.dims.start, float) else torch.int64
        return MemoryState(
            memory=Rows(torch.zeros(nodes, self.dim, device=device)),
            last_update=torch.full((nodes,), self.dims.start, dtype=time, device=device),
            # One place per node is all that `last` needs; `mean` makes its box as it goes.
            event=torch.zeros(nodes if self.aggregator == "last" else 0, dtype=torch.int64),
            partner=torch.zeros(nodes if self.aggregator == "last" else 0, dtype=torch.int64),
            start=torch.arange(nodes),
            count=torch.zeros(nodes, dtype=torch.int64),
            used=torch.zeros(1, dtype=torch.int64),
        )

    def read(
        self, state: MemoryState, nodes: IntArray, features: Features
    ) -> tuple[Tensor, Tensor]:
        """Memories ``[M, d]`` and last update times ``[M]``, the waiting messages applied.

        Pure: the state stays as it is. Gradients reach the cell, which is how a memory is trained
        although it is stored without gradient.
        """
        own, last = state.memory.read(nodes), state.last_update[_on(nodes, features.device)]
        count, place = state.waiting(nodes)
        if len(place) == 0:
            return own, last
        told, row = np.flatnonzero(count), _on(np.repeat(np.arange(len(nodes)), count), own.device)
        owner = np.repeat(nodes, count)
        position = state.event.numpy()[place]
        event = _on(position, own.device)
        partner = state.partner.numpy()[place]
        t = features.t[event]
        message = self.cell.message(
            Message(
                own=own[row],
                other=self.other(state, owner, partner, features),
                elapsed=self.dims.standardise((t - last[row]).abs()),
                msg=None if features.msg is None else features.msg[event].to(own.dtype),
                # As they stood once the event had happened.
                x_own=_features(features, owner, position + 1, own.dtype),
                x_other=_features(features, partner, position + 1, own.dtype),
            )
        )
        if len(place) > len(told):
            lengths = count[told]
            on = _on(lengths, own.device)
            message = [torch.segment_reduce(part, "mean", lengths=on) for part in message]
            t = t[_on(np.cumsum(lengths) - 1, own.device)]
        at = _on(told, own.device)
        return (
            own.index_copy(0, at, self.cell(message, own[at])),
            last.index_copy(0, at, t),
        )

    def read_view(self, state: MemoryState, view: View, entries: int) -> tuple[Tensor, Tensor]:
        """:meth:`read` of the first entries of a view, kept for who observes the same view."""
        memory, last = self.read(state, view.nodes[:entries], view.features)
        view.known["memory"] = memory, last
        return memory, last

    def observe(
        self, state: MemoryState, events: Events, view: View, embedded: bool = False
    ) -> MemoryState:
        """Store what waited at the events' endpoints, then let the events wait.

        Args:
            state: what is remembered.
            events: what happened.
            view: what is visible.
            embedded: whether :meth:`read_view` has read this view, and the same state, already.
        """
        if embedded and "memory" in view.known:
            memory, last = (part.index_select(0, view.touched) for part in view.known["memory"])
        else:
            memory, last = self.read(state, events.touched, view.features)
        state.last_update[_on(events.touched, view.features.device)] = last
        if self.aggregator == "last":
            state.event.numpy()[events.touched] = events.latest
            state.partner.numpy()[events.touched] = events.partner
            state.count.numpy()[events.touched] = 1
        else:
            _put_all(state, events)
        state.memory = state.memory.write(events.touched, memory)
        return state

    def other(
        self, state: MemoryState, owner: IntArray, partner: IntArray, features: Features
    ) -> Tensor:
        """What the messages of ``owner [B]`` say of ``partner [B]``: its memory, ``[B, d]``."""
        return state.memory.read(partner)

    def extra_repr(self) -> str:
        """Settings, for printing."""
        return f"dim={self.dim}, aggregator={self.aggregator!r}"


def spans(start: IntArray, count: IntArray) -> IntArray:
    """The numbers of all ranges ``start : start + count``, one range after the other.

    Example:
        >>> spans(np.array([7, 0, 3]), np.array([2, 0, 3])).tolist()
        [7, 8, 3, 4, 5]
    """
    before = np.cumsum(count) - count
    return np.repeat(start - before, count) + np.arange(count.sum())


def _put_all(state: MemoryState, events: Events) -> None:
    """Put every event into the box for each of its endpoints (once for a self-loop)."""
    loop = events.src == events.dst
    owner = np.concatenate([events.src, events.dst[~loop]])
    partner = np.concatenate([events.dst, events.src[~loop]])
    event = np.concatenate([events.position, events.position[~loop]])
    order = np.lexsort((event, owner))

    count, start = state.count.numpy(), state.start.numpy()
    count[events.touched] = 0
    end = int(state.used)
    if end + len(order) > len(state.event):
        # Close the gaps that answered messages have left, and make room for as many again: a copy
        # is paid for by the messages that came since the last one.
        kept = spans(start, count)
        end = len(kept)
        start[:] = np.cumsum(count) - count
        for name in ("event", "partner"):
            box = torch.zeros(2 * (end + len(order)), dtype=torch.int64)
            box.numpy()[:end] = getattr(state, name).numpy()[kept]
            setattr(state, name, box)
    state.event.numpy()[end : end + len(order)] = event[order]
    state.partner.numpy()[end : end + len(order)] = partner[order]
    told = np.bincount(np.searchsorted(events.touched, owner), minlength=len(events.touched))
    start[events.touched] = end + np.cumsum(told) - told
    count[events.touched] = told
    state.used.fill_(end + len(order))


def _features(
    features: Features, nodes: IntArray, cut: IntArray, dtype: torch.dtype
) -> Tensor | None:
    if features.x is None:
        return None
    return features.x[_on(features.rows(nodes, cut), features.device)].to(dtype)


def _on(array: IntArray, device: torch.device) -> Tensor:
    return torch.from_numpy(array).to(device, non_blocking=True)
