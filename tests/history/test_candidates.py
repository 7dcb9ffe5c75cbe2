"""Candidates against their definitions, written with sets."""

import numpy as np
import pytest
from history_oracles import compiled, streams
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from ctan.errors import CtanError, ProtocolError
from ctan.events import EventKind, EventStream
from ctan.history import Candidates


def definition(stream, e, kind, pool="destinations", train_end=0, types=None):
    """All candidates of the event at position e, as a set; None for its pool alone."""
    real = [
        i
        for i in range(len(stream))
        if stream.kind is None or stream.kind[i] == EventKind.INTERACTION
    ]
    u, now = stream.src[e], stream.t[e]
    met_now = {int(stream.dst[i]) for i in real if stream.src[i] == u and stream.t[i] == now}
    everyone = {int(stream.dst[i]) for i in real}
    if pool == "nodes":
        everyone |= {int(stream.src[i]) for i in real}
    of_source = [i for i in real if stream.src[i] == u]
    before = {int(stream.dst[i]) for i in of_source if stream.t[i] < now}
    trained = {int(stream.dst[i]) for i in of_source if i < train_end}
    found = {"every": everyone, "historical": before, "inductive": before - trained}[kind]
    if types is not None:
        found = {v for v in found if types[v] == types[stream.dst[e]]}
    return {v for v in found - met_now if there(stream, v, e)}


def there(stream, node, e):
    """Whether the last that happened to a node before position e is not its deletion."""
    if stream.kind is None:
        return True
    about = [i for i in range(e) if node in (stream.src[i], stream.dst[i])]
    about = [i for i in about if stream.kind[i] != EventKind.EDGE_DELETED]
    return not about or stream.kind[about[-1]] != EventKind.NODE_DELETED


cases = streams(deletions=True, min_events=1)


@compiled
@given(cases, st.sampled_from(["destinations", "nodes"]), st.booleans(), st.data())
def test_every_is_the_pool_without_what_is_met_now(stream, pool, typed, data):
    if not (stream.kind == EventKind.INTERACTION).any():
        return
    one = st.integers(0, 1)
    types = data.draw(st.lists(one, min_size=stream.num_nodes, max_size=stream.num_nodes))
    types = types if typed else None
    candidates = Candidates(stream, pool, types=types, seed=0)
    ptr, node = candidates.every(np.arange(len(stream)))
    for e in range(len(stream)):
        expected = definition(stream, e, "every", pool, types=types)
        if types is not None:
            expected = sorted(expected)
        assert sorted(node[ptr[e] : ptr[e + 1]].tolist()) == sorted(expected)


@compiled
@given(cases, st.sampled_from(["historical", "inductive"]), st.booleans(), st.data())
def test_past_candidates_are_their_definition_and_no_other(stream, kind, typed, data):
    if not (stream.kind == EventKind.INTERACTION).any():
        return
    one = st.integers(0, 1)
    types = data.draw(st.lists(one, min_size=stream.num_nodes, max_size=stream.num_nodes))
    types = types if typed else None
    train_end = data.draw(st.integers(0, len(stream)))
    candidates = Candidates(stream, "nodes", train_end=train_end, types=types, seed=1)
    for e in range(len(stream)):
        expected = definition(stream, e, kind, "nodes", train_end, types)
        everyone = definition(stream, e, "every", "nodes", types=types)
        if not everyone:
            with pytest.raises(ProtocolError, match="nothing to be told apart from"):
                candidates.sample([e], 1, kind)
            continue
        # As many as there are: all of them, each once. More: the pool fills up, and says so.
        enough = max(1, len(expected))
        drawn = candidates.sample([e], enough, kind)
        assert drawn.short[0] == enough - len(expected)
        if expected:
            assert sorted(drawn.node[0].tolist()) == sorted(expected)
        more = candidates.sample([e], len(expected) + 3, kind)
        assert more.short[0] == 3
        assert set(more.node[0].tolist()) <= everyone | expected


@compiled
@given(streams(min_events=1), st.integers(1, 12))
def test_random_candidates_are_distinct_while_the_pool_lasts(stream, count):
    candidates = Candidates(stream, "nodes", seed=2)
    for e in range(len(stream)):
        everyone = definition(stream, e, "every", "nodes")
        if not everyone:
            continue
        row = candidates.sample([e], count).node[0].tolist()
        assert set(row) <= everyone
        assert len(set(row)) == min(count, len(everyone))


def busy(destinations=60):
    """One source that meets each destination once, one by one."""
    return EventStream.from_arrays(
        src=np.zeros(destinations, int),
        dst=1 + np.arange(destinations),
        t=np.arange(destinations),
    )


@pytest.mark.parametrize("count", [1, 3, 40])
def test_draws_are_uniform(count):
    # 59 earlier destinations at the last event: drawn again (3 of 59), and shuffled (40 of 59).
    stream, last = busy(), 59
    candidates = [
        Candidates(stream, seed=seed).sample([last], count, "historical") for seed in range(3000)
    ]
    values, counts = np.unique(np.concatenate([c.node[0] for c in candidates]), return_counts=True)
    assert values.tolist() == list(range(1, 60))
    assert chisquare(counts).pvalue > 0.001


def test_a_draw_depends_on_its_event_alone():
    stream = busy()
    candidates = Candidates(stream, seed=4)
    positions = np.arange(10, 60)
    whole = candidates.sample(positions, 5, "historical", epoch=3).node
    order = np.random.default_rng(0).permutation(50)
    assert (
        candidates.sample(positions[order], 5, "historical", epoch=3).node == whole[order]
    ).all()
    parts = [candidates.sample(p, 5, "historical", 3).node for p in np.array_split(positions, 7)]
    assert (np.concatenate(parts) == whole).all()
    assert (candidates.sample(positions, 5, "historical", epoch=4).node != whole).any()
    # A longer row need not begin like a shorter one, but it is the same every time.
    assert (candidates.sample(positions, 9).node == candidates.sample(positions, 9).node).all()


def test_mistakes_are_named():
    stream = busy(5)
    with pytest.raises(CtanError, match="did you mean 'historical'"):
        Candidates(stream, seed=0).sample([0], 1, "historic")
    with pytest.raises(ProtocolError, match="one number of 0 or more for each of 6 nodes"):
        Candidates(stream, types=[0, 1], seed=0)
    with pytest.raises(ProtocolError, match=r"positions\[0\] is 9"):
        Candidates(stream, seed=0).every([9])
    with pytest.raises(ProtocolError, match="1 events meet every candidate"):
        Candidates(EventStream.from_arrays(src=[0], dst=[1], t=[0]), seed=0).sample([0], 1)
