"""Splits against literal versions of their definitions."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ctan.errors import DataError, ProtocolError
from ctan.events import (
    EventStream,
    read_events,
    split_by_count,
    split_by_graph,
    split_by_time,
)

DATA = Path(os.environ.get("CTAN_DATA", Path(__file__).parents[2].parent / "shared" / "data"))


def stream_of(t) -> EventStream:
    t = np.sort(np.asarray(t))
    return EventStream.from_arrays(src=np.zeros(len(t), int), dst=np.ones(len(t), int), t=t)


@given(
    st.lists(st.integers(0, 50), min_size=8, max_size=60)
    | st.lists(st.floats(0, 1e9), min_size=8, max_size=60)
)
def test_time_split_is_the_literal_quantile_rule(times):
    stream = stream_of(times)
    val_time, test_time = np.quantile(stream.t, [1.0 - 0.15 - 0.15, 1.0 - 0.15])
    train = [i for i in range(len(times)) if stream.t[i] <= val_time]
    val = [i for i in range(len(times)) if val_time < stream.t[i] <= test_time]
    test = [i for i in range(len(times)) if stream.t[i] > test_time]
    assume(train and val and test)
    split = split_by_time(stream)
    positions = list(range(len(times)))
    assert positions[split.train] == train
    assert positions[split.val] == val
    assert positions[split.test] == test


def test_time_split_equals_temporal_data():
    data = pytest.importorskip("torch_geometric.data")
    torch = pytest.importorskip("torch")
    stream = stream_of(np.random.default_rng(0).integers(0, 500, 1000))
    whole = data.TemporalData(
        src=torch.tensor(stream.src), dst=torch.tensor(stream.dst), t=torch.tensor(stream.t)
    )
    sizes = [len(part.src) for part in whole.train_val_test_split(0.2, 0.1)]
    split = split_by_time(stream, 0.2, 0.1)
    assert [len(stream[part]) for part in (split.train, split.val, split.test)] == sizes


def test_count_split_ignores_ties():
    assert str(split_by_count(stream_of([5] * 100))) == (
        "70 / 15 / 15 events (event counts, shares 0.7 and 0.85)"
    )


def test_no_validation_on_request():
    split = split_by_count(stream_of(range(10)), val=0.0, test=0.2)
    assert (split.train, split.val, split.test) == (slice(0, 8), slice(8, 8), slice(8, 10))


def test_an_empty_part_is_an_error_with_a_way_out():
    with pytest.raises(DataError, match="no events are left for validation and test: 20 events"):
        split_by_time(stream_of([5] * 20))
    with pytest.raises(DataError, match="split_by_count"):
        split_by_time(stream_of([5] * 20))


@pytest.mark.parametrize(("val", "test"), [(0.5, 0.5), (-0.1, 0.2), (float("nan"), 0.1)])
def test_shares_must_leave_training(val, test):
    with pytest.raises(ProtocolError, match="leave some for training"):
        split_by_time(stream_of(range(10)), val, test)


def test_graph_split_takes_graphs_in_order_of_id():
    graph = np.tile(np.arange(1000), 3)  # one event of every graph per time step
    stream = EventStream.from_arrays(
        src=2 * graph, dst=2 * graph + 1, t=np.repeat(np.arange(3), 1000), graph=graph
    )
    split = split_by_graph(stream)
    assert [len(part) for part in split] == [700, 150, 150]
    assert np.array_equal(np.concatenate(split), np.arange(1000))
    with pytest.raises(ProtocolError, match="'graph' column"):
        split_by_graph(stream_of(range(9)))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "sizes"),
    [("wikipedia", (110_232, 23_621, 23_621)), ("mooc", (288_224, 61_762, 61_763))],
)
def test_published_sizes(name, sizes):
    path = DATA / name / "events.parquet"
    if not path.exists():
        pytest.skip(f"{path} is not here; set CTAN_DATA to the folder of data sets")
    stream = read_events(path)
    split = split_by_time(stream)
    assert tuple(len(stream[p]) for p in (split.train, split.val, split.test)) == sizes
