"""The figures of docs/long-range.md and docs/solvers.md that are drawn from models themselves."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from plans import BASELINES, CTAN, RECIPE

from ctan.datasets import path_graphs
from ctan.events import EventStream
from ctan.models import Dims, Model, build
from ctan.nn import SOLVERS
from ctan.study import Signal, figures, reach, retention, sensitivity, spectrum, star
from ctan.tasks import Protocol
from ctan.training import fit

#: As T-PathGraph with 20 nodes has it.
DIMS = Dims(nodes=1, edge_dim=1, node_dim=1, elapsed_mean=4.97368, elapsed_std=5.58893)
GRAPHS = 200
#: Steps at which derivatives are taken.
AT = (0, 1, 2, 4, 9, 19, 29)
IDENTITY = {"init": "isometric"}


def fresh(name: str, **options: Any) -> Model:
    torch.manual_seed(0)
    return build(name, DIMS, **options)


def ctan(**options: Any) -> Model:
    return fresh("ctan", **{**CTAN, **options})


@cache
def trained(name: str) -> Model:
    """A model from torch's own weights after the recipe on T-PathGraph with 20 nodes, seed 0."""
    options = CTAN if name == "ctan" else BASELINES[name]
    run = fit(
        path_graphs(20), task="sequence", model=name, options=options, protocol=Protocol(**RECIPE)
    )
    return run.stage.predictor.model


def solvers(home: Path) -> None:
    marks = {}
    for start in ("default", "bounded"):
        layer: Any = ctan(init=start).layers[0]  # type: ignore[union-attr]
        marks[f"CTAN, {start} start"] = torch.linalg.eigvals(layer.generator().detach()).numpy()
    figures.draw_solvers(home / "solvers.png", marks)
    for name in SOLVERS:
        figures.draw_solver(home / f"solver-{name}.png", name)


def _spectra(path: Path, models: dict[str, Model]) -> None:
    stream = star(8, graphs=24)
    found = {name: spectrum(model, stream, step=7) for name, model in models.items()}  # type: ignore[arg-type]
    figures.draw_spectra(path, found)


def spectra(home: Path) -> None:
    models = {
        "add": ctan(psi="add"),
        "concat": ctan(),
        "concat, identity state part": ctan(**IDENTITY),
        "tanh_concat": ctan(psi="tanh_concat"),
        "input_only": ctan(psi="input_only"),
        "concat, bounded W": ctan(init="bounded"),
        "concat, trained on T-PathGraph": trained("ctan"),
    }
    _spectra(home / "spectra.png", models)


def gammas_and_epsilons(home: Path) -> None:
    """ψ = add, so that an event is the step and nothing else."""
    models = {f"γ = {g}": ctan(psi="add", gamma=g) for g in (0.0, 0.1, 0.5, 1.0)}
    _spectra(home / "spectra-gamma.png", models)
    models = {f"ε = {e}": ctan(psi="add", epsilon=e) for e in (0.1, 0.25, 0.5, 1.0)}
    _spectra(home / "spectra-epsilon.png", models)


def _signals(
    path: Path, models: dict[str, Model], measure: Callable[..., Signal], along: str
) -> None:
    curves = {
        name: measure(model, 40, graphs=GRAPHS, derivative_at=AT) for name, model in models.items()
    }
    figures.draw_signals(path, curves, along=along)


def passed_on(home: Path) -> None:
    """Fresh models: what a hop costs, by ψ and by model."""
    models = {
        "CTAN, add, isometric": ctan(psi="add", **IDENTITY),
        "CTAN, concat, isometric": ctan(**IDENTITY),
        "CTAN, tanh_concat, isometric": ctan(psi="tanh_concat", **IDENTITY),
        "CTAN, add": ctan(psi="add"),
        "CTAN, concat": ctan(),
        "CTAN, tanh_concat": ctan(psi="tanh_concat"),
        "CTAN, input_only": ctan(psi="input_only"),
        "JODIE": fresh("jodie", **BASELINES["jodie"]),
        "DyRep": fresh("dyrep", **BASELINES["dyrep"]),
        "TGN": fresh("tgn", **BASELINES["tgn"]),
        "TGAT": fresh("tgat", dim=16, time_dim=1, layers=1),
    }
    _signals(home / "sensitivity.png", models, sensitivity, "hops")


def latched(home: Path) -> None:
    """Starts of CTAN, and what training makes of the default ones."""
    models = {
        "CTAN, default": ctan(),
        "CTAN, isometric": ctan(**IDENTITY),
        "CTAN, latching, gain 1": ctan(init="latching", gain=1.0),
        "CTAN, latching, gain 3": ctan(init="latching"),
        "CTAN, default, trained at n = 20": trained("ctan"),
        "JODIE, trained at n = 20": trained("jodie"),
    }
    _signals(home / "sensitivity-starts.png", models, sensitivity, "hops")


def retained(home: Path) -> None:
    models = {
        "CTAN, add": ctan(psi="add"),
        "CTAN, concat": ctan(),
        "CTAN, concat, identity": ctan(**IDENTITY),
        "CTAN, tanh_concat": ctan(psi="tanh_concat"),
        "CTAN, tanh_concat, identity": ctan(psi="tanh_concat", **IDENTITY),
        "CTAN, input_only": ctan(psi="input_only"),
        "JODIE": fresh("jodie", **BASELINES["jodie"]),
        "DyRep": fresh("dyrep", **BASELINES["dyrep"]),
        "TGN": fresh("tgn", **BASELINES["tgn"]),
        "TGAT": fresh("tgat", dim=16, time_dim=1, layers=1),
        # Without the echo of what the partners were told.
        "CTAN, concat, identity, one neighbour": ctan(**IDENTITY, neighbors=1),
        "the same, Cayley, γ = 0": ctan(**IDENTITY, neighbors=1, gamma=0.0, solver="cayley"),
    }
    _signals(home / "retention.png", models, retention, "events at the node")


def reached(home: Path) -> None:
    """A path built from its far end, then an event at every node that has to pass something on."""
    length, found = 12, {}
    x = np.random.default_rng(0).uniform(-1, 1, (length + 1, 1)).astype(np.float32)
    for steps in (1, 2, 3, 4):
        built = [(i, i + 1) for i in reversed(range(length))]
        relays = [(i, i) for i in range(steps, length + 1, steps)]
        src, dst = zip(*built, *relays, strict=True)
        stream = EventStream.from_arrays(src=src, dst=dst, t=range(len(src)), x=x)
        torch.manual_seed(0)
        model = build(
            "ctan", Dims(length + 1, node_dim=1), dim=16, epsilon=1.0, psi="concat",
            steps=steps, update="ball",
        )  # fmt: skip
        found[f"L = {steps}"] = reach(model, stream, source=0)
    figures.draw_reach(home / "reach.png", found, since=length - 1)


FIGURES: dict[str, Callable[[Path], None]] = {
    make.__name__: make
    for make in (solvers, spectra, gammas_and_epsilons, reached, retained, passed_on, latched)
}
