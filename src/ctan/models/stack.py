"""Layers of graph convolution over temporal neighbours: what TGAT and TGN's embedding share."""

from __future__ import annotations

from typing import cast

from torch import Tensor, nn

from ctan.models.base import Dims
from ctan.models.elapsed import since_edges
from ctan.models.view import View
from ctan.nn import AttentionLayer, FixedTimeEncoding, Incoming, SumLayer, TimeEncoding, convolution


class Stack(nn.Module):
    r"""Unshared layers, each reaching one hop further.

    Edge attributes are :math:`e_{uv} \| \cos(w \Delta + b)`, with :math:`\Delta` the time from
    the edge to a reference: the neighbour's last update, or the time of the question.

    Args:
        dims: what is known of the stream.
        in_dim: size of the states that enter.
        dim: size of a layer's heads.
        layers: number of layers.
        kind: ``attention`` or ``sum``.
        heads: number of heads of an attention layer.
        dropout: share of attention weights dropped while training.
        time_dim: size of the encoding of elapsed times.
    """

    def __init__(
        self,
        dims: Dims,
        in_dim: int,
        dim: int,
        layers: int,
        kind: str,
        heads: int,
        dropout: float,
        time_dim: int,
    ) -> None:
        super().__init__()
        self.dims = dims
        self.layers = nn.ModuleList()
        for _ in range(layers):
            layer = convolution(kind, in_dim, dim, dims.edge_dim + time_dim, heads, dropout)
            self.layers.append(layer)
            in_dim = layer.out_dim
        self.out_dim = in_dim

    def forward(
        self,
        h: Tensor,
        view: View,
        time: TimeEncoding | FixedTimeEncoding,
        last: Tensor | None,
    ) -> Tensor:
        """States of the asked entries, ``[asked, out_dim]``.

        Args:
            h: states of all entries, ``[M, in_dim]``.
            view: what is visible, as many hops as there are layers.
            time: the encoding, one for all layers; it belongs to the model.
            last: time of each entry's last update, ``[M]``; None to count from the time of the
                question.
        """
        if last is not None and isinstance(time, TimeEncoding):
            encoded = time(since_edges(self.dims, view, last, len(view.slot)))
        else:
            reference = view.time[: len(view.slot), None] if last is None else last[view.slot]
            elapsed = (reference - view.edge_time).abs()
            # A fixed encoding has its own scale: it reads the stream's unit.
            fixed = isinstance(time, FixedTimeEncoding)
            encoded = time(elapsed if fixed else self.dims.standardise(elapsed))
        edges = Incoming(
            view.slot,
            view.present,
            view.count,
            encoded,
            table=view.features.msg,
            event=view.event,
        )
        for number, layer in enumerate(self.layers, 1):
            # Layer l is needed only by the entries from which L - l hops lead to the asked ones.
            near = edges.first(view.sizes[-1 - number])
            h = cast(AttentionLayer | SumLayer, layer)(h, near)
        return h
