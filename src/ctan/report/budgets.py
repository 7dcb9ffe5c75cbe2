"""The table of budgets: what each model weighs at the paper's sizes, and how that was counted."""

from __future__ import annotations

from collections.abc import Iterable

from ctan.models import MODELS
from ctan.models.budgets import Count
from ctan.models.grids import GRIDS, sizes

#: Headings of :func:`row`.
COLUMNS = (
    "grid, model",
    "dim",
    "embedding",
    "heads",
    "1, 3, 5 layers",
    "readout",
    "live",
    "dead",
    "total",
    "budget",
    "off",
)


def row(count: Count) -> list[str]:
    """One model in one grid, under :data:`COLUMNS`.

    Example:
        >>> from ctan.models.budgets import count
        >>> row(count("link", "jodie"))[-3:]
        ['139,845', '140,000', '-0.1%']
    """
    varies = len(set(count.by_layers)) > 1
    return [
        f"{count.grid} {count.model}",
        str(count.dim),
        str(count.embedding),
        str(count.heads or "none"),
        ", ".join(f"{weights:,}" for weights in count.by_layers) if varies else "same",
        f"{count.readout:,}",
        f"{count.live:,}",
        f"{count.dead:,}",
        f"{count.total:,}",
        f"{GRIDS[count.grid].budget:,}",
        f"{count.off:+.1%}",
    ]


def assumptions() -> list[str]:
    """What the counts assume: a line for each grid, and four for all.

    Example:
        >>> assumptions()[0]
        'seq: T-PathGraph, 1 edge feature, 1 node feature, time encoding of 1, 1 output'
    """
    lines = []
    for name, column in GRIDS.items():
        told = [
            column.task,
            _many(column.edge_dim, "edge feature"),
            _many(column.node_dim, "node feature"),
            f"time encoding of {column.time_dim}",
            _many(column.outputs, "output"),
        ]
        lines.append(f"{name}: {', '.join(told)}")
    unsized = [model for model in MODELS if all(sizes(grid, model) is None for grid in GRIDS)]
    return [
        *lines,
        "All: the larger size of the grid, five layers at most (CTAN shares theirs), heads side by "
        "side, and a readout of the pair, half as many hidden units, counted in.",
        "Dead weights receive no gradient, whatever the data: a key's bias cancels in the softmax, "
        "the diagonal of CTAN's W in W - W^T.",
        "DyGFormer has one transformer block, which keeps the budgets. The paper's text has two on "
        "T-PascalVOC; two are 40,188 weights at seq and 78,500 at pasc.",
        f"Without a size in any grid: {', '.join(unsized)}.",
    ]


def markdown(counts: Iterable[Count]) -> str:
    """The table in Markdown."""
    rule = "|---" + "|---:" * (len(COLUMNS) - 1) + "|"
    head, *rows = [f"| {' | '.join(cells)} |" for cells in (COLUMNS, *map(row, counts))]
    return "\n".join([head, rule, *rows])


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
