"""What a stream holds, in a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ctan.events.kinds import EventKind

if TYPE_CHECKING:
    from ctan.events.stream import EventStream

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_YEAR = 365 * 86_400


def card(stream: EventStream) -> str:
    """The card of `EventStream.card`."""
    lines = [f"{len(stream):,} events, {stream.num_nodes:,} nodes"]
    rows = _rows(stream) if len(stream) else {}
    lines += [f"  {name:<14}  {value}" for name, value in rows.items()]
    return "\n".join(lines)


def _rows(stream: EventStream) -> dict[str, str]:
    rows = {"time": _time(stream)}
    rows["endpoints"] = (
        f"{len(np.unique(stream.src)):,} distinct sources, "
        f"{len(np.unique(stream.dst)):,} distinct destinations"
    )
    rows["edges"] = _edges(stream)
    rows["event features"] = str(stream.edge_dim or "none")
    rows["node features"] = str(stream.node_dim or "none")
    rows["labels"] = _labels(stream)
    if stream.names is not None:
        rows["names"] = f"{stream.names[0]!r}, ... for {len(stream.names):,} nodes"
    if stream.graph is not None:
        rows["graphs"] = f"{len(np.unique(stream.graph)):,} disjoint"
    if stream.kind is not None:
        counts = np.bincount(stream.kind, minlength=len(EventKind))
        kinds = (f"{counts[k]:,} {k.name.lower()}" for k in EventKind if counts[k])
        rows["kinds"] = ", ".join(kinds)
    return rows


def _time(stream: EventStream) -> str:
    t = stream.t
    first, last = t[0].item(), t[-1].item()
    distinct = 1 + int(np.count_nonzero(t[1:] != t[:-1]))
    text = f"{first} to {last} ({t.dtype}), {distinct:,} distinct"
    if stream.t_unit is None:
        return text
    per_second = _PER_SECOND[stream.t_unit]
    text += f"; {_duration((last - first) / per_second)} in {stream.t_unit}"
    # A count that starts near zero runs from some event, not from 1970: it has no date.
    if first / per_second >= _YEAR:
        text += f"; {_iso(first, stream.t_unit)} to {_iso(last, stream.t_unit)}"
    return text


def _iso(time: float, unit: str) -> str:
    if isinstance(time, float):
        time, unit = round(time / _PER_SECOND[unit] * 1000), "ms"
    moment = np.array(int(time)).astype(f"datetime64[{unit}]").astype("datetime64[ms]")
    return f"{str(moment).removesuffix('.000')}Z"


def _duration(seconds: float) -> str:
    for name, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {name}"
    return f"{seconds:g} seconds"


def _edges(stream: EventStream) -> str:
    src, dst = stream.src, stream.dst
    if stream.kind is not None:
        added = stream.kind == EventKind.INTERACTION
        src, dst = src[added], dst[added]
    distinct = len(np.unique(src * stream.num_nodes + dst))
    loops = int(np.count_nonzero(src == dst))
    return (
        f"{distinct:,} distinct, {len(src) - distinct:,} repeated, "
        f"{loops:,} self-loop{'' if loops == 1 else 's'}"
    )


def _labels(stream: EventStream) -> str:
    y = stream.y
    if y is None:
        return "none"
    if y.dtype.kind == "f":
        known = y[~np.isnan(y)]
        if not len(known):
            return "targets, none known"
        return f"targets, {len(known):,} known, {known.min():g} to {known.max():g}"
    classes, counts = np.unique(y[y >= 0], return_counts=True)
    if not len(classes):
        return "classes, none known"
    shown = ", ".join(f"{c}: {n:,}" for c, n in zip(classes[:8], counts[:8], strict=True))
    return f"{len(classes):,} classes ({shown}{', ...' if len(classes) > 8 else ''})"
