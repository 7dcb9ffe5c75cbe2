"""The figures of docs/long-range.md that are drawn from finished runs."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ctan.report import paper_table
from ctan.study.figures import COLORS, panels, save

Runs = list[dict[str, Any]]
Read = Callable[[str], Runs]
Chosen = Callable[..., Runs]


def lengths(home: Path, read: Read, chosen: Chosen) -> None:
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


def curves(home: Path, read: Read, chosen: Chosen) -> None:
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
