r"""JODIE: recurrent memories, projected to the time of the question (arXiv 1908.01207)."""

from __future__ import annotations

from ctan.models.base import Dims
from ctan.models.tgn import TGN


class JODIE(TGN):
    r"""JODIE in the form of the paper's comparison: TGN with an RNN and a time projection.

    .. math::
        s_u \leftarrow \mathrm{RNN}([s_u \| s_v \| e_{uv} \| x_u \| x_v \| \cos(w\Delta + b)], s_u)
        \qquad z_u(t) = (1 + w_p \Delta_u(t) + b_p) \odot [s_u \| x_u]

    with :math:`\Delta_u(t)` the standardised time since u's last event. One projection serves
    sources and destinations (JODIE's authors project users only, the paper's code has one for
    each), and it starts with standard deviation :math:`d^{-1/2}`, not 1: elapsed times have long
    tails.

    Args:
        dims: what is known of the stream.
        dim: size of the memories; embeddings carry the node features beside them.
        time_dim: size of the time encoding.

    Example:
        >>> JODIE(Dims(nodes=10), dim=8).sees.hops
        0
    """

    paper = "Kumar et al., Predicting Dynamic Embedding Trajectory, arXiv 1908.01207"
    use = "Users and items that meet again and again, when training must be cheap: no neighbours."

    def __init__(self, dims: Dims, *, dim: int = 100, time_dim: int = 16) -> None:
        super().__init__(dims, dim=dim, cell="rnn", embedding="time", time_dim=time_dim)
