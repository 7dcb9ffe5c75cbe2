"""What every figure of a study shares: colours, plain panels, and how it is written."""

from __future__ import annotations

from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe and Ito's colours, which people with colour blindness can tell apart.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")


def grid(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[list[Axes]]]:
    """An empty figure of rows of panels, each so many inches wide and high.

    Example:
        >>> figure, axes = grid(2, 3, width=2.0, height=2.0)
        >>> len(axes), len(axes[0])
        (2, 3)
    """
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = [
        [figure.add_subplot(rows, columns, row * columns + column + 1) for column in range(columns)]
        for row in range(rows)
    ]
    for each in (axis for row in axes for axis in row):
        each.spines[["top", "right"]].set_visible(False)
        each.grid(color="0.93")
        each.set_axisbelow(True)
    return figure, axes


def panels(columns: int, width: float = 4.2, height: float = 3.8) -> tuple[Figure, list[Axes]]:
    """An empty figure of some panels side by side.

    Example:
        >>> figure, axes = panels(2)
        >>> len(axes)
        2
    """
    figure, (row,) = grid(1, columns, width, height)
    return figure, row


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure; the suffix says in which format: .png, .svg or .pdf.

    Example:
        >>> import tempfile
        >>> figure, _ = panels(1)
        >>> path = Path(tempfile.mkdtemp()) / "empty.svg"
        >>> save(figure, path)
        >>> once = path.read_bytes()
        >>> save(figure, path)
        >>> path.read_bytes() == once
        True
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    # No date and no random names in the file: the same figure is the same bytes.
    dateless = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with rc_context({"svg.hashsalt": "ctan"}):
        figure.savefig(path, dpi=130, metadata=dateless.get(Path(path).suffix.lower()))
