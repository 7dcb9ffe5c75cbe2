"""CTAN whose inputs are as faint under ψ = add as under concat.

torch draws weights within ± 1 / sqrt(inputs): P of h + P x, which reads x alone, comes out
sqrt(d + 1) times as large as the part of E in E [h ; x] that reads one feature x beside d states.
Here P is as small as that. This model exists for the benchmark only: importing this file registers
it.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import nn

from ctan.models import CTAN, MODELS, Dims


class FaintCTAN(CTAN):
    """CTAN with ψ = add, and P smaller at the start."""

    def __init__(
        self,
        dims: Dims,
        *,
        dim: int = 100,
        epsilon: float = 0.5,
        gamma: float = 0.1,
        time_dim: int = 16,
        init: str = "default",
    ) -> None:
        super().__init__(
            dims, dim=dim, epsilon=epsilon, gamma=gamma, time_dim=time_dim, psi="add", init=init
        )
        with torch.no_grad():
            cast(nn.Linear, self.initial.encoder).weight.div_((1 + dim) ** 0.5)


MODELS["ctan-faint"] = FaintCTAN
