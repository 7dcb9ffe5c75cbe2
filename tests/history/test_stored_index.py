"""The index kept in a store is the index built from it, and damage to it is noticed."""

import dataclasses

import numpy as np
import pytest

from ctan.errors import DataError
from ctan.events import read_events, write_store
from ctan.history import TemporalIndex, store_index
from sample_streams import busy_stream


@pytest.fixture
def store(tmp_path):
    kind = np.zeros(40, np.uint8)
    kind[[20, 30]] = 2
    path = write_store(dataclasses.replace(busy_stream(), kind=kind), tmp_path / "store")
    store_index(path)
    return path


def test_it_is_mapped_and_equal(store):
    stream = read_events(store)
    index = TemporalIndex.build(stream)
    built = TemporalIndex.build(stream[:])  # a slice that is the whole stream still maps the file
    fresh = TemporalIndex.build(dataclasses.replace(stream, src=stream.src.copy()))
    for name in ("ptr", "neighbor", "event", "until"):
        assert isinstance(getattr(index, name).base, np.memmap)
        assert not isinstance(getattr(fresh, name).base, np.memmap)
        for other in (built, fresh):
            np.testing.assert_array_equal(getattr(index, name), getattr(other, name))


def test_part_of_a_stream_has_an_index_of_its_own(store):
    part = read_events(store)[:10]
    assert TemporalIndex.build(part).num_events == 10


def test_a_damaged_index_is_named(store):
    path = store / "index" / "event.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"event\.npy: damaged"):
        TemporalIndex.build(read_events(store))


def test_an_index_of_other_edges_is_refused(store, tmp_path):
    other = write_store(busy_stream(seed=1), tmp_path / "other")
    (store / "index").rename(other / "index")
    with pytest.raises(DataError, match="is the index of other edges"):
        TemporalIndex.build(read_events(other))
