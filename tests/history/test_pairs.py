import numpy as np
import pytest
from history_oracles import compiled, streams
from hypothesis import given
from hypothesis import strategies as st

from ctan.errors import ProtocolError
from ctan.events import EventKind, EventStream
from ctan.history import PairIndex


def alive(stream, u, v, cut):
    """Positions of the visible events of a pair: replay, step by step."""
    found = []
    for e in range(cut):
        ends = (int(stream.src[e]), int(stream.dst[e]))
        kind = EventKind.INTERACTION if stream.kind is None else stream.kind[e]
        if kind == EventKind.INTERACTION and ends == (u, v):
            found.append(e)
        deleted = {
            EventKind.EDGE_DELETED: ends == (u, v),
            EventKind.NODE_DELETED: ends[0] in (u, v),
        }
        if deleted.get(kind):
            found = []
    return found


@compiled
@given(st.booleans().flatmap(lambda deletions: streams(deletions=deletions)), st.data())
def test_every_pair_at_every_cut_is_what_a_replay_finds(stream, data):
    pairs = PairIndex.build(stream)
    node = st.integers(0, stream.num_nodes - 1)
    asked = data.draw(
        st.lists(st.tuples(node, node, st.integers(0, len(stream))), min_size=1, max_size=30)
    )
    src, dst, cut = np.array(asked).T
    met = pairs.met(src, dst, cut)
    expected = [alive(stream, *row) for row in asked]
    assert met.count.tolist() == [len(found) for found in expected]
    assert met.first.tolist() == [found[0] if found else -1 for found in expected]
    assert met.last.tolist() == [found[-1] if found else -1 for found in expected]
    at_once = pairs.met(src, dst, int(cut[0]))
    one_by_one = [pairs.met([u], [v], cut[0]).count[0] for u, v in zip(src, dst, strict=True)]
    assert at_once.count.tolist() == one_by_one


@compiled
@given(streams(deletions=True))
def test_running_statistics_are_those_of_each_prefix(stream):
    pairs = PairIndex.build(stream)
    for cut in range(len(stream) + 1):
        times = {}
        for e in range(cut):
            if stream.kind[e] == EventKind.INTERACTION:
                key = (int(stream.src[e]), int(stream.dst[e]))
                times.setdefault(key, []).append(stream.t[e])
        gaps = [np.diff(t).mean() if len(t) > 1 else 0.0 for t in times.values()]
        assert pairs.distinct([cut]) == [len(times)]
        assert pairs.events([cut]) == [sum(map(len, times.values()))]
        assert pairs.mean_gap([cut])[0] == pytest.approx(np.mean(gaps) if gaps else 0.0)


def test_mistakes_are_named():
    pairs = PairIndex.build(EventStream.from_arrays(src=[0], dst=[1], t=[0]))
    with pytest.raises(ProtocolError, match="2 sources but 1 destinations"):
        pairs.met([0, 0], [1], 1)
    with pytest.raises(ProtocolError, match=r"dst\[0\] is 7"):
        pairs.met([0], [7], 1)
