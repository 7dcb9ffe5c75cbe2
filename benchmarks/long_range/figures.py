"""The figures of docs/long-range.md."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from plans import BASELINES, CTAN, RECIPE

from ctan.datasets import path_graphs
from ctan.events import EventStream
from ctan.models import Dims, Model, build
from ctan.report import paper_table
from ctan.study import Signal, reach, retention, sensitivity, spectrum, star
from ctan.study.figures import (
    COLORS,
    draw_reach,
    draw_signals,
    draw_solvers,
    draw_spectra,
    panels,
    save,
)
from ctan.tasks import Protocol
from ctan.training import fit

#: As T-PathGraph with 20 nodes has it.
DIMS = Dims(nodes=1, edge_dim=1, node_dim=1, elapsed_mean=4.97368, elapsed_std=5.58893)
GRAPHS = 200
AT = (0, 1, 2, 4, 9, 19, 29)


def fresh(name: str, **options: Any) -> Model:
    torch.manual_seed(0)
    return build(name, DIMS, **options)


def ctan(**options: Any) -> Model:
    return fresh("ctan", **{**CTAN, **options})


def trained(name: str, options: dict[str, Any]) -> Model:
    """A model after the recipe on T-PathGraph with 20 nodes, seed 0."""
    run = fit(
        path_graphs(20), task="sequence", model=name, options=options, protocol=Protocol(**RECIPE)
    )
    return run.stage.predictor.model


def solvers(home: Path) -> None:
    marks = {}
    for start in ("default", "bounded"):
        layer: Any = ctan(init=start).layers[0]  # type: ignore[union-attr]
        marks[f"CTAN, {start} start"] = torch.linalg.eigvals(layer.generator().detach()).numpy()
    draw_solvers(home / "solvers.png", marks)


def spectra(home: Path) -> None:
    kinds: dict[str, dict[str, Any]] = {
        "add": {"psi": "add"},
        "concat": {},
        "concat, identity state part": {"init": "isometric"},
        "tanh_concat": {"psi": "tanh_concat"},
        "input_only": {"psi": "input_only"},
        "concat, bounded W": {"init": "bounded"},
    }
    stream = star(8, graphs=24)
    found = {name: spectrum(ctan(**options), stream, step=7) for name, options in kinds.items()}  # type: ignore[arg-type]
    draw_spectra(home / "spectra.png", found, epsilon=CTAN["epsilon"])


def signals(home: Path) -> None:
    learned = {
        "CTAN, default": trained("ctan", {**CTAN}),
        "JODIE": trained("jodie", BASELINES["jodie"]),
    }
    models = {
        "CTAN, default": ctan(),
        "CTAN, isometric": ctan(init="isometric"),
        "CTAN, latching, gain 1": ctan(init="latching", gain=1.0),
        "CTAN, latching": ctan(init="latching"),
        "JODIE": fresh("jodie", **BASELINES["jodie"]),
        "TGN": fresh("tgn", **BASELINES["tgn"]),
        **{f"{name}, trained at n = 20": model for name, model in learned.items()},
    }
    curves: dict[str, Signal] = {
        name: sensitivity(model, 40, graphs=GRAPHS, derivative_at=AT)
        for name, model in models.items()
    }
    draw_signals(home / "sensitivity.png", curves, along="hops")


def retained(home: Path) -> None:
    identity: dict[str, Any] = {"init": "isometric"}
    models = {
        "CTAN, add": ctan(psi="add"),
        "CTAN, concat": ctan(),
        "CTAN, concat, identity": ctan(**identity),
        "CTAN, tanh_concat, identity": ctan(psi="tanh_concat", **identity),
        "CTAN, input_only": ctan(psi="input_only"),
        "JODIE": fresh("jodie", **BASELINES["jodie"]),
        "DyRep": fresh("dyrep", **BASELINES["dyrep"]),
        "TGN": fresh("tgn", **BASELINES["tgn"]),
        # Without the echo of what the partners were told.
        "CTAN, concat, identity, one neighbour": ctan(**identity, neighbors=1),
        "the same, Cayley, γ = 0": ctan(**identity, neighbors=1, gamma=0.0, solver="cayley"),
    }
    curves = {
        name: retention(model, 40, graphs=GRAPHS, derivative_at=AT)
        for name, model in models.items()
    }
    draw_signals(home / "retention.png", curves, along="events at the node")


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
    draw_reach(home / "reach.png", found, since=length - 1)


def lengths(home: Path, read: Callable, chosen: Callable) -> None:
    """Accuracy against length, by start and by model; and against the gain of a hop."""
    figure, (left, right) = panels(2, width=5.6, height=4.2)
    runs = read("headline") + read("beyond") + read("starts") + read("baselines")
    runs = chosen(runs, variant="paper")
    rows = [
        ("CTAN, latching", {"init": "latching"}),
        ("CTAN, isometric", {"init": "isometric"}),
        ("CTAN, default", {"init": "default"}),
        ("JODIE", {"model": "jodie"}),
        ("DyRep", {"model": "dyrep"}),
        ("TGN", {"model": "tgn"}),
    ]
    for number, (name, wanted) in enumerate(rows):
        found = chosen(runs, **wanted)
        _line(left, found, "length", name, COLORS[number])
    paper = paper_table("t-pathgraph")
    for name, color in (("CTAN", COLORS[2]), ("JODIE", COLORS[3])):
        known = [(int(c), paper[name, c].mean) for c in paper.columns]
        left.plot(*zip(*known, strict=True), ":", color=color, label=f"{name}, the paper")
    left.set_xscale("log")
    left.set_xticks(
        [3, 5, 9, 20, 50, 100, 200, 500], ["3", "5", "9", "20", "50", "100", "200", "500"]
    )
    left.minorticks_off()
    left.set_xlabel("nodes in a path")
    left.legend(frameon=False, fontsize=8, loc="lower left")
    gain = read("gain")
    for number, n in enumerate((20, 100)):
        found = chosen(gain, length=n)
        _line(right, found, "gain", f"n = {n}, after 20 epochs", COLORS[number])
        first = [(r["options"]["gain"], 100 * r["val_accuracy"][0]) for r in found]
        values = sorted({g for g, _ in first})
        mean = [statistics.mean(a for g, a in first if g == value) for value in values]
        right.plot(
            values, mean, "--", color=COLORS[number], label=f"n = {n}, after one (validation)"
        )
    for edge, text in ((1.0, "isometric"), (3.0, "first outweighs all later")):
        right.axvline(edge, color="0.75", linewidth=1, zorder=0)
        right.text(edge + 0.03, 61, text, fontsize=8, color="0.4", rotation=90, va="bottom")
    right.set_xlabel("gain of a hop at the start")
    right.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 0.02))
    for axis in (left, right):
        axis.axhline(50, color="0.7", linewidth=1, zorder=0)
        axis.set_ylim(40, 103)
        axis.set_ylabel("test accuracy (%)")
    save(figure, home / "lengths.png")


def _line(axis: Any, runs: list[dict[str, Any]], key: str, name: str, color: str) -> None:
    at: dict[float, list[float]] = {}
    for run in runs:
        value = run["options"].get(key, run.get(key))
        at.setdefault(value, []).append(100 * run["test"]["accuracy"])
    x = sorted(at)
    mean = [statistics.mean(at[value]) for value in x]
    axis.plot(x, mean, color=color, label=name)
    # Every seed as a dot: accuracy is near 100 or near 50, which a deviation would hide.
    for value in x:
        axis.plot([value] * len(at[value]), at[value], "o", color=color, markersize=3.5, alpha=0.5)


def curves(home: Path, read: Callable, chosen: Callable) -> None:
    """Training loss and validation accuracy at n = 100: memorising, and understanding."""
    figure, (loss, accuracy) = panels(2, width=5.0)
    runs = read("starts") + chosen(read("gain"), gain=1.5) + chosen(read("beyond"), variant="paper")
    runs += read("baselines")
    rows = [
        ("CTAN, default", {"init": "default"}),
        ("CTAN, isometric", {"init": "isometric"}),
        ("JODIE", {"model": "jodie"}),
        ("CTAN, latching, gain 1.5", {"init": "latching", "gain": 1.5}),
        ("CTAN, latching, gain 3", {"init": "latching", "gain": None}),
    ]
    for number, (name, wanted) in enumerate(rows):
        for seed, run in enumerate(chosen(runs, length=100, **wanted)[:3]):
            label = name if seed == 0 else None
            loss.plot(run["train_loss"], color=COLORS[number], alpha=0.8, label=label)
            accuracy.plot([100 * a for a in run["val_accuracy"]], color=COLORS[number], alpha=0.8)
    loss.set_ylabel("training loss")
    loss.legend(frameon=False, fontsize=8)
    accuracy.set_ylabel("validation accuracy (%)")
    for axis in (loss, accuracy):
        axis.set_xlabel("epoch")
    save(figure, home / "curves-100.png")


def draw_all(home: Path, read: Callable, chosen: Callable) -> None:
    """Every figure of the page."""
    torch.set_num_threads(1)
    lengths(home, read, chosen)
    curves(home, read, chosen)
    solvers(home)
    spectra(home)
    reached(home)
    retained(home)
    signals(home)
