"""What a stream looks like: activity, degrees, waits, and how much of it is new."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ctan.arrays import IntArray
from ctan.errors import DataError
from ctan.events import EventKind, EventStream, GraphSplit, Split, surprise

_BLUE, _RED, _GREEN = "#0072B2", "#D55E00", "#009E73"
_BINS = 60


def draw_description(
    path: Path, stream: EventStream, split: Split | GraphSplit | None = None, title: str = ""
) -> None:
    """Draw a stream: events over time, degrees, waits, and the share of new pairs.

    Only interactions count. The share of new pairs is that of the events whose pair, in this
    direction, never met before; the index of surprise stands beside it where there is a split.

    Args:
        path: where to write the figure; the suffix says in which format.
        stream: the events.
        split: its parts, drawn as boundaries in time.
        title: what stands above.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "stream.png"
        >>> draw_description(path, EventStream.from_arrays(src=[0, 1], dst=[1, 2], t=[1, 5]))
        >>> path.stat().st_size > 0
        True
    """
    src, dst, t = stream.src, stream.dst, stream.t
    if stream.kind is not None:
        met = stream.kind == EventKind.INTERACTION
        src, dst, t = src[met], dst[met], t[met]
    if not len(src):
        raise DataError(f"{path}: a figure shows interactions, and the stream has none.")
    figure = Figure(figsize=(10, 7), layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(title)
    axes = figure.subplots(2, 2)
    _activity(axes[0, 0], t, _boundaries(stream, split))
    _degrees(axes[0, 1], src, dst)
    _waits(axes[1, 0], src, dst, t)
    _novelty(axes[1, 1], stream, split, src, dst)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def _boundaries(stream: EventStream, split: Split | GraphSplit | None) -> list[float]:
    if not isinstance(split, Split):
        return []
    ends = (split.train_end, split.val_end)
    return [float(stream.t[end]) for end in ends if 0 < end < len(stream)]


def _activity(ax: Axes, t: NDArray[np.generic], boundaries: list[float]) -> None:
    ax.hist(np.asarray(t, np.float64), bins=_edges(t), color=_BLUE)
    for line, (at, name) in enumerate(zip(boundaries, ("validation", "test"), strict=False)):
        ax.axvline(at, color="black", linewidth=1)
        ax.annotate(  # one below the other: the boundaries may be close
            name, (at, 1), xycoords=("data", "axes fraction"), xytext=(3, -4 - 12 * line),
            textcoords="offset points", va="top", fontsize=8,
        )  # fmt: skip
    ax.margins(x=0)
    ax.set(xlabel="time", ylabel="events", title="Activity")


def _edges(t: NDArray[np.generic]) -> list[float]:
    """Where bins begin and end: as many whole times in each, so that none is higher for that."""
    low, high = t[0].item(), t[-1].item()
    if t.dtype.kind == "f":
        return list(np.linspace(low, high if high > low else low + 1, _BINS + 1))
    width = (high - low) // _BINS + 1
    count = (high - low) // width + 1
    return [float(low + width * i) for i in range(count + 1)]


def _degrees(ax: Axes, src: IntArray, dst: IntArray) -> None:
    for name, column, color in (("sources", src, _BLUE), ("destinations", dst, _RED)):
        degree = np.sort(np.unique(column, return_counts=True)[1])[::-1]
        ax.step(
            degree,
            np.arange(1, len(degree) + 1) / len(degree),
            color=color,
            label=name,
            where="post",
        )
    ax.set(xscale="log", yscale="log", xlabel="events of a node, at least")
    ax.set(ylabel="share of nodes", title="Degrees")
    ax.legend(frameon=False)


def _waits(ax: Axes, src: IntArray, dst: IntArray, t: NDArray[np.generic]) -> None:
    """Times between the events of a node, on a logarithmic axis; zeros are counted in words."""
    ends = np.concatenate([src, dst[src != dst]])
    time = np.concatenate([t, t[src != dst]])
    order = np.lexsort((time, ends))
    waits = np.diff(time[order])[np.diff(ends[order]) == 0].astype(np.float64)
    positive = waits[waits > 0]
    if len(positive):
        low, high = positive.min(), positive.max()
        bins = np.geomspace(low, high if high > low else 2 * low, _BINS)
        ax.hist(positive, bins=list(bins), color=_GREEN)
        ax.set_xscale("log")
    zero = 1 - len(positive) / max(1, len(waits))
    ax.set(xlabel="time between events of a node", ylabel="pairs of events")
    ax.set_title(f"Waits ({zero:.1%} are zero)")


def _novelty(
    ax: Axes,
    stream: EventStream,
    split: Split | GraphSplit | None,
    src: IntArray,
    dst: IntArray,
) -> None:
    _, first = np.unique(src * stream.num_nodes + dst, return_index=True)
    new = np.zeros(len(src))
    new[first] = 1
    parts = np.array_split(new, min(_BINS, max(1, len(new))))
    place = np.cumsum([len(part) for part in parts]) - [len(part) / 2 for part in parts]
    lines = [f"repeat rate      {1 - new.mean():.3f}"]
    if split is not None:
        found = surprise(stream, split)
        lines += [f"surprise {name:<7} {found[name]:.3f}" for name in ("tgb", "pairs", "events")]
    means = [part.mean() for part in parts]
    ax.plot(place, means, color=_BLUE, linewidth=2, label="\n".join(lines))
    # Put where the line is not.
    ax.legend(handlelength=0, frameon=False, prop={"family": "monospace", "size": 9})
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.set(xlabel="interaction", ylabel="share of new pairs", ylim=(0, 1.02), title="Novelty")
    ax.margins(x=0)
