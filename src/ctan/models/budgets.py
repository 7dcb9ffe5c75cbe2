"""Parameters of every model at the paper's sizes, beside the paper's budgets."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from ctan.events import EventStream
from ctan.history import TemporalIndex, chronological
from ctan.models.base import Dims, NodeEncoder, PairEncoder, PairScorer
from ctan.models.batch import Asked, Events
from ctan.models.features import Features
from ctan.models.grids import GRIDS, LAYERS, Grid, sizes
from ctan.models.registry import MODELS, build
from ctan.models.view import look
from ctan.nn import Readout

#: Off the budget by more than this, a count needs a reason.
TOLERANCE = 0.10
#: Why a count is off by more than that, by grid and model; a test keeps both lists equal.
_SKIP = (
    "with PyG's lin_skip, d * d + d weights that the paper's code makes and never uses, it would "
    "be {}; ours has none"
)
_LAYERS = "the grid's size keeps the budget at {}, not at the grid's five"
_MIXER = (
    "not in the paper's code, so how it was counted is not known; with two mixer blocks, as its "
    "authors' code has, it is this, and {}"
)
REASONS = {
    ("seq", "ctan"): _SKIP.format("20,168"),
    ("pasc", "ctan"): _SKIP.format("40,834"),
    ("link", "ctan"): _SKIP.format("139,873"),
    ("seq", "tgat"): _LAYERS.format("three layers (20,679)"),
    ("seq", "tgn"): _LAYERS.format("three layers (19,581)"),
    ("link", "tgn"): _LAYERS.format("four layers (142,938)"),
    ("seq", "graphmixer"): _MIXER.format("with three 24,547"),
    ("pasc", "graphmixer"): _MIXER.format("it takes eight (40,737) to keep the budget"),
}


@dataclass(frozen=True)
class Count:
    """How many weights a model has at a size of the paper's grids, readout included.

    Attributes:
        grid: ``seq``, ``pasc`` or ``link``.
        model: name of the model.
        dim: the grid's larger size; None where the paper names none.
        embedding: size of the embeddings that the readout reads.
        heads: attention heads side by side, 0 for models without.
        by_layers: weights at 1, 3 and 5 layers; equal where the grid does not vary them.
        readout: of these, weights of the readout.
        live: of those at the most layers, weights that ever receive a gradient.
    """

    grid: str
    model: str
    dim: int | None = None
    embedding: int = 0
    heads: int = 0
    by_layers: tuple[int, ...] = ()
    readout: int = 0
    live: int = 0

    @property
    def total(self) -> int:
        """Weights at the most layers of the grid, of which the budget speaks."""
        return self.by_layers[-1] if self.by_layers else 0

    @property
    def dead(self) -> int:
        """Weights that no gradient reaches."""
        return self.total - self.live

    @property
    def off(self) -> float:
        """How far the total is off the budget, as a share of it."""
        return self.total / GRIDS[self.grid].budget - 1

    @property
    def reason(self) -> str:
        """Why it is off by more than a tenth; empty if it is not."""
        return REASONS.get((self.grid, self.model), "")

    def to_dict(self) -> dict[str, Any]:
        """All fields and what follows from them, for JSON."""
        column, sized = GRIDS[self.grid], self.dim is not None
        return {
            **asdict(self),
            "total": self.total if sized else None,
            "dead": self.dead if sized else None,
            "off": self.off if sized else None,
            "reason": self.reason,
            "budget": column.budget,
            "edge_dim": column.edge_dim,
            "node_dim": column.node_dim,
            "outputs": column.outputs,
        }


def budgets() -> list[Count]:
    """Count every registered model in each of the paper's grids.

    Example:
        >>> jodie = next(c for c in budgets() if (c.grid, c.model) == ("seq", "jodie"))
        >>> jodie.dim, abs(jodie.off) < TOLERANCE
        (69, True)
    """
    return [count(grid, model) for grid in GRIDS for model in MODELS]


def count(grid: str, model: str) -> Count:
    """Count one model in one grid, with the readout that the paper's code gives it.

    That readout reads the pair and has half as many hidden units as the grid's dimension.
    """
    column = GRIDS[grid]
    if sizes(grid, model) is None:
        return Count(grid, model)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        built = [_build(grid, model, layers) for layers in LAYERS]
        encoder, readout = built[-1]
        by_layers = tuple(_size(encoder) + _size(readout) for encoder, readout in built)
        return Count(
            grid=grid,
            model=model,
            dim=column.dims[model][0],
            embedding=encoder.dim,
            heads=max(int(getattr(module, "heads", 0)) for module in encoder.modules()),
            by_layers=by_layers,
            readout=_size(readout),
            live=live(encoder, readout, _stream(column)),
        )


def live(encoder: NodeEncoder | PairEncoder, readout: Readout, stream: EventStream) -> int:
    """How many single weights ever receive a gradient while ``stream`` is played once.

    All weights are drawn anew for each batch (so those given are lost): a hidden unit may be off
    for one draw, but not for all. Rounding leaves traces where a gradient cancels, so what is 1e-8
    of the largest is none.
    """
    parameters = [*encoder.parameters(), *readout.parameters()]
    reached = [torch.zeros_like(p) for p in parameters]
    index, features = TemporalIndex.build(stream), Features.of(stream)
    rng, state = np.random.default_rng(0), encoder.init_state()
    for batch in chronological(0, len(stream), 20):
        with torch.no_grad():
            for p in parameters:
                p.normal_(std=p.size(-1) ** -0.5)
        events, row = Events.of(stream, batch.events), np.arange(len(batch))
        others = rng.integers(0, stream.num_nodes, len(batch))
        asked = Asked(np.tile(events.src, 2), np.concatenate([events.dst, others]), np.tile(row, 2))
        view = look(index, features, encoder.sees, batch, events, asked)
        scores = readout(*encoder.embed_pairs(state, view))
        weigh = torch.linspace(-1, 2, scores.numel()).view_as(scores)
        given = torch.autograd.grad((scores * weigh).sum(), parameters, allow_unused=True)
        for seen, gradient in zip(reached, given, strict=True):
            if gradient is not None:
                seen += gradient.abs()
        state = encoder.observe(state, events, view).detach()
    largest = max(float(seen.max()) for seen in reached)
    return sum(int((seen > 1e-8 * largest).sum()) for seen in reached)


def _build(grid: str, model: str, layers: int) -> tuple[NodeEncoder | PairEncoder, Readout]:
    column = GRIDS[grid]
    dims = Dims(
        nodes=_NODES,
        edge_dim=column.edge_dim,
        node_dim=column.node_dim,
        elapsed_mean=20.0,
        elapsed_std=20.0,
    )
    encoder = build(model, dims, **(sizes(grid, model, layers) or {}))
    assert not isinstance(encoder, PairScorer), "a model without weights has no size in a grid"
    return encoder, Readout(encoder.dim, column.outputs, "pair", column.dims[model][0] // 2)


def _stream(column: Grid) -> EventStream:
    rng = np.random.default_rng(0)
    return EventStream.from_arrays(
        src=rng.integers(0, _NODES, _EVENTS),
        dst=rng.integers(0, _NODES, _EVENTS),
        t=np.cumsum(rng.integers(0, 4, _EVENTS)),
        msg=rng.normal(size=(_EVENTS, column.edge_dim)).astype(np.float32),
        x=rng.normal(size=(_NODES, column.node_dim)).astype(np.float32),
        num_nodes=_NODES,
    )


def _size(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


_NODES, _EVENTS = 20, 100
