"""CTAN whose readout sees embeddings with dropout: a regulariser for starts that memorise.

What is stored is left whole, so the signal's path is the same in training and afterwards. This
model exists for the benchmark only: importing this file registers it.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from ctan.models import CTAN, MODELS, Dims, State, View


class DroppedCTAN(CTAN):
    """CTAN; a share of the numbers that the readout is given is dropped while training."""

    def __init__(
        self,
        dims: Dims,
        *,
        dim: int = 100,
        epsilon: float = 0.5,
        gamma: float = 0.1,
        time_dim: int = 16,
        psi: str = "concat",
        init: str = "default",
        dropout: float = 0.1,
    ) -> None:
        super().__init__(
            dims, dim=dim, epsilon=epsilon, gamma=gamma, time_dim=time_dim, psi=psi, init=init
        )
        self.dropout = dropout

    def recall(self, state: State, view: View) -> Tensor:
        return F.dropout(super().recall(state, view), self.dropout, self.training)


MODELS["ctan-dropout"] = DroppedCTAN
