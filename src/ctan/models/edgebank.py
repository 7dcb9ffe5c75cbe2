r"""EdgeBank: an edge that was seen before will be seen again (arXiv 2207.10128)."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from ctan.errors import CtanError, unknown_name
from ctan.models.base import Dims, PairScorer
from ctan.models.contacts import Contacts
from ctan.models.view import Sees, View

#: Which earlier events count; see :class:`EdgeBank`.
MEMORIES = ("infinite", "window", "tw", "quantile", "repeat", "threshold")


class EdgeBank(PairScorer):
    r"""EdgeBank: 1 for a pair that the memory holds, else 0. Nothing is learned.

    .. math::
        s(u, v) = \mathbb{1}[\, t_{uv} \ge t_{start} \,], \qquad t_{uv} \text{ the pair's last
        event before the cut}

    What the memory holds, with ``t`` the time of the question, and ``T`` that of the last event
    before the cut:

    - ``infinite``: every pair that met.
    - ``window``: pairs that met since ``t - ratio * (training time)``: the paper's link tables
      (ratio 0.01 to 1).
    - ``tw``: pairs that met since ``T - ratio * (training time)``: TGB's rule (ratio 0.15).
    - ``quantile``: pairs that met since the ``1 - ratio`` quantile of all times so far
      (``tw-ts`` of the paper's TGB table, ratio 0.15).
    - ``repeat``: pairs that met since ``T`` minus the mean over all pairs of their mean time
      between events (``re``).
    - ``threshold``: pairs that met at least as often as pairs do on average (``th``).

    Args:
        dims: what is known of the stream.
        memory: which earlier events count, as above: ``infinite``, ``window``, ``tw``,
            ``quantile``, ``repeat`` or ``threshold``.
        ratio: share of time that ``window``, ``tw`` and ``quantile`` look back.

    Example:
        >>> EdgeBank(Dims(nodes=3), memory="window", ratio=0.1)
        EdgeBank('window', ratio=0.1)
    """

    paper = (
        "Poursafaei et al., Towards Better Evaluation for Dynamic Link Prediction, arXiv 2207.10128"
    )
    use = "Before any training: a model that does not beat it has learned no more than repetition."

    def __init__(self, dims: Dims, *, memory: str = "infinite", ratio: float = 0.15) -> None:
        super().__init__()
        if memory not in MEMORIES:
            raise unknown_name("memory of EdgeBank", memory, MEMORIES)
        if not 0 < ratio <= 1:
            raise CtanError(f"EdgeBank's ratio is {ratio}: expected a share of time in (0, 1].")
        self.memory, self.ratio = memory, ratio
        self.window = ratio * dims.training_time
        self.sees = Sees(contacts=True)

    def score(self, view: View) -> Tensor:
        """Ones and zeros, ``[P, 1]``."""
        past = view.past
        held = past.met.count > 0
        if self.memory == "threshold":
            held &= past.met.count >= past.mean_count
        elif self.memory != "infinite":
            held &= past.time(past.met.last) >= self._start(past)
        return torch.from_numpy(held).to(view.features.device, torch.get_default_dtype())[:, None]

    def _start(self, past: Contacts) -> NDArray[Any]:
        """Since when a pair must have met, one time or ``[P]``."""
        if self.memory == "window":
            return past.now - self.window
        if self.memory == "tw":
            return past.latest - self.window
        if self.memory == "quantile":
            return past.quantile(1 - self.ratio)
        return past.latest - past.mean_gap

    def extra_repr(self) -> str:
        """Settings, for printing."""
        ratio = f", ratio={self.ratio}" if self.memory in ("window", "tw", "quantile") else ""
        return f"{self.memory!r}{ratio}"
