import numpy as np
from history_oracles import compiled, streams, visible
from hypothesis import given
from hypothesis import strategies as st

from ctan.events import EventStream
from ctan.history import TemporalIndex, ball, neighborhood


def literal(choose, asked, hops):
    """Keys (node, cut, time, own) by hop and the slots of each: no neighbour is ever `own`."""
    entries = list(dict.fromkeys((*question, True) for question in asked))
    sizes, slots = [len(entries)], {}
    for _ in range(hops):
        found = []
        for key in entries:
            if key not in slots:
                _, cut, time, _ = key
                slots[key] = [((v, cut, time, False), e) for v, e in choose(key[0], cut)]
                found += [neighbour for neighbour, _ in slots[key]]
        entries = list(dict.fromkeys(entries + found))
        sizes.append(len(entries))
    return entries, tuple(sizes), slots


@compiled
@given(
    streams(deletions=True),
    st.integers(1, 3),
    st.integers(0, 3),
    st.sampled_from(["recent", "uniform"]),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_equals_the_literal_version(stream, k, hops, strategy, one_cut, timed, data):
    node, cut = st.integers(0, stream.num_nodes - 1), st.integers(0, len(stream))
    asked = data.draw(st.lists(st.tuples(node, cut, st.integers(0, 2)), max_size=8))
    shared = data.draw(cut)
    asked = [(u, shared if one_cut else c, t if timed else None) for u, c, t in asked]
    nodes, cuts, times = (
        (list(column) for column in zip(*asked, strict=True)) if asked else [[]] * 3
    )
    index = TemporalIndex.build(stream)

    def choose(node, cut):
        if strategy == "recent":
            return visible(stream, node, cut)[::-1][:k]
        slots = index.uniform([node], cut, k, seed=3)
        return list(zip(slots.node[0], slots.event[0], strict=True))[: slots.count[0]]

    hood = neighborhood(
        index,
        np.array(nodes, np.int64),
        shared if one_cut else np.array(cuts, np.int64),
        k=k,
        hops=hops,
        time=np.array(times, np.int64) if timed else None,
        strategy=strategy,
        seed=3,
        own_entry=True,
    )
    entries, sizes, slots = literal(choose, asked, hops)
    hood_times = hood.time.tolist() if timed else [None] * len(hood)
    own = np.arange(len(hood)) < hood.sizes[0]
    keys = list(zip(hood.node.tolist(), hood.cut.tolist(), hood_times, own.tolist(), strict=True))
    assert keys == entries
    assert hood.sizes == sizes
    assert [keys[row] for row in hood.row] == [(*question, True) for question in asked]
    assert hood.count.tolist() == [len(choose(u, c)) for u, c, _, _ in keys]
    for row in range(len(hood.slot)):
        n = hood.count[row]
        met = zip(hood.slot[row, :n], hood.event[row, :n], strict=True)
        assert [(keys[s], e) for s, e in met] == slots[keys[row]]


#   0 ── 1, and 1 meets itself
def test_an_asked_node_is_met_as_another_entry():
    index = TemporalIndex.build(EventStream.from_arrays(src=[0, 1], dst=[1, 1], t=[0, 1]))
    hood = neighborhood(index, [0, 1], 2, k=2, hops=2, own_entry=True)
    assert hood.node.tolist() == [0, 1, 1, 0]
    assert hood.sizes == (2, 4, 4)
    assert hood.slot.tolist() == [[2, 0], [2, 3], [2, 3], [2, 0]]
    assert ball(hood, hood.row, 1).tolist() == [0, 1, 2, 3]
    shared = neighborhood(index, [0, 1], 2, k=2, hops=2)
    assert shared.node.tolist() == [0, 1]
