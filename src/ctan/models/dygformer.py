r"""DyGFormer: a transformer over the histories of both nodes of a pair."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ctan.arrays import IntArray
from ctan.history import Occurrences
from ctan.models.base import Dims, PairEncoder
from ctan.models.batch import Events
from ctan.models.sequences import Sequences, in_parts, on
from ctan.models.state import State
from ctan.models.view import Sees, View
from ctan.nn import CooccurrenceEncoding, TimeEncoding, TransformerBlock
from ctan.nn.linear import Linear

#: Pairs that go through the transformer at once.
PAIRS_AT_ONCE = 256


class DyGFormer(PairEncoder):
    r"""DyGFormer, arXiv 2303.13047.

    The history of a node is the node itself and its latest interactions. Each place has up to four
    channels: the neighbour's features, the event's, :math:`\cos(w(t - t_{uv}) + b)`, and how often
    the neighbour occurs in both histories. Patches of adjacent places are projected to ``dim``
    units a channel, and both histories go through one transformer:

    .. math::
        Z_u = [X_N W_N \,\|\, X_E W_E \,\|\, X_T W_T \,\|\, X_C W_C], \qquad
        H = \mathrm{transformer}([Z_u ; Z_v]), \qquad
        z_u = W\, \mathrm{mean}(H_u) + b

    A channel without features is left out. Patches that hold nothing are neither attended to nor
    averaged, so a pair's score does not depend on the lengths of the histories in its batch.

    Args:
        dims: what is known of the stream.
        dim: size of each channel and of the embeddings.
        layers: transformer blocks.
        heads: attention heads.
        patch: places in a patch.
        dropout: inside the transformer.
        time_dim: size of the time encoding.
        neighbors: how many interactions a history holds (31 to 511 in its own paper).

    Example:
        >>> DyGFormer(Dims(nodes=10, edge_dim=3), dim=8).width  # event, time, co-occurrence
        24
    """

    paper = "Yu et al., Towards Better Dynamic Graph Learning, arXiv 2303.13047"
    use = (
        "Pairs that share neighbours or meet again: it reads both histories side by side. "
        "Costs grow with pairs times history, so many candidates are dear."
    )

    stateful = False

    def __init__(
        self,
        dims: Dims,
        *,
        dim: int = 50,
        layers: int = 2,
        heads: int = 2,
        patch: int = 1,
        dropout: float = 0.1,
        time_dim: int = 16,
        neighbors: int = 5,
    ) -> None:
        super().__init__()
        self.dims, self.dim, self.patch = dims, dim, patch
        self.time = TimeEncoding(time_dim)
        self.node = Linear(patch * dims.node_dim, dim) if dims.node_dim else None
        self.event = Linear(patch * dims.edge_dim, dim) if dims.edge_dim else None
        self.elapsed = Linear(patch * time_dim, dim)
        self.cooccurrence = CooccurrenceEncoding(dim, patch)
        self.width = dim * (2 + (self.node is not None) + (self.event is not None))
        self.blocks = nn.ModuleList(
            TransformerBlock(self.width, heads, dropout) for _ in range(layers)
        )
        self.out = Linear(self.width, dim)
        self.sees = Sees(hops=1, neighbors=neighbors, query_time=True)

    def init_state(self, device: torch.device | str = "cpu") -> State:
        """Nothing to remember."""
        return State()

    def embed_pairs(self, state: State, view: View) -> tuple[Tensor, Tensor]:
        """Embeddings of the asked sources and destinations, ``[P, d]`` each."""
        device = view.features.device

        def embed(entries: IntArray, src: IntArray, dst: IntArray) -> tuple[Tensor, Tensor]:
            sequences = Sequences.of(view, entries)
            # What depends on one node alone is worked out once for each, before pairs are formed.
            channels, filled = self.channels(sequences)
            places = sequences.node.shape[1]
            there = np.arange(places) < sequences.count[:, None]
            seen = Occurrences.of(sequences.node, there, np.ones(places, np.int64))
            own, spare = seen.own(), filled.size(1) * self.patch - places

            def tokens(rows: IntArray, others: IntArray) -> Tensor:
                counts = np.stack([own[rows], seen.across(rows, others)], axis=-1)
                counts = np.pad(counts, ((0, 0), (0, spare), (0, 0)))
                shared = self.cooccurrence(on(counts, device), most=places)
                return torch.cat([channels.index_select(0, on(rows, device)), shared], dim=-1)

            h = torch.cat([tokens(src, dst), tokens(dst, src)], dim=1)
            present = torch.cat([filled[on(src, device)], filled[on(dst, device)]], dim=1)
            for layer in self.blocks:
                block = cast(TransformerBlock, layer)
                h = block(h, block.remember(h), present)
            weight = present.to(h.dtype)[..., None]
            z_src, z_dst = (
                self.out((part * share).sum(1) / share.sum(1))
                for part, share in zip(h.chunk(2, dim=1), weight.chunk(2, dim=1), strict=True)
            )
            return z_src, z_dst

        return in_parts(embed, view.pairs, PAIRS_AT_ONCE)

    def channels(self, sequences: Sequences) -> tuple[Tensor, Tensor]:
        """The channels of single nodes ``[A, L, width - dim]``, and which patches hold any."""
        present = sequences.present[..., None]
        elapsed = self.time(self.dims.standardise(sequences.elapsed)) * present
        told = [
            linear(self.patches(given))
            for linear, given in (
                (self.node, sequences.x),
                (self.event, sequences.msg),
                (self.elapsed, elapsed),
            )
            if linear is not None and given is not None
        ]
        return torch.cat(told, dim=-1), self.patches(present).any(-1)

    def patches(self, places: Tensor) -> Tensor:
        """Put adjacent places side by side: ``[A, S, c]`` to ``[A, L, patch * c]``."""
        spare = -places.size(1) % self.patch
        whole = F.pad(places, (0, 0, 0, spare))
        return whole.reshape(len(whole), -1, self.patch * whole.size(2))

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """Nothing to remember: the index knows the events."""
        return state
