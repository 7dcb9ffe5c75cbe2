"""The figures of docs/long-range.md that are drawn from finished runs."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.long_range.records import Runs, chosen, read
from ctan.report import paper_table
from ctan.study.figures import COLORS, panels, save


def lengths(home: Path) -> None:
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
        # Dots side by side: many seeds have the same accuracy.
        _line(left, chosen(runs, **wanted), "length", name, COLORS[number], 1.03 ** (number - 2.5))
    for number, (_, wanted) in enumerate(rows):
        taught = chosen(read("teaching"), teaching="curriculum", **wanted)
        for n in sorted({run["length"] for run in taught}):
            mean = statistics.mean(100 * r["test"]["accuracy"] for r in taught if r["length"] == n)
            left.plot(
                n * 1.09 ** (number - 2.5), mean, "*", color=COLORS[number], markersize=12,
                markeredgecolor="white", zorder=3,
            )  # fmt: skip
    left.plot([], [], "*", color="0.4", markersize=9, label="by a curriculum (mean)")
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
        _line(right, found, "gain", f"n = {n}, after 20 epochs", COLORS[number], 1.0)
        first = [(r["options"]["gain"], 100 * r["val_accuracy"][0]) for r in found]
        values = sorted({g for g, _ in first})
        mean = [statistics.mean(a for g, a in first if g == value) for value in values]
        right.plot(
            values, mean, "--", color=COLORS[number], label=f"n = {n}, after one (validation)"
        )
    for edge, text in ((1.0, "isometric"), (3.0, "first outweighs all later")):
        right.axvline(edge, color="0.75", linewidth=1, zorder=0)
        right.text(edge, 103.5, text, fontsize=8, color="0.4", ha="center", va="bottom")
    right.set_xlabel("gain of a hop at the start")
    right.legend(fontsize=8, loc="lower right", facecolor="white", edgecolor="white", framealpha=1)
    for axis in (left, right):
        axis.axhline(50, color="0.7", linewidth=1, zorder=0)
        axis.set_ylim(40, 103)
        axis.set_ylabel("test accuracy (%)")
    save(figure, home / "lengths.png")


def _line(
    axis: Any,
    runs: Runs,
    key: str,
    name: str,
    color: str,
    shift: float = 1.0,
) -> None:
    at: dict[float, list[float]] = {}
    for run in runs:
        value = run["options"].get(key, run.get(key))
        at.setdefault(value, []).append(100 * run["test"]["accuracy"])
    x = sorted(at)
    axis.plot(x, [statistics.mean(at[value]) for value in x], color=color, label=name)
    # Every seed as a dot: accuracy is near 100 or near 50, which a deviation would hide.
    for value in x:
        shifted = [value * shift] * len(at[value])
        axis.plot(shifted, at[value], "o", color=color, markersize=3.5, alpha=0.5)


def curves(home: Path) -> None:
    """Training loss and validation accuracy at n = 100: memorising, and understanding."""
    figure, (loss, accuracy) = panels(2, width=5.0)
    runs = read("starts") + chosen(read("gain"), gain=1.5) + chosen(read("beyond"), variant="paper")
    runs += read("baselines") + chosen(read("teaching"), teaching="curriculum")
    rows = [
        ("CTAN, default", {"init": "default", "teaching": "repeated"}),
        ("the same, curriculum", {"init": "default", "teaching": "curriculum"}),
        ("CTAN, isometric", {"init": "isometric", "teaching": "repeated"}),
        ("JODIE", {"model": "jodie", "teaching": "repeated"}),
        ("CTAN, latching, gain 1.5", {"init": "latching", "gain": 1.5}),
        ("CTAN, latching, gain 3", {"init": "latching", "gain": None}),
    ]
    for number, (name, wanted) in enumerate(rows):
        for seed, run in enumerate(chosen(runs, length=100, **wanted)[:3]):
            label = name if seed == 0 else None
            loss.plot(run["train_loss"], color=COLORS[number], alpha=0.8, label=label)
            accuracy.plot([100 * a for a in run["val_accuracy"]], color=COLORS[number], alpha=0.8)
    loss.set_ylabel("training loss")
    figure.legend(
        *loss.get_legend_handles_labels(), loc="outside lower center", frameon=False, ncols=3,
        fontsize=9,
    )  # fmt: skip
    accuracy.set_ylabel("validation accuracy (%)")
    for axis in (loss, accuracy):
        axis.set_xlabel("epoch")
    save(figure, home / "curves-100.png")


FIGURES: dict[str, Callable[[Path], None]] = {make.__name__: make for make in (lengths, curves)}
