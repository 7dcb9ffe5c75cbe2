import numpy as np
import pytest
from history_oracles import compiled, literal_neighborhood, streams, visible, within
from hypothesis import given
from hypothesis import strategies as st

from ctan.errors import CtanError, ProtocolError
from ctan.events import EventStream
from ctan.history import TemporalIndex, ball, neighborhood


@st.composite
def questions(draw, stream):
    node, cut = st.integers(0, stream.num_nodes - 1), st.integers(0, len(stream))
    nodes = draw(st.lists(node, max_size=8))
    per_query = st.lists(cut, min_size=len(nodes), max_size=len(nodes))
    cuts = draw(st.one_of(cut, per_query))
    times = st.lists(
        st.sampled_from([0.0, -0.0, 1.5, 2.0]), min_size=len(nodes), max_size=len(nodes)
    )
    return np.array(nodes, np.int64), cuts, draw(st.one_of(st.none(), times))


@compiled
@given(
    streams(deletions=True),
    st.integers(1, 4),
    st.integers(0, 3),
    st.sampled_from(["recent", "uniform"]),
    st.data(),
)
def test_equals_the_literal_version(stream, k, hops, strategy, data):
    nodes, cut, time = data.draw(questions(stream))
    index = TemporalIndex.build(stream)

    def choose(node, cut):
        if strategy == "recent":
            return visible(stream, node, cut)[::-1][:k]
        slots = index.uniform([node], cut, k, seed=3)
        return list(zip(slots.node[0], slots.event[0], strict=True))[: slots.count[0]]

    hood = neighborhood(index, nodes, cut, k=k, hops=hops, time=time, strategy=strategy, seed=3)
    cuts = np.broadcast_to(cut, len(nodes)).tolist()
    times = [None] * len(nodes) if time is None else time
    asked, entries, sizes, slots = literal_neighborhood(choose, nodes.tolist(), cuts, times, hops)

    hood_times = [None] * len(hood) if hood.time is None else hood.time.tolist()
    assert (hood.time is None) == (time is None)
    keys = list(zip(hood.node.tolist(), hood.cut.tolist(), hood_times, strict=True))
    assert keys == entries
    assert hood.sizes == sizes
    assert [keys[row] for row in hood.row] == asked
    assert hood.count.tolist() == [len(choose(node, cut)) for node, cut, _ in keys]

    with_slots = sizes[-2] if hops else 0
    widest = max([1, *hood.count[:with_slots]])
    assert hood.slot.shape == hood.event.shape == (with_slots, widest)
    for row in range(with_slots):
        n = hood.count[row]
        assert [
            (keys[s], e) for s, e in zip(hood.slot[row, :n], hood.event[row, :n], strict=True)
        ] == (slots[keys[row]])
        assert not hood.slot[row, n:].any()
        assert not hood.event[row, n:].any()


@compiled
@given(streams(min_events=1), st.integers(1, 3), st.integers(0, 3), st.data())
def test_ball_equals_repeated_union(stream, k, radius, data):
    nodes, cut, time = data.draw(questions(stream))
    index = TemporalIndex.build(stream)
    hood = neighborhood(index, nodes, cut, k=k, hops=2 * radius, time=time)
    reached = ball(hood, hood.row, radius)
    assert reached.tolist() == within(hood, hood.row.tolist(), radius)
    assert reached.tolist() == list(range(hood.sizes[radius]))  # all asked: a ball is a prefix
    if len(hood.row):
        part = data.draw(st.lists(st.sampled_from(hood.row.tolist())))
        assert ball(hood, part, radius).tolist() == within(hood, part, radius)


def test_a_large_stream_grows_the_map_and_stays_exact():
    rng = np.random.default_rng(0)
    stream = EventStream.from_arrays(
        src=(4000 * rng.random(20000) ** 3).astype(int),
        dst=rng.integers(0, 4000, 20000),
        t=np.arange(20000) // 3,
    )
    index = TemporalIndex.build(stream)
    nodes, cuts = rng.integers(0, 4000, 300), rng.integers(0, 20000, 300)
    hood = neighborhood(index, nodes, cuts, k=7, hops=3)
    assert len(set(zip(hood.node, hood.cut, strict=True))) == len(hood) == hood.sizes[-1]
    assert (hood.node[hood.row] == nodes).all()
    assert (hood.cut[hood.row] == cuts).all()
    recent = index.recent(hood.node, hood.cut, 7)
    assert (recent.count == hood.count).all()
    rows = len(hood.slot)
    present = np.arange(7) < hood.count[:rows, None]
    assert (hood.node[hood.slot][present] == recent.node[:rows][present]).all()
    assert (hood.event[present] == recent.event[:rows][present]).all()
    assert (hood.cut[hood.slot] == hood.cut[:rows, None])[present].all()


#   0 ── 1 ── 2 ── 3     events 0, 1, 2 from left to right
@pytest.fixture
def path():
    return TemporalIndex.build(EventStream.from_arrays(src=[0, 1, 2], dst=[1, 2, 3], t=[0, 1, 2]))


def test_an_entry_is_shared_across_hops_at_its_smallest(path):
    hood = neighborhood(path, [1, 2], 3, k=2, hops=2)
    assert hood.node.tolist() == [1, 2, 0, 3]
    assert hood.sizes == (2, 4, 4)
    assert hood.slot.tolist() == [[1, 2], [3, 0], [0, 0], [1, 0]]


def test_cut_and_time_part_entries(path):
    assert neighborhood(path, [1, 1], [1, 2], k=1, hops=0).node.tolist() == [1, 1]
    hood = neighborhood(path, [1, 1, 1], 2, k=1, hops=1, time=[7, 8, 7])
    assert hood.row.tolist() == [0, 1, 0]
    assert hood.time.tolist() == [7, 8, 7, 8]
    assert hood.time.dtype == np.int64


def test_the_same_question_gives_the_same_answer(path):
    first, second = (neighborhood(path, [3], 3, k=1, hops=2, strategy="uniform") for _ in "ab")
    assert (first.slot == second.slot).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strategy": "resent"}, "did you mean 'recent'"),
        ({"hops": -1}, "hops must be at least 0"),
        ({"k": 0}, "k must be at least 1"),
        ({"time": [1.0, 2.0]}, r"expected 1 query times, got shape \(2,\)"),
    ],
)
def test_mistakes_are_named(path, change, message):
    with pytest.raises(CtanError, match=message):
        neighborhood(path, [0], 3, **({"k": 1, "hops": 1} | change))


def test_a_ball_wider_than_its_neighborhood_is_refused(path):
    hood = neighborhood(path, [0], 3, k=2, hops=1)
    with pytest.raises(ProtocolError, match=r"a ball of 2 hops .* sample more hops"):
        ball(hood, hood.row, 2)
