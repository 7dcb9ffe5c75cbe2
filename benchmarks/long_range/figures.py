"""The figures of docs/long-range.md and docs/solvers.md that are drawn from models themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.long_range.plans import BASELINES, CTAN, RECIPE
from benchmarks.long_range.records import RESULTS
from benchmarks.long_range.teaching import transfer
from ctan.datasets import path_graphs
from ctan.models import Dims, Model, build
from ctan.nn import SOLVERS
from ctan.study import Signal, figures, hop, reach, relay, retention, sensitivity, spectrum, star
from ctan.tasks import Protocol
from ctan.training import Run, fit

#: As T-PathGraph with 20 nodes has it.
DIMS = Dims(nodes=1, edge_dim=1, node_dim=1, elapsed_mean=4.97368, elapsed_std=5.58893)
GRAPHS = 200
IDENTITY = {"init": "isometric"}

#: Of curves, what the table needs.
KEPT = ("derivative", "readable")
#: Of curves, by the first word of their names; ψ stands for CTAN with it, and so does a start.
COLORS = dict(
    zip(
        ("add", "concat", "tanh_concat", "input_only", "JODIE", "DyRep", "TGN", "TGAT"),
        figures.COLORS,
        strict=True,
    )
) | dict(
    zip(
        ("default", "isometric", "latching with gain 1", "latching with gain 3"),
        figures.COLORS,
        strict=False,
    )
)
#: Of curves, by the rest of their names.
LINES = {
    "isometric": "--",
    "trained": "--",
    "isometric, one neighbour": ":",
    "isometric, one neighbour, Cayley, γ = 0": "-.",
}


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
def _run(name: str, options: str) -> Run:
    return fit(
        path_graphs(20), task="sequence", model=name, options=json.loads(options),
        protocol=Protocol(**RECIPE),
    )  # fmt: skip


def trained(name: str, **options: Any) -> tuple[Any, float]:
    """A model after the recipe on T-PathGraph with 20 nodes, seed 0; and its test accuracy."""
    run = _run(name, json.dumps(_options(name, options)))
    return run.stage.predictor.model, run.results["test"]["accuracy"]


def _options(name: str, options: dict[str, Any]) -> dict[str, Any]:
    return CTAN | options if name == "ctan" else BASELINES[name]


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
    """Fresh models over ψ; over γ and ε with ψ = add: there an event is the step."""
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
    """ψ and starts after training on T-PathGraph with 20 nodes."""
    columns: dict[str, dict[str, Any]] = {
        "add": {"psi": "add"},
        "add, γ = 0.5": {"psi": "add", "gamma": 0.5},
        "concat": {},
        "concat, isometric": IDENTITY,
        "concat, latching": {"init": "latching"},
        "tanh_concat": {"psi": "tanh_concat"},
    }
    models = {}
    for name, options in columns.items():
        model, accuracy = trained("ctan", **options)
        before, after = (np.abs(hop(each)).max() for each in (ctan(**options), model))
        title = f"{name}: test {100 * accuracy:.0f} %\ngain of a hop {before:.2f}, now {after:.2f}"
        models[title] = model
    _spectra(home / "spectra-trained.png", models)


def _signals(
    path: Path,
    models: dict[str, Model],
    measure: Callable[..., Signal],
    along: str,
) -> None:
    """Draw curves, and keep them for the table.

    There is a colour for each ψ and each other model; broken lines are for other than fresh
    default weights.
    """
    curves = {name: measure(model, 40, graphs=GRAPHS) for name, model in models.items()}
    kept = {name: {each: _digits(getattr(s, each)) for each in KEPT} for name, s in curves.items()}
    (RESULTS / f"{path.stem}.json").write_text(json.dumps(kept, indent=1) + "\n")
    figures.draw_signals(
        path,
        curves,
        along=along,
        styles={name: LINES.get(name.partition(", ")[2], "-") for name in models},
        colors={name: COLORS[name.partition(", ")[0]] for name in models},
    )


def _digits(values: Any) -> list[float]:
    return [float(f"{value:.4g}") for value in values]


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
        "default": ctan(),
        "isometric": ctan(**IDENTITY),
        "latching with gain 1": ctan(init="latching", gain=1.0),
        "latching with gain 3": ctan(init="latching"),
        "default, trained": trained("ctan")[0],
        "JODIE": baselines()["JODIE"],
        "JODIE, trained": trained("jodie")[0],
    }
    _signals(home / "sensitivity-starts.png", models, sensitivity, "hops")


def elsewhere(home: Path) -> None:
    """What was trained at 20 nodes, asked on paths of other lengths."""
    lengths = range(8, 41)
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "default": ("ctan", {}),
        "isometric": ("ctan", IDENTITY),
        "latching with gain 3": ("ctan", {"init": "latching"}),
        "JODIE": ("jodie", {}),
    }
    figure, axes = figures.panels(len(asked), width=3.0, height=2.5)
    for axis, (title, (name, given)) in zip(axes, asked.items(), strict=True):
        options = _options(name, given)
        run = _run(name, json.dumps(options))
        accuracy = transfer(run, name, options, Protocol(**RECIPE), lengths)
        axis.plot(lengths, [100 * a for a in accuracy], "o-", color=COLORS[title], markersize=3.5)
        axis.axvline(20, color="0.6", linewidth=1, linestyle=":", zorder=0)
        turn = f"largest eigenvalue {_largest(run.stage.predictor.model)}" if name == "ctan" else ""
        axis.set_title(f"{title}\n{turn}", fontsize=9)
        axis.set_xlabel("nodes in a path")
        axis.set_ylim(-4, 104)
    axes[0].set_ylabel("test accuracy (%)")
    figures.save(figure, home / "other-lengths.png")


def _largest(model: Any) -> str:
    """Of a hop."""
    value = max(hop(model), key=abs)
    turns = f" ± {abs(value.imag):.2f}i" if abs(value.imag) > 1e-6 else ""
    return f"{value.real:.2f}{turns}"


def retained(home: Path) -> None:
    models: dict[str, Model] = {
        "add": ctan(psi="add"),
        "concat": ctan(),
        "tanh_concat": ctan(psi="tanh_concat"),
        "input_only": ctan(psi="input_only"),
        "concat, isometric": ctan(**IDENTITY),
        "tanh_concat, isometric": ctan(psi="tanh_concat", **IDENTITY),
        # Without the echo of what the partners were told.
        "concat, isometric, one neighbour": ctan(**IDENTITY, neighbors=1),
        "concat, isometric, one neighbour, Cayley, γ = 0": ctan(
            **IDENTITY, neighbors=1, gamma=0.0, solver="cayley"
        ),
        **baselines(),
    }
    _signals(home / "retention.png", models, retention, "events at the node")


def reached(home: Path) -> None:
    """A path built from its far end, then an event at every node that has to pass something on."""
    hops, found = 12, {}
    for steps in (1, 2, 3, 4):
        model = ctan(dim=16, steps=steps, update="ball")
        stream = relay(hops, steps=steps, update="ball")
        found[f"L = {steps}"] = reach(model, stream, source=0)
    figures.draw_reach(home / "reach.png", found, since=hops - 1)


FIGURES: dict[str, Callable[[Path], None]] = {
    make.__name__: make
    for make in (
        solvers,
        spectra,
        spectra_trained,
        reached,
        retained,
        passed_on,
        latched,
        elsewhere,
    )
}
