"""Walks, windows and occurrences against dictionaries that replay the stream event by event."""

from collections import Counter
from math import exp, inf

import numpy as np
import pytest
from history_oracles import compiled, streams, visible
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from ctan.errors import ProtocolError
from ctan.events import EventKind, EventStream
from ctan.history import CausalWalks, Occurrences, TemporalIndex, TimeWindow


def choices(stream, node, cut, limit):
    """(neighbour, event) that a walk at `node` may take: seen at the cut, before `limit`."""
    return [(v, e) for v, e in visible(stream, node, cut) if e < limit]


def literal_walks(stream, start, cut, length, alpha):
    """Probability of each walk (the events it takes), by following every branch."""
    open_walks, finished = {((), start, cut): 1.0}, Counter()
    for step in range(length + 1):
        grown = Counter()
        for (events, node, limit), p in open_walks.items():
            options = choices(stream, node, cut, limit) if step < length else []
            if not options:
                finished[events] += p
                continue
            latest = stream.t[options[-1][1]]
            weights = [exp(alpha * float(stream.t[e] - latest)) for _, e in options]
            for (v, e), weight in zip(options, weights, strict=True):
                grown[(*events, e), v, e] += p * weight / sum(weights)
        open_walks = grown
    return finished


#  0 ══ 1 ── 2 ══ 0 , 3: repeated edges, a hub, a tie at time 6
STREAM = EventStream.from_arrays(
    src=[0, 0, 1, 2, 0, 3, 0, 1], dst=[1, 1, 2, 0, 3, 2, 2, 3], t=[0, 1, 2, 4, 6, 6, 7, 9]
)
DELETED = EventStream.from_arrays(
    src=[0, 0, 1, 2, 0, 3, 0, 1, 0],
    dst=[1, 1, 2, 0, 3, 2, 1, 3, 2],
    t=[0, 1, 2, 4, 6, 6, 7, 9, 9],
    kind=np.array([0, 0, 0, 0, 0, 0, EventKind.EDGE_DELETED, 0, 0], np.uint8),
)


@pytest.mark.parametrize("stream", [STREAM, DELETED], ids=["interactions", "deletions"])
@pytest.mark.parametrize("alpha", [0.0, 0.4])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_walks_have_the_probabilities_of_the_paper(stream, alpha, dtype):
    stream = EventStream.from_arrays(
        src=stream.src, dst=stream.dst, t=stream.t.astype(dtype), kind=stream.kind
    )
    drawn = 20_000
    walks = CausalWalks(drawn, 3, alpha).sample(TemporalIndex.build(stream), [2, 3], len(stream))
    for row, start in enumerate([2, 3]):
        exact = literal_walks(stream, start, len(stream), 3, alpha)
        taken = Counter(
            tuple(events[:n].tolist())
            for events, n in zip(walks.event[row], walks.length[row], strict=True)
        )
        assert taken.keys() <= exact.keys()
        assert len(exact) > 3
        common = [events for events, p in exact.items() if p * drawn > 5]
        observed = [taken[events] for events in common]
        expected = np.array([exact[events] for events in common])
        # Exact probabilities, fixed seed: a wrong weight is far out, chance is not.
        assert chisquare(observed, expected * sum(observed) / expected.sum()).pvalue > 1e-3


@compiled
@given(streams(deletions=True, min_events=1), st.sampled_from([0.0, 0.3, 50.0]), st.data())
def test_every_step_is_one_that_the_past_allows(stream, alpha, data):
    nodes = data.draw(st.lists(st.integers(0, stream.num_nodes - 1), max_size=5))
    cuts = data.draw(
        st.lists(st.integers(0, len(stream)), min_size=len(nodes), max_size=len(nodes))
    )
    index = TemporalIndex.build(stream)
    walks = CausalWalks(3, 4, alpha).sample(index, np.array(nodes, int), cuts, seed=5)
    for row, (start, cut) in enumerate(zip(nodes, cuts, strict=True)):
        for w in range(3):
            node, limit = start, cut
            for step in range(walks.length[row, w]):
                assert walks.node[row, w, step] == node
                node, limit = walks.node[row, w, step + 1], walks.event[row, w, step]
                assert (node, limit) in choices(
                    stream,
                    walks.node[row, w, step],
                    cut,
                    walks.event[row, w, step - 1] if step else cut,
                )
            ended = walks.length[row, w] < 4
            assert not (ended and choices(stream, node, cut, limit))
            assert not walks.node[row, w, walks.length[row, w] + 1 :].any()
            assert not walks.event[row, w, walks.length[row, w] :].any()


def test_a_draw_depends_on_seed_node_and_cut_alone():
    index = TemporalIndex.build(STREAM)
    plan = CausalWalks(8, 3, 0.1)
    many = plan.sample(index, [3, 0, 2, 0], [8, 8, 7, 5], seed=3)
    for row, (node, cut) in enumerate([(3, 8), (0, 8), (2, 7), (0, 5)]):
        alone = plan.sample(index, [node], cut, seed=3)
        assert (alone.event[0] == many.event[row]).all()
    assert (plan.sample(index, [3, 0, 2, 0], [8, 8, 7, 5], seed=4).event != many.event).any()
    more = CausalWalks(9, 3, 0.1).sample(index, [3, 0, 2, 0], [8, 8, 7, 5], seed=3)
    assert (more.event[:, :8] == many.event).all()


def test_unix_times_in_thousands_of_events_stay_exact():
    """The running sums neither overflow nor lose the recent terms: each draw is the expected."""
    t = 1_600_000_000 + 100 * np.arange(30_000)
    stream = EventStream.from_arrays(src=np.zeros(30_000, int), dst=np.ones(30_000, int), t=t)
    drawn = CausalWalks(20_000, 1, alpha=0.005).sample(TemporalIndex.build(stream), [0], 30_000)
    back = 29_999 - drawn.event[0, :, 0]
    ratio = exp(-0.5)  # geometric: each earlier event is less likely by the same factor
    expected = np.append(len(back) * (1 - ratio) * ratio ** np.arange(12), len(back) * ratio**12)
    observed = np.bincount(np.minimum(back, 12), minlength=13)
    assert chisquare(observed, expected).pvalue > 1e-3


@compiled
@given(
    streams(deletions=True, min_events=1),
    st.sampled_from([0.5, 1, 3, inf]),
    st.integers(1, 5),
    st.data(),
)
def test_a_window_equals_its_definition(stream, span, links, data):
    rows = st.tuples(
        st.integers(0, stream.num_nodes - 1),
        st.integers(0, len(stream)),
        st.integers(int(stream.t[0]) - 1, int(stream.t[-1]) + 3),
    )
    asked = data.draw(st.lists(rows, max_size=6))
    node, cut, time = np.array(asked, np.int64).reshape(-1, 3).T
    time = time.astype(stream.t.dtype)
    window = TimeWindow(span, links).look(TemporalIndex.build(stream), node, cut, time)
    for row, (u, p, now) in enumerate(asked):
        near = [v for v, e in visible(stream, u, p) if stream.t[e] > now - span]
        assert window.node[window.ptr[row] : window.ptr[row + 1]].tolist() == near[::-1][:links]
    assert window.ptr[-1] == len(window.node)


@compiled
@given(st.data())
def test_occurrences_equal_counters(data):
    rows, places = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    sequence = np.array(
        data.draw(st.lists(st.integers(0, 4), min_size=rows * places, max_size=rows * places))
    ).reshape(rows, places)
    present = np.array(
        data.draw(st.lists(st.booleans(), min_size=rows * places, max_size=rows * places))
    ).reshape(rows, places)
    weight = np.array(data.draw(st.lists(st.integers(1, 99), min_size=places, max_size=places)))
    seen = Occurrences.of(sequence, present, weight)

    counters = []
    for row in range(rows):
        counter = Counter()
        for s in np.flatnonzero(present[row]):
            counter[sequence[row, s]] += weight[s]
        counters.append(counter)
    own, pairs = seen.own(), [(a, b) for a in range(rows) for b in range(rows)]
    across = seen.across(*np.array(pairs).T)
    for p, (a, b) in enumerate(pairs):
        for s in range(places):
            node, there = sequence[a, s], present[a, s]
            assert own[a, s] == (counters[a][node] if there else 0)
            assert across[p, s] == (counters[b][node] if there else 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CausalWalks(0, 1), "count must be at least 1"),
        (lambda: CausalWalks(1, 0), "length must be at least 1"),
        (lambda: CausalWalks(1, 1, -0.5), "alpha is -0.5"),
        (lambda: CausalWalks(1, 1, inf), "alpha is inf"),
        (lambda: TimeWindow(span=0), "span is 0"),
        (lambda: TimeWindow(links=0), "links must be at least 1"),
        (
            lambda: TimeWindow().look(TemporalIndex.build(STREAM), [0], 3, [1, 2]),
            r"expected 1 query times, got \(2,\)",
        ),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ProtocolError, match=message):
        make()
