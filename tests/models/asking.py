"""Ask a model about pairs, and read their histories one event at a time."""

from __future__ import annotations

import numpy as np

from ctan.events import EventStream
from ctan.history import Batch, PairIndex, TemporalIndex
from ctan.models import Asked, Events, Features, Model, View, look


def view_of(model: Model, stream: EventStream, pairs: list[tuple[int, int]], at: int) -> View:
    """What a model sees when it is asked about `pairs` at the time of event `at`."""
    src, dst = np.array(pairs).T
    events = Events.of(stream, np.array([at]))
    asked = Asked(src.copy(), dst.copy(), np.zeros(len(pairs), np.int64))
    batch = Batch(np.array([at]), at, at + 1)
    index, features = TemporalIndex.build(stream), Features.of(stream)
    met = PairIndex.build(stream) if model.sees.contacts else None
    return look(index, features, model.sees, batch, events, asked, pairs=met, seed=3)


def history(stream: EventStream, node: int, at: int, k: int) -> list[tuple[int, int]]:
    """(neighbour, event) of the last k events of `node` before position `at`, latest first."""
    met = []
    for e in range(at - 1, -1, -1):
        u, v = int(stream.src[e]), int(stream.dst[e])
        if node in (u, v):
            met.append((v if node == u else u, e))
    return met[:k]
