"""The sizes of the paper's grids: what each model is built with for each of its tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ctan.errors import unknown_name
from ctan.models.registry import options


@dataclass(frozen=True)
class Grid:
    """One column of the paper's table of hyper-parameters.

    Attributes:
        task: what it is for.
        budget: how many parameters a model may have, "about".
        edge_dim: size of the event features that the budget was counted with.
        node_dim: size of the node features.
        outputs: scores of the readout.
        time_dim: size of the time encoding.
        dims: the two embedding sizes of each model, the larger first.
    """

    task: str
    budget: int
    edge_dim: int
    node_dim: int
    outputs: int
    time_dim: int
    dims: dict[str, tuple[int, int]]


#: Link: Wikipedia's and Reddit's 172 edge features, and one random number per node.
GRIDS = {
    "seq": Grid(
        task="T-PathGraph",
        budget=20_000,
        edge_dim=1,
        node_dim=1,
        outputs=1,
        time_dim=1,
        dims={
            "ctan": (53, 26),
            "dygformer": (10, 5),
            "dyrep": (53, 26),
            "graphmixer": (30, 15),
            "jodie": (69, 34),
            "tgat": (24, 12),
            "tgn": (19, 9),
        },
    ),
    "pasc": Grid(
        task="T-PascalVOC",
        budget=40_000,
        edge_dim=1,
        node_dim=14,
        outputs=21,
        time_dim=1,
        dims={
            "ctan": (74, 37),
            "dygformer": (14, 7),
            "dyrep": (74, 37),
            "graphmixer": (24, 12),
            "jodie": (97, 48),
            "tgat": (24, 12),
            "tgn": (21, 10),
        },
    ),
    "link": Grid(
        task="link prediction",
        budget=140_000,
        edge_dim=172,
        node_dim=1,
        outputs=1,
        time_dim=16,
        dims={
            "ctan": (128, 96),
            "dyrep": (118, 87),
            "jodie": (164, 122),
            "tgat": (33, 23),
            "tgn": (33, 20),
        },
    ),
}
#: Numbers of layers in the grids. The budgets are said to be kept by the largest.
LAYERS = (1, 3, 5)
#: What a model calls its layers, where the grid varies them.
_DEEP = {"ctan": "steps", "tgat": "layers", "tgn": "layers"}


def sizes(grid: str, model: str, layers: int = 5) -> dict[str, Any] | None:
    """Options of a model at its larger size in a grid; None where the paper names no size.

    Example:
        >>> sizes("link", "tgat", layers=3)
        {'dim': 33, 'time_dim': 16, 'layers': 3}
        >>> sizes("link", "dyrep"), sizes("link", "edgebank")
        ({'dim': 118}, None)
    """
    if grid not in GRIDS:
        raise unknown_name("grid", grid, GRIDS)
    column = GRIDS[grid]
    if model not in column.dims:
        return None
    wanted: dict[str, Any] = {"dim": column.dims[model][0], "time_dim": column.time_dim}
    if model in _DEEP:
        wanted[_DEEP[model]] = layers
    elif model == "dygformer":
        wanted["layers"] = 1  # blocks: with the two of the paper's text, twice the budget
    known = options(model)
    return {name: value for name, value in wanted.items() if name in known}
