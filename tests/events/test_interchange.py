"""Round trips through other libraries lose nothing: 64-bit times, float times, names, features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_store import assert_same, full_stream

from ctan.errors import CtanError, DataError
from ctan.events import (
    EventKind,
    EventStream,
    NodeNames,
    from_frame,
    from_temporal_data,
    to_frames,
    to_temporal_data,
)

STREAMS = {
    "full": full_stream(),
    "plain": EventStream.from_arrays(src=[0, 1, 0], dst=[1, 2, 0], t=[1, 2, 2**62]),
    "float times": EventStream.from_arrays(src=[0, 1], dst=[1, 0], t=[0.1, 0.1 + 2e-16]),
    "lonely nodes": EventStream.from_arrays(src=[0], dst=[1], t=[0], num_nodes=7),
    "graphs": EventStream.from_arrays(
        src=[0, 2], dst=[1, 3], t=[0, 0], graph=[4, 9], y=[-1, 5], msg=[[1.5], [2.5]]
    ),
    "two sides": EventStream.from_arrays(
        src=[0, 1], dst=[2, 2], t=[0, 1], names=NodeNames(["a", "b", "a"], num_sources=2)
    ),
    "as many nodes as events": EventStream.from_arrays(
        src=[0, 1], dst=[1, 0], t=[3, 4], x=[[1.0], [2.0]]
    ),
}


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_frames(library, stream):
    events, nodes = to_frames(stream, library)
    assert_same(stream, from_frame(events, nodes=nodes, unit=stream.t_unit))


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_temporal_data(stream):
    pytest.importorskip("torch_geometric")
    assert_same(stream, from_temporal_data(to_temporal_data(stream)))


def test_slices_of_temporal_data_keep_their_nodes():
    pytest.importorskip("torch_geometric")
    data = to_temporal_data(STREAMS["as many nodes as events"])
    part = from_temporal_data(data[:1])
    assert (len(part), part.num_nodes, part.x.tolist()) == (1, 2, [[1.0], [2.0]])
    train, _, test = to_temporal_data(
        EventStream.from_arrays(src=[0] * 20, dst=[1] * 20, t=range(20), num_nodes=5)
    ).train_val_test_split()
    assert (len(from_temporal_data(train)), from_temporal_data(test).num_nodes) == (14, 5)


def test_temporal_data_is_checked():
    data = pytest.importorskip("torch_geometric.data")
    torch = pytest.importorskip("torch")
    backwards = data.TemporalData(
        src=torch.tensor([0, 1]), dst=torch.tensor([1, 0]), t=torch.tensor([5, 4])
    )
    with pytest.raises(DataError, match=r"row 1: got 4 after 5"):
        from_temporal_data(backwards)
    assert from_temporal_data(backwards, sort=True).t.tolist() == [4, 5]


def test_an_unknown_library():
    with pytest.raises(CtanError, match="did you mean 'pandas'"):
        to_frames(STREAMS["plain"], "panda")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 6),
            st.integers(0, 6),
            st.integers(-(2**62), 2**62 - 1),
            st.integers(0, 3),
        ),
        min_size=1,
        max_size=20,
    ),
    st.booleans(),
)
def test_any_stream_survives_all_of_them(rows, as_float):
    src, dst, t, kind = np.array(rows, np.int64).T
    t = np.sort(t)
    alone = (kind == EventKind.NODE) | (kind == EventKind.NODE_DELETED)
    updates = int((kind == EventKind.NODE).sum())
    stream = EventStream.from_arrays(
        src=src,
        dst=np.where(alone, src, dst),
        t=t / 7 if as_float else t,
        kind=kind,
        num_nodes=8,
        x_update=np.arange(updates)[:, None] / 3 if updates else None,
    )
    for library in ("pandas", "polars"):
        events, nodes = to_frames(stream, library)
        assert_same(stream, from_frame(events, nodes=nodes))
    assert_same(stream, from_temporal_data(to_temporal_data(stream)))
