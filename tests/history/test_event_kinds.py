"""Additions, updates and deletions in any order, against a plain replay with dictionaries."""

import numpy as np
from history_oracles import compiled
from hypothesis import given
from hypothesis import strategies as st

from ctan.events import EventKind, EventStream
from ctan.history import NodeHistory, RandomNegatives, TemporalIndex

NODES = 5
node = st.integers(0, NODES - 1)
happening = st.tuples(st.sampled_from([0, 0, 0, 1, 2, 3]), node, node)


def stream_of(happenings, with_x=True):
    kind, src, dst = np.array(happenings, np.int64).reshape(-1, 3).T
    alone = np.isin(kind, [EventKind.NODE, EventKind.NODE_DELETED])
    updates = int(np.count_nonzero(kind == EventKind.NODE))
    return EventStream.from_arrays(
        src=src,
        dst=np.where(alone, src, dst),
        t=np.arange(len(kind)) // 2,
        kind=kind,
        num_nodes=NODES,
        x=np.arange(NODES)[:, None] if with_x else None,
        x_update=100.0 + np.arange(updates)[:, None] if updates else None,
    )


class Replay:
    """The graph as dictionaries, one event after another."""

    def __init__(self, stream):
        self.met = {u: [] for u in range(stream.num_nodes)}  # (event, neighbour, src, dst)
        start = [0.0] * NODES if stream.x is None else stream.x[:, 0].tolist()
        self.start, self.x = start, dict(enumerate(start))
        self.gone = set()
        self.updates = 0

    def observe(self, stream, e):
        kind, u, v = stream.kind[e], int(stream.src[e]), int(stream.dst[e])
        if kind == EventKind.INTERACTION:
            self.gone -= {u, v}
            self.met[u].append((e, v, u, v))
            if v != u:
                self.met[v].append((e, u, u, v))
        elif kind == EventKind.NODE:
            self.gone.discard(u)
            if stream.x_update is not None:
                self.x[u] = float(stream.x_update[self.updates, 0])
            self.updates += 1
        elif kind == EventKind.EDGE_DELETED:
            self.forget(lambda src, dst: (src, dst) == (u, v))
        else:
            self.forget(lambda src, dst: u in (src, dst))
            self.x[u] = self.start[u]
            self.gone.add(u)

    def forget(self, deleted):
        for w, met in self.met.items():
            self.met[w] = [entry for entry in met if not deleted(entry[2], entry[3])]


@compiled
@given(st.lists(happening, min_size=1, max_size=40), st.booleans())
def test_neighbours_features_and_presence_at_every_cut(happenings, with_x):
    stream = stream_of(happenings, with_x)
    index, nodes = TemporalIndex.build(stream), NodeHistory.build(stream)
    start = np.zeros((NODES, 1)) if stream.x is None else stream.x
    table = start if stream.x_update is None else np.concatenate([start, stream.x_update])
    replay = Replay(stream)
    everyone = np.arange(NODES)
    for cut in range(len(stream) + 1):
        slots = index.recent(everyone, cut, k=50)
        degree = index.degree(everyone, cut)
        for u in range(NODES):
            latest_first = [(entry[0], entry[1]) for entry in reversed(replay.met[u])]
            n = int(slots.count[u])
            found = zip(slots.event[u, :n].tolist(), slots.node[u, :n].tolist(), strict=True)
            assert list(found) == latest_first
            assert degree[u] == n
        x = table[nodes.feature_row(everyone, cut)][:, 0]
        assert x.tolist() == [replay.x[u] for u in range(NODES)]
        assert nodes.alive(everyone, cut).tolist() == [u not in replay.gone for u in everyone]
        if cut < len(stream):
            replay.observe(stream, cut)


@compiled
@given(st.lists(happening, min_size=1, max_size=40))
def test_no_deleted_node_is_a_negative(happenings):
    happenings = [(0, 0, v) for v in range(1, NODES)] + happenings + [(1, 4, 4)]
    stream = stream_of(happenings)
    negatives = RandomNegatives(stream, len(stream), len(stream), reject=False, seed=3)
    replay = Replay(stream)
    for e in range(len(stream)):
        living = set(negatives.pool.tolist()) - replay.gone
        if living:
            drawn = negatives.sample([0], [e], count=20)
            assert set(drawn.ravel().tolist()) <= living
            named = negatives.sample([0], [7], count=20, at=[e])
            assert set(named.ravel().tolist()) <= living
        replay.observe(stream, e)


def test_a_stream_of_interactions_has_nothing_to_look_up():
    stream = EventStream.from_arrays(src=[0, 1], dst=[1, 2], t=[0, 1])
    history = NodeHistory.build(stream)
    assert not history.changes
    assert history.feature_row([2, 0], cut=1).tolist() == [2, 0]
    assert history.alive([2, 0], cut=[0, 2]).all()
