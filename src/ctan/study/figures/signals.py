"""Curves of signals, and of what a source reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctan.study.figures.canvas import COLORS, panels, save
from ctan.study.reach import Reach
from ctan.study.signal import Signal

#: Curves end where they fall below this: rounding is not far.
_FLOOR = 1e-9


def draw_signals(
    path: str | Path,
    signals: Mapping[str, Signal],
    *,
    along: str,
    columns: Sequence[str] = (),
    styles: Mapping[str, str] | None = None,
    colors: Mapping[str, str] | None = None,
) -> None:
    """Curves of what becomes of a signal: derivative, difference, and what can be read off.

    Args:
        path: where to write the figure.
        signals: curves by name.
        along: what a step is: ``hops`` or ``events``.
        columns: which of ``derivative``, ``difference`` and ``readable`` to draw; all if not given.
        styles: Matplotlib's line style by name; solid if not given, dashed after eight.
        colors: Matplotlib's colour by name; one after the other if not given.

    Example:
        >>> import tempfile
        >>> flat = np.ones(3)
        >>> path = Path(tempfile.mkdtemp()) / "signal.png"
        >>> draw_signals(path, {"a": Signal(np.arange(3), flat, flat, flat, flat)}, along="hops")
        >>> path.exists()
        True
    """
    titles = {
        "derivative": "derivative of the embedding by the signal",
        "difference": "difference the signal's sign makes",
        "readable": "accuracy of a linear readout",
    }
    chosen = tuple(columns) or tuple(titles)
    figure, axes = panels(len(chosen))
    for axis, name in zip(axes, chosen, strict=True):
        for number, (label, signal) in enumerate(signals.items()):
            value = getattr(signal, name)
            shown = value if name == "readable" else _above_floor(value)
            axis.plot(
                signal.step + 1, shown, label=label,
                color=(colors or {}).get(label, COLORS[number % len(COLORS)]),
                linestyle=(styles or {}).get(label, "-" if number < len(COLORS) else "--"),
            )  # fmt: skip
        axis.set_title(titles[name], fontsize=10)
        axis.set_xlabel(along)
        if name == "readable":
            axis.axhline(0.5, color="0.7", linewidth=1, zorder=0)
            axis.set_ylim(0.4, 1.03)
        else:
            axis.set_yscale("log")
            axis.set_ylim(bottom=_FLOOR)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", frameon=False,
        ncols=min(5, len(signals)), fontsize=9,
    )  # fmt: skip
    save(figure, path)


def _above_floor(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Down to the floor, and nothing after that until it rises again."""
    low = value < _FLOOR
    onto = low & ~np.concatenate([[False], low[:-1]])
    return np.where(onto, _FLOOR, np.where(low, np.nan, value))


def draw_reach(path: str | Path, found: Mapping[str, Reach], *, since: int = 0) -> None:
    """When each node first hears of the source: theory as lines, measurement as dots.

    Args:
        path: where to write the figure.
        found: by name; nodes in the order of their distance.
        since: step that counts as the first.

    Example:
        >>> import tempfile
        >>> steps, path = np.arange(3), Path(tempfile.mkdtemp()) / "reach.png"
        >>> draw_reach(path, {"L = 1": Reach(steps, steps)})
        >>> path.exists()
        True
    """
    figure, (axis,) = panels(1, width=5.6)
    for number, (label, reach) in enumerate(found.items()):
        for values, style in ((reach.theory, "-"), (reach.measured, "o")):
            if values is None:
                continue
            nodes = np.flatnonzero(values >= since)
            # One entry of the legend for each name: its line, or its dots where there is no line.
            named = style == "-" or reach.theory is None
            axis.plot(
                nodes, values[nodes] - since + 1, style, color=COLORS[number % len(COLORS)],
                label=label if named else None, markersize=5,
            )  # fmt: skip
    axis.set_title("lines: in theory; dots: as measured", fontsize=10)
    axis.set_xlabel("hops from the source")
    axis.set_ylabel("events until its input arrives")
    axis.legend(frameon=False, fontsize=9)
    save(figure, path)
