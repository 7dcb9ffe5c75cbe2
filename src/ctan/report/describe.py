"""A stream in numbers: degrees, times between events, repeated pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctan.arrays import IntArray
from ctan.events import EventKind, EventStream, GraphSplit, Split, surprise

_QUANTILES = {"least": 0.0, "quarter": 0.25, "median": 0.5, "three_quarters": 0.75, "most": 1.0}


def describe(stream: EventStream, split: Split | GraphSplit | None = None) -> dict[str, Any]:
    """Counts, quantiles of degrees and of times between events, and how often pairs meet again.

    Only interactions count, each at both of its endpoints (a self-loop once).

    Args:
        stream: the events.
        split: their parts, if they have some.

    Returns:
        ``events``, ``nodes``, ``event_features`` and ``node_features``; of the interactions, the
        ``distinct_edges`` and the ``self_loops``; ``classes``, the events of each (None where
        there are no classes); quantiles (``least``, ``quarter``, ``median``, ``three_quarters``,
        ``most``) of ``events_of_a_node`` and ``neighbors_of_a_node``, over the nodes that have
        any, of ``time_to_next_event`` (of the stream), and of ``time_to_next_of_a_node`` (between
        a node's own events); and ``repeat_rate``, the share of events whose pair, in this
        direction, met before (NaN without any). With a split also ``split``, the events (or
        graphs) of each part, and ``surprise``.

    Example:
        >>> stream = EventStream.from_arrays(src=[0, 1, 0], dst=[1, 2, 1], t=[10, 20, 50])
        >>> facts = describe(stream)
        >>> facts["events_of_a_node"]["most"], facts["time_to_next_event"]["median"]
        (3.0, 20.0)
        >>> round(facts["repeat_rate"], 3)
        0.333
    """
    src, dst, t = stream.src, stream.dst, stream.t
    if stream.kind is not None:
        met = stream.kind == EventKind.INTERACTION
        src, dst, t = src[met], dst[met], t[met]
    apart = src != dst
    node = np.concatenate([src, dst[apart]])
    other = np.concatenate([dst, src[apart]])
    time = np.concatenate([t, t[apart]])
    order = np.lexsort((time, node))
    distinct = np.unique(src * stream.num_nodes + dst)
    gaps = np.diff(time[order])[np.diff(node[order]) == 0]
    facts: dict[str, Any] = {
        "events": len(stream),
        "nodes": stream.num_nodes,
        "event_features": stream.edge_dim,
        "node_features": stream.node_dim,
        "distinct_edges": len(distinct),
        "self_loops": int(np.count_nonzero(~apart)),
        "classes": _classes(stream.y),
        "events_of_a_node": _spread(np.unique(node, return_counts=True)[1]),
        "neighbors_of_a_node": _spread(_neighbors(node, other, stream.num_nodes)),
        "time_to_next_event": _spread(np.diff(t)),
        "time_to_next_of_a_node": _spread(gaps),
        "repeat_rate": 1 - len(distinct) / len(src) if len(src) else float("nan"),
    }
    if split is not None:
        facts["split"] = _sizes(split)
        facts["surprise"] = surprise(stream, split)
    return facts


def _sizes(split: Split | GraphSplit) -> dict[str, Any]:
    """How much each part holds, and of what."""
    if isinstance(split, Split):
        sizes = [part.stop - part.start for part in (split.train, split.val, split.test)]
    else:
        sizes = [len(part) for part in split]
    of = "events" if isinstance(split, Split) else "graphs"
    return {"of": of, **dict(zip(("train", "val", "test"), sizes, strict=True))}


def _classes(y: NDArray[Any] | None) -> dict[str, int] | None:
    """How many events each class has; None where there are no classes."""
    if y is None or y.dtype.kind == "f":
        return None
    classes, counts = np.unique(y[y >= 0], return_counts=True)
    return dict(zip(map(str, classes.tolist()), counts.tolist(), strict=True))


def _neighbors(node: IntArray, other: IntArray, nodes: int) -> IntArray:
    """How many distinct others each node met."""
    pairs = np.unique(node * nodes + other)
    return np.unique(pairs // nodes, return_counts=True)[1]


def _spread(values: NDArray[Any]) -> dict[str, float | None]:
    if not len(values):
        return dict.fromkeys(_QUANTILES)
    found = np.quantile(values, list(_QUANTILES.values()))
    return dict(zip(_QUANTILES, map(float, found), strict=True))
