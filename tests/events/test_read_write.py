"""What readers make of good input, and that writing and reading again loses nothing."""

import os
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.feather
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ctan.errors import DataError
from ctan.events import EventKind, EventStream, NodeNames, from_frame, read_events, write_events

DATA = Path(os.environ.get("CTAN_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
COLUMNS = ("src", "dst", "t", "msg", "x", "y", "graph", "kind", "x_update")


def assert_same(a: EventStream, b: EventStream, unit: bool = True) -> None:
    for name in COLUMNS:
        left, right = getattr(a, name), getattr(b, name)
        assert (left is None) == (right is None), name
        if left is not None:
            assert left.dtype == right.dtype, name
            assert np.array_equal(left, right, equal_nan=name == "y"), name
    assert (a.num_nodes, a.names) == (b.num_nodes, b.names)
    assert not unit or a.t_unit == b.t_unit


# Surrogates are no text at all, and NUL is in no name.
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


@st.composite
def streams(draw) -> EventStream:
    n, num_nodes = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    ids = st.lists(st.integers(0, num_nodes - 1), min_size=n, max_size=n)
    any_float = st.floats(allow_nan=False, allow_infinity=False)
    # The largest times there are; but differences of times have to fit their type as well.
    low = draw(st.sampled_from([-(2**63), -(2**62), 0, 2**63 - 4]))
    times = st.integers(low, min(low + 2**63, 2**63) - 1) | st.integers(low, low + 3)
    halves = st.floats(-8e307, 8e307)
    t = draw(hnp.arrays(np.int64, n, elements=times) | hnp.arrays(np.float64, n, elements=halves))
    src, dst = np.array(draw(ids)), np.array(draw(ids))

    def floats(*shape):
        elements = st.floats(width=32, allow_nan=False, allow_infinity=False)
        return hnp.arrays(np.float32, shape, elements=elements)

    labels = hnp.arrays(np.int64, n, elements=st.integers(-1, 2**62))
    kind = draw(st.none() | hnp.arrays(np.uint8, n, elements=st.integers(0, 3)))
    updates = None
    if kind is not None:
        dst = np.where(np.isin(kind, (EventKind.NODE, EventKind.NODE_DELETED)), src, dst)
        count = int(np.count_nonzero(kind == EventKind.NODE))
        updates = draw(floats(count, 2)) if count else None
    names, vocabulary = (
        None,
        st.lists(st.text(LETTERS, min_size=1, max_size=5), min_size=num_nodes, max_size=num_nodes),
    )
    if draw(st.booleans()):
        middle = draw(st.none() | st.integers(0, num_nodes))
        words = draw(vocabulary)
        if middle is None:
            words = [f"{word}{i}" for i, word in enumerate(words)]
        else:
            words = [f"{word}{i if i < middle else i - middle}" for i, word in enumerate(words)]
            src, dst = src % max(middle, 1), middle + dst % max(num_nodes - middle, 1)
            if not 0 < middle < num_nodes or kind is not None:
                middle, src, dst = None, src % num_nodes, src % num_nodes
                words = [f"{word}{i}" for i, word in enumerate(words)]
        names = NodeNames(words, middle)
    return EventStream.from_arrays(
        src=src,
        dst=dst,
        t=np.sort(t),
        msg=draw(st.none() | floats(n, 3)),
        x=draw(st.none() | floats(num_nodes, 2)),
        y=draw(
            st.none() | labels | hnp.arrays(np.float64, n, elements=any_float | st.just(np.nan))
        ),
        graph=draw(st.none() | st.just(np.zeros(n, np.int64))),
        kind=kind,
        num_nodes=num_nodes,
        names=names,
        t_unit=draw(st.sampled_from([None, "s", "ms", "us", "ns"])),
        x_update=updates,
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(stream=streams())
def test_round_trips_lose_nothing(tmp_path, suffix, stream):
    path = tmp_path / f"events{suffix}"
    for file in write_events(stream, path):
        assert file.is_file()
    again = read_events(path)
    assert_same(stream, again, unit=suffix != ".csv")
    assert not list(tmp_path.glob(".*"))  # no half-written files


def test_a_table_of_nodes_left_behind_is_replaced(tmp_path):
    path = tmp_path / "events.csv"
    named = EventStream.from_arrays(src=[0], dst=[1], t=[2], names=NodeNames(["1", "0"]))
    plain = EventStream.from_arrays(src=[0], dst=[1], t=[2])
    write_events(named, path)
    assert_same(read_events(path), named)
    write_events(plain, path)
    assert_same(read_events(path), plain)


def test_writing_refuses_what_a_format_cannot_hold(tmp_path):
    stream = EventStream.from_arrays(src=[0], dst=[1], t=[2])
    with pytest.raises(DataError, match=r"expected one of \.csv, \.parquet, \.npz"):
        write_events(stream, tmp_path / "events.txt")
    assert not list(tmp_path.iterdir())


def test_line_breaks_in_names_of_a_long_csv_file(tmp_path):
    # Arrow reads a file in blocks, and without being told takes each line for a row.
    names = NodeNames([f"{i}\r\n" + "x" * 40 for i in range(30_000)])
    ids = np.arange(30_000)
    stream = EventStream.from_arrays(src=ids, dst=ids[::-1], t=ids, names=names)
    write_events(stream, tmp_path / "events.csv")
    assert (tmp_path / "events.csv").stat().st_size > 2 << 20
    assert_same(stream, read_events(tmp_path / "events.csv"))


def test_whole_float_times_stay_floats_in_csv(tmp_path):
    t = [-0.0, 1.0, 2.0**53, 1e22]
    stream = EventStream.from_arrays(src=[0] * 4, dst=[1] * 4, t=t, y=[1.0, 2.0, np.nan, 4.0])
    write_events(stream, tmp_path / "events.csv")
    assert_same(read_events(tmp_path / "events.csv"), stream)


def test_a_write_that_fails_leaves_the_earlier_file(tmp_path, monkeypatch):
    path = tmp_path / "events.npz"
    stream = EventStream.from_arrays(src=[0], dst=[1], t=[2])
    write_events(stream, path)

    def fail(file, **columns):
        Path(file).write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        write_events(stream[:0], path)
    assert_same(read_events(path), stream)
    assert list(tmp_path.iterdir()) == [path]


def csv(tmp_path, text, **options) -> EventStream:
    path = tmp_path / "events.csv"
    path.write_text(text)
    return read_events(path, **options)


def test_names_share_a_vocabulary_in_order_of_first_appearance(tmp_path):
    stream = csv(tmp_path, "src,dst,t\nbob,ada,1\neve,bob,2\nada,zoe,3\n")
    assert list(stream.names) == ["bob", "ada", "eve", "zoe"]
    assert (stream.src.tolist(), stream.dst.tolist()) == ([0, 2, 1], [1, 0, 3])


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1))
def test_vocabulary_equals_a_plain_dictionary(pairs):
    ids: dict[str, int] = {}
    expected = [[ids.setdefault(name, len(ids)) for name in pair] for pair in pairs]
    src, dst = zip(*pairs, strict=True)
    stream = from_frame({"src": src, "dst": dst, "t": range(len(src))})
    assert np.stack([stream.src, stream.dst], axis=1).tolist() == expected
    assert list(stream.names) == list(ids)


def test_bipartite_tells_sides_apart(tmp_path):
    stream = csv(tmp_path, "src,dst,t\na,a,1\nb,a,2\n", bipartite=True)
    assert (stream.src.tolist(), stream.dst.tolist()) == ([0, 1], [2, 2])
    assert (list(stream.names), stream.names.num_sources) == (["a", "b", "a"], 2)
    numbered = csv(tmp_path, "src,dst,t\n0,0,1\n4,1,2\n", bipartite=True)
    assert (numbered.dst.tolist(), numbered.names) == ([5, 6], None)


def test_scattered_ids_become_names_on_request(tmp_path):
    text = "src,dst,t\n700000000000,5,1\n5,123456789012345678901,2\n"
    stream = csv(tmp_path, text, relabel=True)
    assert list(stream.names) == ["700000000000", "5", "123456789012345678901"]
    assert stream.dst.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("times", "unit", "expected", "unit_found"),
    [
        (["1", "2"], None, [1, 2], None),
        (["1", "2"], "ms", [1, 2], "ms"),
        (["1.0", "2"], "s", [1.0, 2.0], "s"),
        (["9223372036854775806", "9223372036854775807"], "ns", [2**63 - 2, 2**63 - 1], "ns"),
        (["1970-01-01", "1970-01-02"], None, [0, 86_400_000_000], "us"),
        (["1970-01-01", "1970-01-02"], "s", [0, 86_400], "s"),
        (["1970-01-01T01:00+01:00", "1970-01-01 00:00:01Z"], None, [0, 10**6], "us"),
        (["1970-01-01 00:00:00.000001", "1970-01-01 00:00:00.5"], None, [1, 500_000], "us"),
        (["1970-01-01 00:00", "1970-01-01 00:00:00.000000001"], None, [0, 1], "ns"),
    ],
)
def test_times(tmp_path, times, unit, expected, unit_found):
    text = "src,dst,t\n" + "".join(f"0,1,{time}\n" for time in times)
    stream = csv(tmp_path, text, unit=unit)
    assert stream.t.tolist() == expected
    assert stream.t.dtype == (np.float64 if isinstance(expected[0], float) else np.int64)
    assert stream.t_unit == unit_found


def test_time_columns_of_frames():
    stamps = pandas.to_datetime(["2024-01-01T02:00+02:00", "2024-01-01T03:00+02:00"]).as_unit("ms")
    frame = pandas.DataFrame({"src": [0, 1], "dst": [1, 0], "t": stamps})
    stream = from_frame(frame)
    assert (stream.t.tolist(), stream.t_unit) == ([1704067200000, 1704070800000], "ms")
    assert from_frame(frame, unit="s").t.tolist() == [1704067200, 1704070800]
    dates = polars.DataFrame({"src": [0], "dst": [1], "t": ["2024-01-01"]})
    stream = from_frame(dates.with_columns(polars.col("t").str.to_date()))
    assert (stream.t.tolist(), stream.t_unit) == ([1704067200], "s")


def test_which_columns_are_read(tmp_path, caplog):
    text = "src,dst,t,f10,f2,weight,label\n0,1,1,10,2,7,1\n"
    with caplog.at_level("INFO", "ctan.events"):
        stream = csv(tmp_path, text)
    assert stream.msg.tolist() == [[2, 10]]  # by number, not by letter
    assert stream.y.tolist() == [1]
    assert "columns not read: weight" in caplog.text
    assert csv(tmp_path, text, msg=["weight"]).msg.tolist() == [[7]]
    assert csv(tmp_path, text, msg=[]).msg is None
    assert csv(tmp_path, text, y="weight").y.tolist() == [7]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["0", "1", ""], [0, 1, -1]),
        (["0", "1", "-1"], [0, 1, -1]),
        (["0", "-2", ""], [0.0, -2.0, np.nan]),
        (["0.5", "nan", ""], [0.5, np.nan, np.nan]),
    ],
)
def test_labels(tmp_path, cells, expected):
    text = "src,dst,t,y\n" + "".join(f"0,1,{i},{cell}\n" for i, cell in enumerate(cells))
    y = csv(tmp_path, text).y
    assert y.dtype == np.asarray(expected).dtype
    assert np.array_equal(y, expected, equal_nan=True)


def test_event_kinds_by_name(tmp_path):
    text = "src,dst,t,kind,x0\n0,0,1,NODE,0.5\n0,1,2,interaction,\n0,1,3,edge_deleted,\n"
    stream = csv(tmp_path, text)
    assert stream.kind.tolist() == [1, 0, 2]
    assert stream.x_update.tolist() == [[0.5]]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffsrc, dst ,t\r\n0, 1,2\r\n\r\n",
        'src,dst,t\n"0","1","2"',
        "src,dst,t\r0,1,2\r",
        "\n\nsrc,dst,t\n\n0,1,2\n",
        'src,dst,t,"in two\nlines"\n0,1,2,3\n',
    ],
)
def test_csv_as_others_write_it(tmp_path, text):
    stream = csv(tmp_path, text)
    assert (stream.src.tolist(), stream.dst.tolist(), stream.t.tolist()) == ([0], [1], [2])


def test_every_kind_of_frame_gives_the_same_stream(tmp_path):
    columns = {"src": ["a", "b"], "dst": ["b", "c"], "t": [1, 2], "f0": [0.5, 1.5], "y": [0, 1]}
    table = pa.table(columns)
    expected = from_frame(table)
    pyarrow.feather.write_feather(table, tmp_path / "events.feather")
    with pa.ipc.new_stream(tmp_path / "events.arrow", table.schema) as file:
        file.write_table(table)
    categories = pandas.DataFrame(columns).astype({"src": "category"})
    for same in (
        from_frame(columns),
        from_frame(pandas.DataFrame(columns)),
        from_frame(categories),
        from_frame(polars.DataFrame(columns)),
        from_frame({**columns, "msg": np.array([[0.5], [1.5]]), "f0": [9, 9]}, msg=["msg"]),
        from_frame(pandas.DataFrame(columns)[::-1], sort=True, nodes={"name": list("abc")}),
        read_events(tmp_path / "events.feather"),
        read_events(tmp_path / "events.arrow"),
    ):
        assert_same(expected, same)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "events", "nodes", "edge_dim"),
    [
        ("wikipedia", 157_474, 9_227, 0),
        ("mooc", 411_749, 7_144, 4),
        ("uci", 59_835, 1_899, 0),
        ("enron", 125_235, 184, 0),
        ("email_eu", 332_334, 986, 0),
        ("bitcoinotc", 35_592, 5_881, 0),
        ("canparl", 74_478, 734, 0),
    ],
)
def test_real_files(name, events, nodes, edge_dim):
    path = DATA / name / "events.parquet"
    if not path.exists():
        pytest.skip(f"{path} is not here; set CTAN_DATA to the folder of data sets")
    stream = read_events(path)
    assert (len(stream), stream.num_nodes, stream.edge_dim) == (events, nodes, edge_dim)
