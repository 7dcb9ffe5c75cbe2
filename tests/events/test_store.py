"""Stores lose nothing, notice damage, and hold what `read_events` reads from the same file."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctan import stored
from ctan.errors import DataError
from ctan.events import (
    EventKind,
    EventStream,
    NodeNames,
    import_events,
    read_events,
    store_of,
    write_events,
    write_store,
)
from ctan.events import _batches as batches
from ctan.events._external_sort import stable_order

FIELDS = [field.name for field in dataclasses.fields(EventStream)]


def assert_same(a, b):
    for name in FIELDS:
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None), name
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype, name
            np.testing.assert_array_equal(one, other, err_msg=name)
        else:
            assert one == other, name


def full_stream():
    """Every column there is; times that no 32-bit integer and no float holds."""
    return EventStream.from_arrays(
        src=[0, 1, 2, 2, 0],
        dst=[1, 2, 2, 1, 0],
        t=np.array([2**53 + 1, 2**53 + 1, 2**60, 2**60 + 1, 2**62]),
        msg=np.arange(10).reshape(5, 2) / 7,
        x=np.arange(8).reshape(4, 2) / 3,
        y=[0.5, np.nan, -3.0, 1.0, 2.0],
        kind=[0, 0, EventKind.NODE, EventKind.EDGE_DELETED, EventKind.NODE_DELETED],
        x_update=[[5.0, 6.0]],
        names=NodeNames(["ada", "bob, jr", "7", "☃"]),
        t_unit="ns",
    )


def is_mapped(column):
    while type(column) is np.ndarray:
        column = column.base
    return isinstance(column, np.memmap)


def test_a_store_holds_everything_and_is_mapped(tmp_path):
    stream = full_stream()
    opened = read_events(write_store(stream, tmp_path / "store"))
    assert_same(stream, opened)
    assert is_mapped(opened.msg)
    assert store_of(opened) == tmp_path / "store"
    assert store_of(opened[1:]) is None
    assert opened.names.id_of("☃") == 3
    assert opened.names[-2:] == ("7", "☃")
    assert hash(opened.names) == hash(stream.names)


def test_a_stream_of_doubles_and_graphs(tmp_path):
    stream = EventStream.from_arrays(
        src=[0, 2], dst=[1, 3], t=[0.1, 0.30000000000000004], graph=[0, 1], y=[1, -1], num_nodes=9
    )
    assert_same(stream, read_events(write_store(stream, tmp_path / "store")))


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("number", range(10))
def test_any_flipped_byte_is_noticed_and_its_file_named(tmp_path, number):
    store = write_store(full_stream(), tmp_path / "store")
    path = files(store)[number]
    content = bytearray(path.read_bytes())
    # In the middle of the payload: of an .npy file behind the 128 bytes of its header.
    at = 128 + (len(content) - 128) // 2 if path.suffix == ".npy" else len(content) // 2
    content[at] ^= 4
    path.write_bytes(content)
    with pytest.raises(DataError, match=path.name):
        read_events(store)


def test_there_are_no_other_files(tmp_path):
    assert len(files(write_store(full_stream(), tmp_path / "store"))) == 10


@pytest.mark.parametrize("damage", ["short", "missing", "header", "empty"])
def test_other_damage(tmp_path, damage):
    store = write_store(full_stream(), tmp_path / "store")
    path = store / "dst.npy"
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        cut = {"short": content[:-8], "empty": b"", "header": content.replace(b"<i8", b"<f8")}
        path.write_bytes(cut[damage])
    with pytest.raises(DataError, match=r"dst\.npy: damaged: .* delete the folder"):
        read_events(store)


def test_a_changed_manifest_is_noticed(tmp_path):
    store = write_store(full_stream(), tmp_path / "store")
    manifest = json.loads((store / "manifest.json").read_text())
    manifest["num_nodes"] = 3
    (store / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DataError, match=r"manifest\.json: damaged"):
        read_events(store)


def test_a_store_takes_no_options_and_no_name_twice(tmp_path):
    store = write_store(full_stream(), tmp_path / "store")
    with pytest.raises(DataError, match="expected no options"):
        read_events(store, y="label")
    with pytest.raises(DataError, match="is there already"):
        write_store(full_stream(), store)


CSV = {
    "numbers": ("src,dst,t\n0,1,5\n2,0,7\n1,1,7\n", {}),
    "names appear late": ("src,dst,t\n" + "0,1,5\n" * 5 + "1,ada,6\n7,0,6\n", {}),
    "numbers as names": ("src,dst,t\n900,17,5\n17,900,6\n3,17,6\n", {"relabel": True}),
    "times with fractions late": ("src,dst,t\n" + "0,1,5\n" * 5 + "0,1,5.5\n", {}),
    "ISO times": ("src,dst,t\na,b,2024-05-01T10:00:00Z\nb,a,2024-05-01T12:00:00+01:00\n", {}),
    "nanoseconds late": (
        "src,dst,t\n" + "a,b,2024-05-01 10:00:00\n" * 5 + "a,b,2024-05-01 10:00:00.000000001\n",
        {},
    ),
    "labels": ("src,dst,t,label\n0,1,5,\n0,1,5,-1\n0,1,6,3\n", {}),
    "targets late": ("src,dst,t,label\n" + "0,1,5,-1\n0,1,5,\n" * 4 + "0,1,6,-2\n", {}),
    "features": ("src,dst,t,f1,f0\n0,1,5,1,2\n1,0,6,1e-3,-4\n", {}),
    "bipartite numbers": ("src,dst,t\n0,0,5\n3,1,6\n1,2,6\n", {"bipartite": True}),
    "bipartite names": ("src,dst,t\na,a,5\nb,c,6\na,c,6\n", {"bipartite": True}),
    "unsorted": ("src,dst,t,f0\n0,1,9,1\n1,2,5,2\n2,0,9,3\n0,0,5,4\n", {"sort": True}),
    "unsorted bipartite": (
        "src,dst,t\n4,0,9\n1,2,5\n2,0,9\n0,0,5\n",
        {"sort": True, "bipartite": True},
    ),
    "kinds": (
        "src,dst,t,kind,x0\n0,1,1,interaction,\n1,1,2,node,4\n0,0,2,node,5\n0,1,3,edge_deleted,\n",
        {},
    ),
    "kinds unsorted": (
        "src,dst,t,kind,x0\n0,0,9,1,4\n1,1,2,1,5\n0,1,1,0,\n2,2,9,1,6\n2,2,0,1,7\n",
        {"sort": True},
    ),
    "graphs": ("src,dst,t,graph\n0,1,5,7\n2,3,6,9\n1,0,6,7\n", {}),
}


def block_for(text):
    """Bytes of a block so small that it holds a row or two."""
    return 1 + max(len(line) for line in text.splitlines(keepends=True))


@pytest.mark.parametrize("case", CSV)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".feather"])
def test_an_import_is_what_read_events_reads(tmp_path, monkeypatch, case, suffix):
    text, options = CSV[case]
    monkeypatch.setattr(batches, "_BLOCK", block_for(text))
    monkeypatch.setattr(batches, "CHUNK", 2)
    monkeypatch.setattr("ctan.events._import_finish.CHUNK", 2)
    path = tmp_path / "events.csv"
    path.write_text(text)
    if suffix != ".csv":
        stream = read_events(path, **options)
        if stream.names is not None or stream.kind is not None:
            write_events(stream, path.with_suffix(".parquet"))
            table = pyarrow.parquet.read_table(path.with_suffix(".parquet"))
        else:
            table = pa.csv.read_csv(path)
        path = path.with_suffix(suffix)
        if suffix == ".parquet":
            pyarrow.parquet.write_table(table, path)
        elif suffix == ".feather":
            pyarrow.feather.write_feather(table, path, compression="zstd")
        else:
            with pa.ipc.new_stream(path, table.schema) as sink:
                sink.write_table(table)
        beside = tmp_path / "events.nodes.parquet"
        if suffix != ".parquet" and beside.exists():
            options = {**options, "nodes": beside}
    # Ids of names follow first appearance before sorting in both.
    assert_same(
        read_events(path, **options), read_events(import_events(path, tmp_path / "s", **options))
    )


def test_everything_round_trips_through_an_import(tmp_path):
    stream = dataclasses.replace(full_stream(), t_unit=None)
    for suffix in (".csv", ".parquet", ".npz"):
        write_events(stream, tmp_path / f"events{suffix}")
        store = import_events(tmp_path / f"events{suffix}", tmp_path / f"store{suffix}")
        assert_same(stream, read_events(store))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("src,dst,t\n0,1,5\n0,1,6\n0,1,4\n", r"row 2 \(line 4\): got 4 after 6.*--sort"),
        ("src,dst,t\n0,1,5\n0,1,6\n0,1,4x\n0,,7\n", r"2 problems.*line 4.*line 5"),
        ("src,dst,t,label\n0,1,5,1\n0,1,6,a\n", r"'label', row 1 \(line 3\): got 'a'"),
        ("src,dst,t\n0,1,5\n0,1,2024-01-01\n", r"row 1 \(line 3\): got '2024-01-01'"),
        ("src,dst,t\n0,1,5\n0,99999999999,6\n", "--relabel"),
        ("src,dst,t\n0,1,5\n0,1\n", r"row 1 \(line 3\): got 2 cells"),
        ("src,dst,t\n", "no events"),
        ("src,dst,t,graph\n0,1,5,0\n1,2,6,1\n", "seen in graph 1"),
        ("src,dst,time\n0,1,5\n", "did you mean 'time'"),
    ],
)
def test_bad_files_leave_nothing_and_say_where(tmp_path, monkeypatch, text, expected):
    monkeypatch.setattr(batches, "_BLOCK", block_for(text))
    path = tmp_path / "events.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=f"(?s){expected}"):
        import_events(path, tmp_path / "store")
    assert [p.name for p in tmp_path.iterdir()] == ["events.csv"]


def test_progress_reaches_the_end(tmp_path):
    path = tmp_path / "events.csv"
    path.write_text("src,dst,t\n0,1,5\n")
    told = []
    import_events(path, tmp_path / "store", watch=lambda *said: told.append(said))
    assert told[-1] == ("reading", path.stat().st_size, path.stat().st_size)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=40),
    st.integers(1, 9),
    st.booleans(),
)
def test_the_external_sort_is_stable(tmp_path_factory, times, run, as_float):
    t = np.array(times, float if as_float else np.int64)
    order = stable_order(t, tmp_path_factory.mktemp("sort"), run=run)
    assert order.tolist() == np.argsort(t, kind="stable").tolist()


def test_a_failed_folder_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), stored.new_folder(tmp_path / "store"):
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []


def test_what_killed_runs_left_is_removed_in_the_end(tmp_path):
    old, new = tmp_path / ".store.1.part", tmp_path / ".store.2.part"
    for folder in (old, new):
        folder.mkdir()
    os.utime(old, (0, 0))
    with stored.new_folder(tmp_path / "store"):
        assert not old.exists()
        assert new.exists()  # another process may be writing to it


@pytest.mark.slow
def test_twenty_million_events_import_within_two_gigabytes(tmp_path):
    script = Path(__file__).parents[2] / "benchmarks" / "import_events.py"
    answer = subprocess.run(
        [sys.executable, str(script), "--events", "20000000", "--out", str(tmp_path / "record")],
        check=True,
        capture_output=True,
        text=True,
    )
    record = json.loads(answer.stdout)
    assert record["peak_resident_GB"] < 2.0, record
