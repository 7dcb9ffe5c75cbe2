"""Figures, drawn without a display."""

from __future__ import annotations

from pathlib import Path

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
        "guessing", (1, chance), xycoords=("axes fraction", "data"), xytext=(-4, 4),
        textcoords="offset points", ha="right", color="0.45", fontsize=9,
    )  # fmt: skip
    for number, row in enumerate(ours.rows):
        color = _COLORS[number % len(_COLORS)]
        if paper is not None and row in paper.rows:
            x, mean, _ = _points(paper, row)
            axes.plot(x, mean, "--", linewidth=1.3, alpha=0.75, label=f"{row}, paper", color=color)
        x, mean, std = _points(ours, row)
        axes.errorbar(
            x, mean, yerr=std, marker=_MARKERS[number % len(_MARKERS)], markersize=6,
            linewidth=2, capsize=3, label=f"{row}, here", color=color,
        )  # fmt: skip
    axes.set_xlabel("nodes in a path")
    axes.set_ylabel("test accuracy (%)")
    axes.set_ylim(38, 103)
    axes.set_xticks(sorted({int(c) for t in (ours, paper) if t is not None for c in t.columns}))
    axes.grid(axis="y", color="0.92")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, ncols=len(ours.rows), loc="upper center", bbox_to_anchor=(0.5, 1.17))
    if caption:
        figure.supxlabel(caption, fontsize=8, color="0.35", x=0.01, ha="left")
    figure.savefig(path, dpi=160)


def _points(table: Table, row: str) -> tuple[list[int], list[float], list[float]]:
    found = [(int(c), table[row, c]) for c in table.columns if (row, c) in table.cells]
    found.sort(key=lambda point: point[0])
    return (
        [x for x, _ in found],
        [cell.mean for _, cell in found],
        [cell.std or 0.0 for _, cell in found],
    )
