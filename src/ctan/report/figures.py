"""Figures, drawn without a display."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ctan.report.tables import Table

# Okabe and Ito's colours, which people with colour blindness can tell apart.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def accuracy_by_length(
    path: Path,
    ours: Table,
    paper: Table | None = None,
    caption: str = "",
    chance: float = 50.0,
) -> None:
    """Draw accuracy against length: ours as lines with markers, the paper's dashed.

    Args:
        path: where to write the figure; the suffix says in which format.
        ours: a row for each model, a column for each length, in percent.
        paper: the same of the paper.
        caption: what a reader must know; stands below the axes.
        chance: the accuracy of guessing.

    Example:
        >>> import tempfile
        >>> from ctan.report import Cell, Table
        >>> path = Path(tempfile.mkdtemp()) / "accuracy.png"
        >>> accuracy_by_length(path, Table(["CTAN"], ["3"], {("CTAN", "3"): Cell(100.0)}))
        >>> path.stat().st_size > 0
        True
    """
    figure = Figure(figsize=(7.5, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.axhline(chance, color="0.6", linewidth=1, zorder=0)
    axes.annotate(
        "guessing", (0, chance), xycoords=("axes fraction", "data"), xytext=(4, -4),
        textcoords="offset points", va="top", color="0.45", fontsize=9,
    )  # fmt: skip
    for number, row in enumerate(ours.rows):
        color = _COLORS[number % len(_COLORS)]
        x, mean, std = _points(ours, row)
        # The first is the broadest, so that it shows where others lie upon it.
        axes.errorbar(
            x, mean, yerr=std if any(std) else None, color=color, label=f"{row}, here",
            marker=_MARKERS[number % len(_MARKERS)], markersize=6 if number else 10,
            linewidth=1.6 if number else 4, capsize=3, zorder=3 + number,
        )  # fmt: skip
        if paper is not None and row in paper.rows:
            x, mean, _ = _points(paper, row)
            axes.plot(x, mean, "--", linewidth=1.3, color=color, label=f"{row}, paper", zorder=2)
    axes.set_xlabel("nodes in a path")
    axes.set_ylabel("test accuracy (%)")
    axes.set_ylim(38, 103)
    axes.set_xticks(sorted({int(c) for t in (ours, paper) if t is not None for c in t.columns}))
    axes.grid(axis="y", color="0.92")
    axes.spines[["top", "right"]].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: (ours.rows.index(labels[i].split(",")[0]), i))
    axes.legend(
        [handles[i] for i in order], [labels[i] for i in order], frameon=False,
        ncols=len(ours.rows), loc="upper center", bbox_to_anchor=(0.5, 1.17),
    )  # fmt: skip
    if caption:
        lines = [fill(line, 120) for line in caption.split("\n")]
        figure.supxlabel("\n".join(lines), fontsize=7.5, color="0.35", x=0.01, ha="left")
    figure.savefig(path, dpi=160)


def _points(table: Table, row: str) -> tuple[list[int], list[float], list[float]]:
    found = [(int(c), table[row, c]) for c in table.columns if (row, c) in table.cells]
    found.sort(key=lambda point: point[0])
    return (
        [x for x, _ in found],
        [cell.mean for _, cell in found],
        [cell.std or 0.0 for _, cell in found],
    )
