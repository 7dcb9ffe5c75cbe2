"""The matrix products of one training step, ours beside torch's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from benchmarks.timing import alternate, ratio
from ctan.nn.kernels import product

#: Rows, common dimension and columns: of a step of CTAN, 1 layer, on some 400 nodes with 750 in
#: all, forward and backward, and of the fold of its weights.
SHAPES = (
    (750, 100, 100),
    (400, 100, 388),
    (400, 289, 100),
    (400, 100, 289),
    (400, 388, 100),
    (100, 400, 388),
    (100, 400, 289),
    (100, 750, 100),
    (100, 100, 288),
    (100, 288, 100),
)
TIMES = 300


def products(data: Path, rounds: int) -> list[dict[str, Any]]:
    """All of them, one after the other, many times."""
    draw = torch.Generator().manual_seed(0)
    pairs = [
        (torch.randn(m, k, generator=draw), torch.randn(k, n, generator=draw)) for m, k, n in SHAPES
    ]

    def ours() -> None:
        for _ in range(TIMES):
            for a, b in pairs:
                product(a, b)

    def theirs() -> None:
        for _ in range(TIMES):
            for a, b in pairs:
                torch.mm(a, b)

    taken = alternate({"ours": ours, "torch": theirs}, rounds)
    work = 2e-9 * TIMES * sum(m * k * n for m, k, n in SHAPES)
    how = (
        f"{len(SHAPES)} products of a training step, {TIMES} times, float32: {work:.0f} GFLOP in "
        "all; torch.mm goes to MKL"
    )
    return [ratio("matrix products of a CTAN step", taken, "torch", how)]
