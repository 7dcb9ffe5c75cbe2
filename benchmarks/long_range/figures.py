"""The figures of docs/long-range.md and docs/solvers.md that are drawn from models themselves."""

from __future__ import annotations

import json
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
IDENTITY = {"init": "isometric"}


def fresh(name: str, **options: Any) -> Model:
    torch.manual_seed(0)
    return build(name, DIMS, **options)


def ctan(**options: Any) -> Any:
    return fresh("ctan", **{**CTAN, **options})


def baselines() -> dict[str, Model]:
    """The models that CTAN is compared with, of the sizes of their runs."""
    names = {"jodie": "JODIE", "dyrep": "DyRep", "tgn": "TGN"}
    memories = {called: fresh(name, **BASELINES[name]) for name, called in names.items()}
    return {**memories, "TGAT": fresh("tgat", dim=16, time_dim=1, layers=1)}


@cache
def _trained(name: str, options: str) -> Model:
    run = fit(
        path_graphs(20), task="sequence", model=name, options=json.loads(options),
        protocol=Protocol(**RECIPE),
    )  # fmt: skip
    return run.stage.predictor.model


def trained(name: str, **options: Any) -> Any:
    """A model after the recipe on T-PathGraph with 20 nodes, seed 0."""
    return _trained(name, json.dumps(CTAN | options if name == "ctan" else BASELINES[name]))


def solvers(home: Path) -> None:
    marks = {}
    for start in ("default", "bounded"):
        layer = ctan(init=start).layers[0]
        marks[f"CTAN, {start} start"] = torch.linalg.eigvals(layer.generator().detach()).numpy()
    figures.draw_solvers(home / "solvers.png", marks)
    for name in SOLVERS:
        figures.draw_solver(home / f"solver-{name}.png", name)


def _spectra(path: Path, models: dict[str, Any]) -> None:
    stream = star(8, graphs=24)
    figures.draw_spectra(
        path, {name: spectrum(model, stream, step=7) for name, model in models.items()}
    )


def spectra(home: Path) -> None:
    """Over ψ, fresh and trained; over γ and ε with ψ = add: there an event is the step."""
    _spectra(
        home / "spectra.png",
        {
            "add": ctan(psi="add"),
            "concat": ctan(),
            "concat, bounded": ctan(init="bounded"),
            "concat, isometric": ctan(**IDENTITY),
            "tanh_concat": ctan(psi="tanh_concat"),
            "input_only": ctan(psi="input_only"),
        },
    )
    gammas = {f"γ = {g:g}": ctan(psi="add", gamma=g) for g in (0.0, 0.1, 0.5, 1.0)}
    _spectra(home / "spectra-gamma.png", gammas)
    epsilons = {f"ε = {e:g}": ctan(psi="add", epsilon=e) for e in (0.1, 0.25, 0.5, 1.0)}
    _spectra(home / "spectra-epsilon.png", epsilons)


def spectra_trained(home: Path) -> None:
    """The same after training on T-PathGraph with 20 nodes."""
    _spectra(
        home / "spectra-trained.png",
        {
            "add": trained("ctan", psi="add"),
            "concat": trained("ctan"),
            "concat, isometric": trained("ctan", **IDENTITY),
            "concat, latching": trained("ctan", init="latching"),
            "tanh_concat": trained("ctan", psi="tanh_concat"),
            "add, γ = 0.5": trained("ctan", psi="add", gamma=0.5),
        },
    )


def _signals(
    path: Path,
    models: dict[str, Model],
    measure: Callable[..., Signal],
    along: str,
    styles: dict[str, str] | None = None,
) -> None:
    curves = {name: measure(model, 40, graphs=GRAPHS) for name, model in models.items()}
    dashes = dict.fromkeys(("JODIE", "DyRep", "TGN", "TGAT"), "--")
    figures.draw_signals(path, curves, along=along, styles=dashes | (styles or {}))


def passed_on(home: Path) -> None:
    """Fresh models: what a hop costs, by ψ and by model."""
    models: dict[str, Model] = {
        "add": ctan(psi="add"),
        "concat": ctan(),
        "tanh_concat": ctan(psi="tanh_concat"),
        "input_only": ctan(psi="input_only"),
        "add, isometric": ctan(psi="add", **IDENTITY),
        "concat, isometric": ctan(**IDENTITY),
        "tanh_concat, isometric": ctan(psi="tanh_concat", **IDENTITY),
        **baselines(),
    }
    _signals(home / "sensitivity.png", models, sensitivity, "hops")


def latched(home: Path) -> None:
    """Starts of CTAN, and what training makes of the default ones."""
    models: dict[str, Model] = {
        "CTAN, default": ctan(),
        "CTAN, isometric": ctan(**IDENTITY),
        "CTAN, latching, gain 1": ctan(init="latching", gain=1.0),
        "CTAN, latching, gain 3": ctan(init="latching"),
        "CTAN, default, trained at n = 20": trained("ctan"),
        "JODIE, trained at n = 20": trained("jodie"),
    }
    after = dict.fromkeys((name for name in models if "trained" in name), "--")
    _signals(home / "sensitivity-starts.png", models, sensitivity, "hops", after)


def retained(home: Path) -> None:
    alone = {
        # Without the echo of what the partners were told.
        "concat, isometric, one neighbour": ctan(**IDENTITY, neighbors=1),
        "the same, Cayley, γ = 0": ctan(**IDENTITY, neighbors=1, gamma=0.0, solver="cayley"),
    }
    models: dict[str, Model] = {
        "add": ctan(psi="add"),
        "concat": ctan(),
        "tanh_concat": ctan(psi="tanh_concat"),
        "input_only": ctan(psi="input_only"),
        "concat, isometric": ctan(**IDENTITY),
        "tanh_concat, isometric": ctan(psi="tanh_concat", **IDENTITY),
        **alone,
        **baselines(),
    }
    dots = dict.fromkeys(alone, ":")
    _signals(home / "retention.png", models, retention, "events at the node", dots)


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
    for make in (solvers, spectra, spectra_trained, reached, retained, passed_on, latched)
}
