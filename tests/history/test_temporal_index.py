from itertools import combinations

import numpy as np
import pytest
from history_oracles import compiled, streams, visible
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from ctan.errors import ProtocolError
from ctan.events import EventStream
from ctan.history import TemporalIndex


def check_row(slots, i, expected):
    n = slots.count[i]
    assert n == len(expected)
    assert list(zip(slots.node[i, :n], slots.event[i, :n], strict=True)) == expected
    assert (slots.node[i, n:] == -1).all()
    assert (slots.event[i, n:] == -1).all()


@compiled
@given(streams(deletions=True), st.integers(1, 5), st.data())
def test_recent_and_degree_equal_a_replay_of_the_stream(stream, k, data):
    index = TemporalIndex.build(stream)
    nodes = np.tile(np.arange(stream.num_nodes), 2)
    cuts = np.array([data.draw(st.integers(-1, len(stream) + 1)) for _ in nodes])
    for cut in (cuts, int(cuts[0])):
        degree, recent = index.degree(nodes, cut), index.recent(nodes, cut, k)
        for i, (node, seen) in enumerate(zip(nodes, np.broadcast_to(cut, len(nodes)), strict=True)):
            expected = visible(stream, node, seen)
            assert degree[i] == len(expected)
            check_row(recent, i, expected[::-1][:k])


@compiled
@given(streams(deletions=True), st.integers(1, 5), st.integers(0, 3))
def test_uniform_is_a_subset_of_what_is_visible_and_latest_first(stream, k, seed):
    index = TemporalIndex.build(stream)
    nodes = np.arange(stream.num_nodes)
    slots = index.uniform(nodes, len(stream), k, seed)
    for i, node in enumerate(nodes):
        expected = visible(stream, node, len(stream))
        n = slots.count[i]
        assert n == min(k, len(expected))
        assert (np.diff(slots.event[i, :n]) < 0).all()  # so they are distinct as well
        chosen = set(zip(slots.node[i, :n], slots.event[i, :n], strict=True))
        check_row(slots, i, [entry for entry in expected[::-1] if entry in chosen])
        alone = index.uniform([node], [len(stream)], k, seed)
        assert (alone.event[0] == slots.event[i]).all()


@pytest.mark.parametrize("dead", [False, True])
def test_every_subset_is_equally_likely(dead):
    # Node 0 meets 1 to 6; where some are dead, 7 and 8 came and went in between.
    if dead:
        met, kind = [7, 1, 2, 8, 3, 7, 4, 5, 8, 6], [0, 0, 0, 0, 0, 2, 0, 0, 2, 0]
    else:
        met, kind = [1, 2, 3, 4, 5, 6], [0] * 6
    stream = EventStream.from_arrays(
        src=np.zeros(len(met), int), dst=met, t=np.arange(len(met)), kind=np.uint8(kind)
    )
    index = TemporalIndex.build(stream)
    drawn = [index.uniform([0], len(met), 3, seed).node[0] for seed in range(8000)]
    counts = dict.fromkeys(combinations(range(1, 7), 3), 0)
    for subset in drawn:
        counts[tuple(sorted(subset.tolist()))] += 1
    assert chisquare(list(counts.values())).pvalue > 0.01


def test_uniform_draws_differ_between_seeds_nodes_and_cuts():
    n = 400  # events of nodes 0 and 1 alternate
    stream = EventStream.from_arrays(src=np.arange(n) % 2, dst=np.arange(n) + 2, t=np.arange(n))
    index = TemporalIndex.build(stream)
    ranks = [
        tuple(index.uniform([node], cut, 3, seed).event[0] // 2)
        for node in (0, 1)
        for cut in (n - 2, n)
        for seed in (0, 1)
    ]
    assert len(set(ranks)) == len(ranks)


@compiled
@given(streams(), st.lists(st.one_of(st.integers(-5, 99), st.floats(-5, 99)), min_size=1))
def test_cut_at_counts_the_strictly_earlier(stream, times):
    index = TemporalIndex.build(stream)
    expected = [sum(bool(t < time) for t in stream.t.tolist()) for time in times]
    assert [int(index.cut_at(time)) for time in times] == expected
    assert index.cut_at(np.array(times)).tolist() == expected


def test_cut_at_is_exact_where_floats_are_not():
    big = 2**60
    t = np.array([big, big + 1, big + 2])
    index = TemporalIndex.build(EventStream.from_arrays(src=[0, 0, 0], dst=[1, 1, 1], t=t))
    assert index.cut_at(t).tolist() == [0, 1, 2]
    assert index.cut_at([-np.inf, np.inf, -1e300, 1e300]).tolist() == [0, 3, 0, 3]


def test_hub_of_many_ties_in_order():
    n = 5000
    stream = EventStream.from_arrays(src=np.zeros(n, int), dst=1 + np.arange(n) % 7, t=np.zeros(n))
    index = TemporalIndex.build(stream)
    assert index.recent([0], 4000, 10).event[0].tolist() == list(range(3999, 3989, -1))
    assert index.neighbor.dtype == np.int32


def test_index_is_read_only():
    index = TemporalIndex.build(EventStream.from_arrays(src=[0], dst=[1], t=[0]))
    for column in (index.ptr, index.neighbor, index.event, index.t):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda index: index.degree([0, 2], 1), r"nodes\[1\] is 2, .* nodes 0 to 1"),
        (lambda index: index.degree([-1], 1), r"nodes\[0\] is -1"),
        (lambda index: index.degree([0.5], 1), "whole numbers"),
        (lambda index: index.degree([0, 1], [1]), "one position or 2 .* got 1"),
        (lambda index: index.recent([0], 1, 0), "k must be at least 1, got 0"),
        (lambda index: index.cut_at(np.nan), "NaN"),
    ],
)
def test_mistakes_are_named(ask, message):
    index = TemporalIndex.build(EventStream.from_arrays(src=[0], dst=[1], t=[0]))
    with pytest.raises(ProtocolError, match=message):
        ask(index)


@pytest.mark.parametrize("seed", range(5))
def test_no_answer_depends_on_the_lookup_before(seed):
    """Where a search starts is what the last one found: forwards, backwards or far off."""
    draw = np.random.default_rng(seed)
    stream = EventStream.from_arrays(
        src=draw.integers(0, 4, 400), dst=draw.integers(2, 7, 400), t=np.arange(400)
    )
    index = TemporalIndex.build(stream)
    for _ in range(300):
        nodes, cut = draw.integers(0, 7, 3), int(draw.integers(0, 402))
        found, fresh = (
            lookup.recent(nodes, cut, 4) for lookup in (index, TemporalIndex.build(stream))
        )
        wanted = [
            np.flatnonzero(((stream.src == u) | (stream.dst == u)) & (np.arange(400) < cut))
            for u in nodes
        ]
        for row, events in enumerate(wanted):
            last = events[::-1][:4]
            assert found.event[row, : len(last)].tolist() == last.tolist()
            assert found.count[row] == len(last)
        np.testing.assert_array_equal(found.event, fresh.event)
