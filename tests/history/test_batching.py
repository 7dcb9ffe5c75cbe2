import numpy as np
import pytest
from history_oracles import compiled, streams
from hypothesis import given
from hypothesis import strategies as st

from ctan.errors import ProtocolError
from ctan.events import EventStream
from ctan.history import (
    Lockstep,
    TemporalIndex,
    causal,
    chronological,
    lockstep,
    time_groups,
)


def rows(batches):
    """(event, cut, after) of each event, batch by batch."""
    return [
        (int(e), int(cut), int(after))
        for batch in batches
        for e, cut, after in np.broadcast(batch.events, batch.cut, batch.after)
    ]


@compiled
@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 7))
def test_chronological_batches_follow_each_other(lo, length, size):
    batches = list(chronological(lo, lo + length, size))
    assert [e for batch in batches for e in batch.events] == list(range(lo, lo + length))
    for batch in batches:
        assert 0 < len(batch) <= size
        assert (batch.cut, batch.after) == (batch.events[0], batch.events[-1] + 1)


@compiled
@given(streams(), st.integers(1, 7), st.data())
def test_causal_sees_what_is_strictly_earlier(stream, size, data):
    lo = data.draw(st.integers(0, len(stream)))
    hi = data.draw(st.integers(lo, len(stream)))
    batches = list(causal(stream, TemporalIndex.build(stream), lo, hi, size))
    assert all(len(batch) <= size for batch in batches)
    assert rows(batches) == [
        (e, np.sum(stream.t < stream.t[e]), min(np.sum(stream.t <= stream.t[e]), hi))
        for e in range(lo, hi)
    ]


@compiled
@given(streams(), st.data())
def test_time_groups_see_the_same_as_causal(stream, data):
    bounds = [0, *np.flatnonzero(np.diff(stream.t)) + 1, len(stream)]
    lo = int(data.draw(st.sampled_from(bounds)))
    hi = data.draw(st.integers(lo, len(stream)))
    batches = list(time_groups(stream, lo, hi))
    assert rows(batches) == rows(causal(stream, TemporalIndex.build(stream), lo, hi, 5))
    times = [set(stream.t[batch.events].tolist()) for batch in batches]
    assert all(len(time) == 1 for time in times)
    assert len(set.union(set(), *times)) == len(times)


def test_time_groups_refuse_to_part_a_tie():
    stream = EventStream.from_arrays(src=[0, 1], dst=[1, 2], t=[5, 5])
    with pytest.raises(ProtocolError, match="positions 0 and 1 have the same time 5"):
        list(time_groups(stream, 1, 2))


@compiled
@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 3), st.randoms())
def test_lockstep_equals_a_literal_version(membership, graph_batch, random):
    graph = 10 * np.array(membership)  # ids need not be dense, nor events contiguous
    n = len(graph)
    stream = EventStream(
        src=graph // 5, dst=graph // 5 + 1, t=np.arange(n), graph=graph, num_nodes=10
    )
    wanted = sorted(set(graph.tolist()))
    random.shuffle(wanted)
    segments = list(lockstep(stream, wanted, graph_batch))

    expected = []
    for first in range(0, len(wanted), graph_batch):
        queues = [
            [e for e in range(n) if graph[e] == g] for g in wanted[first : first + graph_batch]
        ]
        steps = max(map(len, queues))
        expected.append([[q[r] for q in queues if r < len(q)] for r in range(steps)])
    assert [[b.events.tolist() for b in segment] for segment in segments] == expected
    for batch in (batch for segment in segments for batch in segment):
        assert (batch.cut == batch.events).all()
        assert (batch.after == batch.events + 1).all()
        assert len(set(graph[batch.events])) == len(batch)


def test_mistakes_are_named():
    stream = EventStream.from_arrays(src=[0], dst=[1], t=[0], graph=[3])
    with pytest.raises(ProtocolError, match=r"1 of 2 graphs have no events .* first is graph 4"):
        list(Lockstep.build(stream).segments([3, 4], 2))
    with pytest.raises(ProtocolError, match="names none"):
        Lockstep.build(EventStream.from_arrays(src=[0], dst=[1], t=[0]))
    with pytest.raises(ProtocolError, match=r"\[2, 1\) are no part"):
        list(chronological(2, 1, 1))
    with pytest.raises(ProtocolError, match="batch size must be at least 1"):
        list(chronological(0, 1, 0))
