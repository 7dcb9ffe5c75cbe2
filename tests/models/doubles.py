"""Models made for the tests: a pair encoder, and one model for each way to break the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from ctan.models import Dims, Events, NodeEncoder, PairEncoder, Sees, State, View


@dataclass
class Counts(State):
    """How many events each node has taken part in, ``[N]``."""

    seen: Tensor


class CommonNeighbours(PairEncoder):
    """Embeds a node by whom it recently met together with the other node of its pair."""

    def __init__(self, dims: Dims, *, dim: int = 8, neighbors: int = 4) -> None:
        super().__init__()
        self.dims, self.dim = dims, dim
        self.lift = nn.Linear(3, dim)
        self.sees = Sees(hops=1, neighbors=neighbors)

    def init_state(self, device: torch.device | str = "cpu") -> Counts:
        return Counts(torch.zeros(self.dims.nodes, dtype=torch.int64, device=device))

    def embed_pairs(self, state: State, view: View) -> tuple[Tensor, Tensor]:
        seen = cast(Counts, state).seen
        common = []
        for u, v in zip(view.src.tolist(), view.dst.tolist(), strict=True):
            near = [
                {int(view.nodes[view.hood.slot[w, j]]) for j in range(view.hood.count[w])}
                for w in (u, v)
            ]
            common.append(len(near[0] & near[1]))
        shared = view.features.t.new_tensor(common)
        ends = []
        for own, other in ((view.src, view.dst), (view.dst, view.src)):
            told = [shared, seen[view.node[own]], seen[view.node[other]]]
            ends.append(torch.tanh(self.lift(torch.stack(told, 1).to(self.lift.weight.dtype) / 4)))
        return ends[0], ends[1]

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        seen = cast(Counts, state).seen
        ends = torch.from_numpy(np.concatenate([events.src, events.dst]))
        return Counts(seen.index_add(0, ends, torch.ones_like(ends)))


class Honest(NodeEncoder):
    """Counts a node's events; the models below each add one fault to it."""

    def __init__(self, dims: Dims, *, dim: int = 4) -> None:
        super().__init__()
        self.dims, self.dim = dims, dim
        self.lift = nn.Linear(2, dim)
        self.sees = Sees(hops=1, neighbors=3)

    def init_state(self, device: torch.device | str = "cpu") -> State:
        return Counts(torch.zeros(self.dims.nodes, dtype=torch.int64, device=device))

    def embed(self, state: State, view: View) -> Tensor:
        told = [cast(Counts, state).seen[view.node], view.count]
        return torch.tanh(self.lift(torch.stack(told, 1)[: view.asked] / 5))

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        seen = cast(Counts, state).seen
        touched = torch.from_numpy(events.touched)
        return Counts(seen.index_add(0, touched, torch.ones_like(touched)))


class ReadsTheNextFeatures(Honest):
    """Reads the features of the first event that it may not see."""

    def embed(self, state: State, view: View) -> Tensor:
        z = super().embed(state, view)
        if view.features.msg is None:
            return z
        cut = np.minimum(view.hood.cut[: view.asked], len(view.features.t) - 1)
        return z + view.features.msg[torch.from_numpy(cut)].sum(1, keepdim=True).to(z.dtype)


class ReadsTheNextTime(Honest):
    """Reads how long it is until the next event."""

    def embed(self, state: State, view: View) -> Tensor:
        cut = np.minimum(view.hood.cut[: view.asked], len(view.features.t) - 1)
        wait = view.features.t[torch.from_numpy(cut)] - view.features.t[0]
        return super().embed(state, view) + torch.tanh(wait / 50)[:, None]


class KnowsWhoIsNext(Honest):
    """Tells the endpoints of the coming events from all others."""

    def embed(self, state: State, view: View) -> Tensor:
        coming = torch.zeros(view.asked, 1, dtype=self.lift.weight.dtype)
        coming[view.touched] = 1
        return super().embed(state, view) + coming


class SeesItsBatch(Honest):
    """Lets the other questions of a batch change the answer to each."""

    def embed(self, state: State, view: View) -> Tensor:
        z = super().embed(state, view)
        return z - z.mean(0)


class LearnsWhileAsked(Honest):
    """Writes into the state when it is asked."""

    def embed(self, state: State, view: View) -> Tensor:
        z = super().embed(state, view)
        cast(Counts, state).seen[view.node[: view.asked]] += 1
        return z


class KeepsWhatItEmbedded(Honest):
    """Counts an event twice where it embedded the view before."""

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        state = super().observe(state, events, view, z)
        if z is not None:
            cast(Counts, state).seen[view.node[view.touched]] += 1
        return state


class HidesAMemory(Honest):
    """Remembers beside the state: a reset does not reach it, and saving does not either."""

    hidden = 0

    def embed(self, state: State, view: View) -> Tensor:
        return super().embed(state, view) + self.hidden

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        self.hidden += 1
        return super().observe(state, events, view, z)


class RollsDice(Honest):
    """Draws from a generator that no one has seeded."""

    def __init__(self, dims: Dims, *, dim: int = 4) -> None:
        super().__init__(dims, dim=dim)
        self.luck = float(np.random.default_rng().normal())

    def embed(self, state: State, view: View) -> Tensor:
        return super().embed(state, view) + self.luck


class CarriesDeadWeight(Honest):
    """Has weights that nothing depends on."""

    def __init__(self, dims: Dims, *, dim: int = 4) -> None:
        super().__init__(dims, dim=dim)
        self.unused = nn.Linear(2, 2)


class DividesByZero(Honest):
    """Has a score but no gradient at a state of zero."""

    def embed(self, state: State, view: View) -> Tensor:
        norm = (0 * self.lift.weight.sum()).sqrt()
        return super().embed(state, view) + norm
