r"""TCL: two streams of transformer layers, one for each node of a pair, and a look across."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from ctan.arrays import IntArray
from ctan.models.base import Dims, PairEncoder
from ctan.models.batch import Events
from ctan.models.sequences import Sequences, in_parts, on
from ctan.models.state import State
from ctan.models.view import Sees, View
from ctan.nn import TimeEncoding, TransformerBlock
from ctan.nn.linear import Linear

#: Pairs embedded at once.
PAIRS_AT_ONCE = 2048


class TCL(PairEncoder):
    r"""TCL, arXiv 2105.07944.

    A stream is a node and its latest neighbours, most recent first; its tokens pass through
    self-attention, and then the node itself attends to the other stream:

    .. math::
        H^0_u &= W [x_v \,\|\, e_{uv} \,\|\, \cos(w (t - t_{uv}) + b)] + E_{place}, \qquad
        H^\ell_u = \mathrm{block}_\ell(H^{\ell-1}_u, H^{\ell-1}_u) \\
        z_u &= W_o\, \mathrm{cross}(H^L_u[0],\, H^L_v)

    In the form that DyGLib and TGB's leaderboard compare: one hop, an embedding of the place, and
    the task's own loss instead of the contrastive one. There the look across shares the weights of
    the last layer; here it has its own, as in the paper. Streams are computed once for each node,
    so only the look across costs anything per pair.

    Args:
        dims: what is known of the stream.
        dim: size of the tokens and embeddings.
        layers: self-attention layers of each stream.
        heads: attention heads.
        dropout: inside the transformer.
        time_dim: size of the time encoding.
        neighbors: how many neighbours a stream holds.

    Example:
        >>> TCL(Dims(nodes=10), dim=8).sees.hops
        1
    """

    paper = "Wang et al., TCL: Transformer-based Dynamic Graph Modelling, arXiv 2105.07944"
    use = (
        "Ranking of many candidates by a transformer: nearly all of its work is done once for each "
        "node. Sees one hop."
    )

    stateful = False

    def __init__(
        self,
        dims: Dims,
        *,
        dim: int = 100,
        layers: int = 2,
        heads: int = 2,
        dropout: float = 0.1,
        time_dim: int = 16,
        neighbors: int = 20,
    ) -> None:
        super().__init__()
        self.dims, self.dim = dims, dim
        self.time = TimeEncoding(time_dim)
        self.token = Linear(dims.node_dim + dims.edge_dim + time_dim, dim)
        self.place = nn.Embedding(neighbors + 1, dim)
        self.blocks = nn.ModuleList(TransformerBlock(dim, heads, dropout) for _ in range(layers))
        self.cross = TransformerBlock(dim, heads, dropout)
        self.out = Linear(dim, dim)
        self.sees = Sees(hops=1, neighbors=neighbors, query_time=True)

    def init_state(self, device: torch.device | str = "cpu") -> State:
        """Nothing to remember."""
        return State()

    def embed_pairs(self, state: State, view: View) -> tuple[Tensor, Tensor]:
        """Embeddings of the asked sources and destinations, ``[P, d]`` each."""
        device = view.features.device

        def embed(entries: IntArray, src: IntArray, dst: IntArray) -> tuple[Tensor, Tensor]:
            sequences = Sequences.of(view, entries)
            h = self.streams(sequences)
            own = on(np.concatenate([src, dst]), device)
            other = on(np.concatenate([dst, src]), device)
            keys, values = self.cross.remember(h)
            memory = keys.index_select(0, other), values.index_select(0, other)
            present = sequences.present.index_select(0, other)
            z = self.cross(h[:, :1].index_select(0, own), memory, present)
            z_src, z_dst = self.out(z[:, 0]).chunk(2)
            return z_src, z_dst

        return in_parts(embed, view.pairs, PAIRS_AT_ONCE)

    def streams(self, sequences: Sequences) -> Tensor:
        """The tokens of each sequence after self-attention, ``[A, S, d]``."""
        told = [self.time(self.dims.standardise(sequences.elapsed))]
        told += [given for given in (sequences.x, sequences.msg) if given is not None]
        places = sequences.present.size(1)
        h: Tensor = self.token(torch.cat(told, dim=-1)) + self.place.weight[:places]
        for layer in self.blocks:
            block = cast(TransformerBlock, layer)
            h = block(h, block.remember(h), sequences.present)
        return h

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """Nothing to remember: the index knows the events."""
        return state
