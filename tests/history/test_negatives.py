import numpy as np
import pytest
from history_oracles import compiled, streams
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from ctan.errors import CtanError, ProtocolError
from ctan.events import EventKind, EventStream
from ctan.history import RandomNegatives


def allowed(stream, source, pool_end, known_end, reject, pool):
    """The definition: the candidates of one source."""
    real = [
        (int(u), int(v), e)
        for e, (u, v) in enumerate(zip(stream.src, stream.dst, strict=True))
        if stream.kind is None or stream.kind[e] == EventKind.INTERACTION
    ]
    candidates = {v for _, v, e in real if e < pool_end}
    if pool == "nodes":
        candidates |= {u for u, _, e in real if e < pool_end}
    known = {v for u, v, e in real if e < known_end and u == source}
    return candidates - known if reject else candidates


@compiled
@given(
    streams(deletions=True, min_events=1),
    st.booleans(),
    st.sampled_from(["destinations", "nodes"]),
    st.data(),
)
def test_every_allowed_candidate_is_drawn_and_no_other(stream, reject, pool, data):
    pool_end, known_end = (data.draw(st.integers(0, len(stream))) for _ in "ab")
    rule = {"pool_end": pool_end, "known_end": known_end, "reject": reject, "pool": pool}
    if not allowed(stream, 0, pool_end, 0, False, pool):
        with pytest.raises(ProtocolError, match="no candidates"):
            RandomNegatives(stream, seed=0, **rule)
        return
    negatives = RandomNegatives(stream, seed=0, **rule)
    for source in range(stream.num_nodes):
        expected = allowed(stream, source, **rule)
        if expected:
            drawn = negatives.sample([source], [0], count=200)
            assert set(drawn[0].tolist()) == expected
        else:
            with pytest.raises(ProtocolError, match=f"first is node {source} at position 0"):
                negatives.sample([source], [0])


@pytest.fixture
def negatives():
    # 0 knows 10, 12 and 19 of the pool 10..19.
    src = np.array([0, 0, 0, *range(1, 8)])
    dst = np.array([10, 12, 19, 11, 13, 14, 15, 16, 17, 18])
    stream = EventStream.from_arrays(src=src, dst=dst, t=np.arange(10))
    return RandomNegatives(stream, 10, 10, seed=5)


def test_draws_are_uniform_over_the_complement(negatives):
    drawn = negatives.sample(np.zeros(7000, int), np.arange(7000))
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [11, 13, 14, 15, 16, 17, 18]
    assert chisquare(counts).pvalue > 0.01


def test_columns_and_epochs_are_independent(negatives):
    sources, positions = np.zeros(5000, int), np.arange(5000)
    both = negatives.sample(sources, positions, count=2)
    later = negatives.sample(sources, positions, epoch=1)
    for a, b in ((both[:, 0], both[:, 1]), (both[:, 0], later[:, 0])):
        _, counts = np.unique(np.stack([a, b]), axis=1, return_counts=True)
        assert len(counts) == 49
        assert chisquare(counts).pvalue > 0.01


def test_a_draw_depends_on_its_event_alone(negatives):
    positions = np.arange(64)
    sources = positions % 8
    whole = negatives.sample(sources, positions, epoch=2, count=3)
    order = np.random.default_rng(0).permutation(64)
    assert (negatives.sample(sources[order], positions[order], 2, 3) == whole[order]).all()
    for part in np.array_split(positions, 5):
        assert (negatives.sample(sources[part], part, 2, 3) == whole[part]).all()
    assert (negatives.sample(sources, positions, 2, 1)[:, 0] == whole[:, 0]).all()


def test_seeds_differ():
    stream = EventStream.from_arrays(src=np.zeros(50, int), dst=1 + np.arange(50), t=np.arange(50))
    first, second = (
        RandomNegatives(stream, 50, 0, seed=seed).sample([0] * 50, range(50)) for seed in (0, 1)
    )
    assert (first == second).mean() < 0.2


def test_mistakes_are_named(negatives):
    full = EventStream.from_arrays(src=[0, 0, 1, 1, 2], dst=[3, 4, 3, 4, 3], t=range(5))
    with pytest.raises(ProtocolError, match="2 sources know every candidate of a pool of 2"):
        RandomNegatives(full, 5, 5, seed=0).sample(full.src, range(5))
    with pytest.raises(CtanError, match="did you mean 'nodes'"):
        RandomNegatives(full, 5, 5, pool="node", seed=0)
    with pytest.raises(ProtocolError, match="2 sources but 1 positions"):
        negatives.sample([0, 0], [0])
    with pytest.raises(ProtocolError, match="src"):
        negatives.sample([99], [0])


@compiled
@given(streams(deletions=False, min_events=1), st.booleans(), st.data())
def test_typed_negatives_have_the_type_of_the_destination(stream, reject, data):
    types = np.array([data.draw(st.integers(0, 2)) for _ in range(stream.num_nodes)])
    end = len(stream)
    negatives = RandomNegatives(stream, end, end, reject=reject, pool="nodes", types=types, seed=1)
    for source, like in zip(stream.src[:9], stream.dst[:9], strict=True):
        everyone = allowed(stream, source, end, end, reject, "nodes")
        expected = {v for v in everyone if types[v] == types[like]}
        if expected:
            drawn = negatives.sample([source], [0], count=200, like=[like])
            assert set(drawn[0].tolist()) == expected
        else:
            with pytest.raises(ProtocolError, match="every candidate"):
                negatives.sample([source], [0], like=[like])


def test_types_need_a_destination_and_one_type_changes_nothing(negatives):
    stream = EventStream.from_arrays(src=[0, 0, 1], dst=[2, 3, 4], t=range(3))
    typed = RandomNegatives(stream, 3, 3, types=[0, 0, 1, 1, 0], seed=0)
    with pytest.raises(ProtocolError, match="like=dst"):
        typed.sample([0], [0])
    with pytest.raises(ProtocolError, match="one number of 0 or more for each of 5 nodes"):
        RandomNegatives(stream, 3, 3, types=[0], seed=0)
    plain, same = (
        RandomNegatives(stream, 3, 0, types=types, seed=0).sample(
            [0, 1], [0, 1], count=9, like=[2, 4]
        )
        for types in (None, [3] * 5)
    )
    assert (plain == same).all()
