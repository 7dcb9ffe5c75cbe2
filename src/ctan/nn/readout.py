"""Readouts: the two-layer networks that turn embeddings into scores."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ctan.errors import unknown_name
from ctan.nn import kernels
from ctan.nn.linear import Linear

#: dst: the destination's embedding alone; pair: source and destination.
READOUTS = ("dst", "pair")

#: Pairs whose hidden layer the plain version holds at once: 2,048 rows of 100 numbers are 0.8 MB.
PAIR_BLOCK = 2048


class Readout(nn.Module):
    r"""A two-layer readout of one node or of a pair.

    .. math::
        \text{dst: } W_2\, \mathrm{relu}(W_d z_{dst}) \qquad
        \text{pair: } W_2\, \mathrm{relu}(W_s z_{src} + W_d z_{dst})

    The first layer is a sum of one map per node, so where many pairs share nodes it is computed
    once per node: :meth:`pairs`.

    Args:
        dim: size of the embeddings.
        outputs: number of scores per pair.
        kind: ``dst`` or ``pair``.
        hidden: units of the hidden layer, ``dim`` if not given (the paper's code halves the grid's
            dimension).

    Example:
        >>> readout = Readout(4, outputs=1, kind="pair")
        >>> readout(torch.zeros(3, 4), torch.zeros(3, 4)).shape
        torch.Size([3, 1])
    """

    def __init__(
        self, dim: int, outputs: int = 1, kind: str = "pair", hidden: int | None = None
    ) -> None:
        super().__init__()
        if kind not in READOUTS:
            raise unknown_name("readout", kind, READOUTS)
        self.dim, self.outputs, self.kind = dim, outputs, kind
        self.hidden = dim if hidden is None else hidden
        self.from_source = Linear(dim, self.hidden) if kind == "pair" else None
        self.from_destination = Linear(dim, self.hidden)
        self.final = nn.Linear(self.hidden, outputs)

    def source(self, z: Tensor) -> Tensor | None:
        """The source's part of the first layer, ``[M, hidden]``; None where it is not read."""
        return None if self.from_source is None else self.from_source(z)

    def destination(self, z: Tensor) -> Tensor:
        """The destination's part of the first layer, ``[M, hidden]``."""
        part: Tensor = self.from_destination(z)
        return part

    def combine(self, source: Tensor | None, destination: Tensor) -> Tensor:
        """Scores ``[P, outputs]`` of pairs from both parts, ``[P, hidden]`` each."""
        hidden = destination if source is None else source + destination
        scores: Tensor = self.final(torch.relu(hidden))
        return scores

    def pairs(self, z: Tensor, src: Tensor, dst: Tensor) -> Tensor:
        """Scores ``[P, outputs]`` of pairs of rows ``src [P]`` and ``dst [P]`` of ``z [M, d]``."""
        if kernels.usable(z, self.final.weight):
            return kernels.score_pairs(z, src, dst, self.weights())
        source, destination = self.source(z), self.destination(z)
        # Without gradients a block of pairs at a time, so that memory does not grow with them.
        size = max(1, len(dst)) if torch.is_grad_enabled() else PAIR_BLOCK
        scores = [
            self.combine(None if source is None else source[i], destination[j])
            for i, j in zip(torch.split(src, size), torch.split(dst, size), strict=True)
        ]
        return torch.cat(scores)

    def weights(self) -> kernels.ReadoutWeights[Tensor]:
        """The weights as the kernels take them."""
        first, final = self.from_destination, self.final
        weights = kernels.ReadoutWeights(final.weight, final.bias, first.weight, first.bias)
        if self.from_source is None:
            return weights
        source = self.from_source
        return weights._replace(source=source.weight, source_bias=source.bias)

    def forward(self, z_src: Tensor, z_dst: Tensor) -> Tensor:
        """Scores ``[P, outputs]`` of pairs of embeddings ``[P, d]``."""
        return self.combine(self.source(z_src), self.destination(z_dst))

    def extra_repr(self) -> str:
        """Settings, for printing."""
        return f"{self.kind!r}, dim={self.dim}, outputs={self.outputs}"
