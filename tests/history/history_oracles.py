"""Slow and obvious versions of what `ctan.history` does, and random streams to try them on."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from ctan.events import EventKind, EventStream

compiled = settings(deadline=None)  # the first example may wait for the compiler


@st.composite
def streams(draw, deletions=False, min_events=0, max_events=40, min_nodes=1):
    """Small streams with a hub, ties, self-loops, repeated edges and lone nodes."""
    num_nodes = draw(st.integers(min_nodes, 7))
    node = st.integers(0, num_nodes - 1)
    hub = st.one_of(st.just(0), node)
    kinds = st.sampled_from([0, 0, 0, 0, 1, 2, 3]) if deletions else st.just(0)
    event = st.tuples(hub, node, st.integers(0, 2), kinds)
    rows = draw(st.lists(event, min_size=min_events, max_size=max_events))
    src, dst, gap, kind = np.array(rows, np.int64).reshape(-1, 4).T
    about_one = np.isin(kind, [EventKind.NODE, EventKind.NODE_DELETED])
    t = np.cumsum(gap) + draw(st.integers(-3, 3))
    return EventStream(
        src=src,
        dst=np.where(about_one, src, dst),
        t=t.astype(draw(st.sampled_from([np.int64, np.float64]))),
        kind=kind.astype(np.uint8) if deletions else None,
        num_nodes=num_nodes,
    )


def visible(stream, node, cut):
    """(neighbour, event) of each entry a node sees, in stream order: replay, step by step."""
    entries = []
    for e in range(min(cut, len(stream))):
        u, v = int(stream.src[e]), int(stream.dst[e])
        kind = EventKind.INTERACTION if stream.kind is None else stream.kind[e]
        if kind == EventKind.INTERACTION:
            entries.append((u, v, e))
        elif kind == EventKind.EDGE_DELETED:
            entries = [entry for entry in entries if entry[:2] != (u, v)]
        elif kind == EventKind.NODE_DELETED:
            entries = [entry for entry in entries if u not in entry[:2]]
    return [(v if u == node else u, e) for u, v, e in entries if node in (u, v)]


def literal_neighborhood(choose, nodes, cuts, times, hops):
    """Entries by hop and the slots of each, with dictionaries; `choose(node, cut)` samples."""
    asked = list(zip(nodes, cuts, times, strict=True))
    entries = list(dict.fromkeys(asked))
    sizes, slots, rim = [len(entries)], {}, entries
    for _ in range(hops):
        found = []
        for key in rim:
            node, cut, time = key
            slots[key] = [((v, cut, time), e) for v, e in choose(node, cut)]
            for neighbour, _ in slots[key]:
                if neighbour not in entries and neighbour not in found:
                    found.append(neighbour)
        entries, rim = entries + found, found
        sizes.append(len(entries))
    return asked, entries, tuple(sizes), slots


def within(hood, rows, hops):
    """Entries within `hops` hops of `rows`, by repeated union."""
    inside = set(rows)
    for _ in range(hops):
        inside |= {int(v) for u in inside for v in hood.slot[u, : hood.count[u]]}
    return sorted(inside)
