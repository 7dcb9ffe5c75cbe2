"""Files that cannot be used: one clear error with column, row, line and repair."""

import datetime
import gzip
import os
import zipfile

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest

from ctan.errors import CtanError, DataError
from ctan.events import from_frame, import_events, read_events

HEADER = "src,dst,t\n"


def error_of(path, content, **options) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CtanError) as caught:
        read_events(path, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        # unsorted, NaN, negative, beyond int64
        (HEADER + "0,1,5\n1,2,4\n", ["column 't', row 1 (line 3)", "4 after 5", "--sort"]),
        (
            HEADER + "0,1,2024-05-01T10:00+02:00\n1,2,2024-05-01T07:30Z\n",
            ["row 1 (line 3): got 2024-05-01T07:30Z after 2024-05-01T10:00+02:00"],
        ),
        (HEADER + "\n0,1,5\n\n1,2,4\n", ["column 't', row 1 (line 5)"]),
        (HEADER + "0,1,5\n1,2,nan\n", ["column 't', row 1 (line 3)", "got nan", "drop the row"]),
        (HEADER + "0,1,5\n1,2,\n", ["column 't', row 1 (line 3)", "no value", "fill it in"]),
        (HEADER + "0,1,5\n-1,2,6\n", ["column 'src', row 1 (line 3)", "got -1", "from 0"]),
        (HEADER + "0,1,5\n1.5,2,6\n", ["column 'src', row 1 (line 3)", "1.5", "whole numbers"]),
        (HEADER + "0,1,5\n,2,6\n", ["column 'src', row 1 (line 3)", "no value"]),
        (
            HEADER + "0,1,5\n1,2,9223372036854775808\n",
            ["column 't', row 1 (line 3)", "9223372036854775808", "within int64", "coarser unit"],
        ),
        (
            HEADER + "0,1,0.5\n1,2,9007199254740993\n",
            ["column 't', row 1 (line 3)", "9007199254740993", "float64 holds exactly"],
        ),
        (
            HEADER + "0,1,5\n99999999999999999999,2,6\n",
            ["column 'src', row 1 (line 3)", "within int64", "--relabel"],
        ),
        (HEADER + "0,1,5\n7000000000,2,6\n", ["'src', row 1 (line 3)", "gaps", "--relabel"]),
        # time formats
        (
            HEADER + "0,1,5\n1,2,2024-01-01\n",
            ["column 't', row 1 (line 3)", "'2024-01-01'", "numbers, as in row 0", "one format"],
        ),
        (
            HEADER + "0,1,2024-01-01T00:00:00Z\n1,2,2024-01-01T00:00:00\n",
            ["'t', row 1 (line 3)", "'2024-01-01T00:00:00'", "with a zone, as in row 0"],
        ),
        (HEADER + "0,1,01/02/2024\n", ["'t', row 0 (line 2)", "'01/02/2024'", "ISO 8601"]),
        (
            HEADER + "0,1,2024-01-01\n1,2,2024-13-01\n",
            ["'t', row 1 (line 3)", "'2024-13-01'", "a time that exists", "correct the time"],
        ),
        # shape of the file
        (HEADER + "0,1,5\n1,2\n", ["row 1 (line 3): got 2 cells, expected 3", "complete the row"]),
        (HEADER + "0,1,5\n1,2,6,7\n", ["row 1 (line 3): got 4 cells, expected 3"]),
        (HEADER, ["got no events, only column names", "add events"]),
        (HEADER.strip(), ["got no events, only column names"]),
        ("\n\r\n \n", ["the file is blank"]),
        (b"\xef\xbb\xbf", ["the file is blank"]),
        ((HEADER + "0,1,5\n").encode("utf-16"), ["is UTF-16 text", "save the file as UTF-8"]),
        (b"src,dst,t,caf\xe9\n0,1,5,6\n", ["line 1: got bytes that are no UTF-8"]),
        (HEADER + '"a,b,5\nc,d,6\n', ["row 0 (line 3): got 1 cells", "close the quote"]),
        (HEADER + "a\0,b,5\n", ["bad.csv: column 'names', row 0: 'a\\x00' holds a NUL"]),
        (HEADER + "0,1," + "9" * 140_000, ["field larger than field limit"]),
        (HEADER + "0,1,5\n0,1," + "x" * 140_000, ["'xxx", "xxx...", "as in row 0 ('5')"]),
        ("", ["the file is empty (0 bytes)"]),
        ("src,dst,t,dst\n0,1,2,3\n", ["column 'dst' appears 2 times (columns 2, 4)", "rename"]),
        ("source,dst,t\n0,1,2\n", ["column 'src'", "did you mean 'source'?", "--src source"]),
        ("src,dst,Timestamp\n0,1,2\n", ["column 't'", "did you mean 'Timestamp'?", "--t Time"]),
        ("src;dst;t\n0;1;2\n", ["separated by ';'", "write it with commas"]),
        ("0,1,5\n1,2,6\n", ["line 1 must name the columns, for example: src,dst,t"]),
        (b"src,dst,t\na,b,1\nc,\xff,2\n", ["row 1 (line 3)", "no UTF-8", "save the file as"]),
        # features, labels and kinds
        ("src,dst,t,f0\n0,1,2,0.5\n0,1,3,oops\n", ["column 'f0', row 1 (line 3)", "'oops'"]),
        ("src,dst,t,f0\n0,1,2,0.5\n0,1,3,\n", ["column 'f0', row 1 (line 3)", "no value"]),
        ("src,dst,t,f0\n0,1,2,0.5\n0,1,3,nan\n", ["column 'f0', row 1 (line 3)", "got nan"]),
        ("src,dst,t,f0\n0,1,2,0.5\n0,1,3,1e39\n", ["'f0', row 1 (line 3)", "within float32"]),
        ("src,dst,t,label\n0,1,2,\n0,1,3,spam\n", ["column 'label', row 1 (line 3)", "'spam'"]),
        ("src,dst,t,label\n0,1,2,inf\n", ["column 'label', row 0 (line 2)", "got inf"]),
        ("src,dst,t,kind\n0,1,2,gone\n", ["'kind', row 0 (line 2)", "'gone'", "edge_deleted"]),
        ("src,dst,t,kind\n0,1,2,node\n", ["column 'dst', row 0 (line 2)", "repeat src in dst"]),
        (
            "src,dst,t,kind,x0\n0,1,2,0,\n0,0,3,1,\n",
            ["column 'x0', row 1 (line 3)", "no value"],
        ),
    ],
)
def test_csv(tmp_path, content, parts):
    path = tmp_path / "bad.csv"
    message = error_of(path, content)
    assert message.startswith(str(path))
    for part in parts:
        assert part in message
    assert list(tmp_path.iterdir()) == [path]  # nothing written


def test_all_problems_of_a_file_come_at_once(tmp_path):
    content = "a,b,when,f0\n0,1,5,x\n-1,2,4,0\n"
    message = error_of(tmp_path / "bad.csv", content, src="a", dst="b", t="when")
    assert "3 problems" in message
    for place in ("column 'a', row 1", "column 'when', row 1", "column 'f0', row 0"):
        assert place in message


def test_columns_asked_for_by_name(tmp_path):
    content = "src,dst,t,weight\n0,1,5,1\n"
    message = error_of(tmp_path / "bad.csv", content, msg=["wieght"], y="lable")
    assert "column 'wieght'" in message
    assert "did you mean 'weight'?" in message
    assert "column 'lable'" in message


def test_units_are_never_rounded_to(tmp_path):
    content = HEADER + "0,1,2024-01-01T00:00:00\n0,1,2024-01-01T00:00:00.5\n"
    message = error_of(tmp_path / "bad.csv", content, unit="s")
    assert "column 't', row 1 (line 3)" in message
    assert "whole times in 's'" in message
    assert "use unit='us'" in message
    assert "did you mean 'ms'?" in error_of(tmp_path / "bad.csv", content, unit="mss")


def test_wrong_suffixes(tmp_path):
    csv = (HEADER + "0,1,5\n").encode()
    message = error_of(tmp_path / "a.parquet", csv)
    assert "means Parquet, but the content is CSV text" in message
    assert "rename it to a.csv" in message
    pyarrow.parquet.write_table(pa.table({"src": [0], "dst": [1], "t": [2]}), tmp_path / "b")
    content = (tmp_path / "b").read_bytes()
    assert "but the content is Parquet" in error_of(tmp_path / "b.csv", content)
    assert "expected one of .csv, .parquet" in error_of(tmp_path / "c.xlsx", csv)
    for name in ("c.csv.gz", "c.csv"):
        assert "is compressed by gzip" in error_of(tmp_path / name, gzip.compress(csv))
    assert "damaged or cut short" in error_of(tmp_path / "d.parquet", content[:100])
    assert "damaged or cut short" in error_of(tmp_path / "d.npz", b"PK\x03\x04 nothing")
    assert "column 'src': got columns" in error_of(tmp_path / "e.npz", b"PK\x05\x06" + bytes(18))


def test_suffixes_in_capitals(tmp_path):
    (tmp_path / "E.CSV").write_text(HEADER + "0,1,5\n")
    assert len(read_events(tmp_path / "E.CSV")) == 1
    assert len(read_events(import_events(tmp_path / "E.CSV", tmp_path / "store"))) == 1


def test_columns_that_play_two_parts(tmp_path):
    content = HEADER + "0,1,5\n"
    message = error_of(tmp_path / "bad.csv", content, dst="src")
    assert "column 'src': got it as the column of sources and of destinations" in message
    message = error_of(tmp_path / "bad.csv", content, msg=["t", "src", "t"])
    assert "1 problem" in message
    assert "column 't': got it twice as an event feature" in message


@pytest.mark.parametrize("name", ["events.csv", "events"])
def test_folders(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match="is a folder without a store"):
        read_events(tmp_path / name)


def test_a_file_that_is_not_there(tmp_path):
    (tmp_path / "events.csv").write_text(HEADER)
    with pytest.raises(DataError, match=r"did you mean 'events\.csv'"):
        read_events(tmp_path / "event.csv")
    with pytest.raises(DataError, match="no such file, and no folder"):
        read_events(tmp_path / "nowhere" / "event.csv")


def test_npz(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, src=[0, 1], dst=[1, 2], t=[2, 1], msg=np.zeros((2, 1)))
    assert "column 't', row 1: got 1 after 2" in error_of(path, path.read_bytes())
    good = {"src": [0, 1], "dst": [1, 2], "t": [1, 2]}
    for wrong, parts in (
        ({"msg": np.zeros((2, 1, 1))}, ["'msg': got an array of shape [2, 1, 1]"]),
        ({"t": [1, 2, 3]}, ["column 't': got 3 rows, expected 2, as 'src' has"]),
        ({"t": [1j, 2]}, ["column 't': got type complex128, expected numbers"]),
        ({"msg": np.zeros((2, 1), complex)}, ["column 'msg': got type complex128"]),
        ({"num_nodes": "many"}, ["'num_nodes': got 'many', expected a whole number"]),
        ({"names": ["a", "b", "a"]}, ["bad.npz: column 'names', row 2: 'a' names an earlier"]),
    ):
        np.savez(path, **{**good, **wrong})
        for part in parts:
            assert part in error_of(path, path.read_bytes())
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("src.npy", b"hello")
    assert "'src' in the archive is no numpy array" in error_of(path, path.read_bytes())
    np.savez(path, src=np.array([0, "a", None]), dst=[1, 2], t=[2, 1])
    assert "column 'src' holds Python objects" in error_of(path, path.read_bytes())


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        ({"t": pa.array([1, 2**63], pa.uint64())}, ["column 't', row 1", str(2**63), "int64"]),
        ({"t": pa.array([1, None])}, ["column 't', row 1", "no value"]),
        ({"src": pa.array([1, None])}, ["column 'src', row 1", "no value"]),
        ({"t": pa.array([[1], [2]])}, ["column 't':", "type list", "convert the column"]),
        ({"msg": pa.array([[1.0, 2.0], [3.0]])}, ["column 'msg', row 1", "1 values", "pad"]),
        ({"msg": pa.array([[1.0], [None]])}, ["column 'msg', row 1", "no value inside"]),
        (
            {"msg": pa.array([[1.0], [float("nan")]])},
            ["1 problem (", "column 'msg', row 1", "got nan"],
        ),
        ({"msg": pa.array([[], []], pa.list_(pa.float32()))}, ["'msg', row 0: got an empty list"]),
        ({"src": pa.array([b"a", b"b"])}, ["'src': got type binary", "or names as text"]),
    ],
)
def test_parquet_and_arrow(tmp_path, columns, parts):
    table = pa.table({"src": [0, 1], "dst": [1, 2], "t": [1, 2], **columns})
    path = tmp_path / "bad.parquet"
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(DataError) as of_file:
        read_events(path)
    with pytest.raises(DataError) as of_table:
        from_frame(table)
    for part in parts:
        assert part in str(of_file.value)
        assert part in str(of_table.value)


ZONE = datetime.timezone(datetime.timedelta(hours=2))
NOON = datetime.datetime(2024, 1, 1, 12)


@pytest.mark.parametrize(
    ("t", "parts"),
    [
        ([1, "a"], ["column 't', row 1", "'a'", "one type of value"]),
        ([1, 2**64], ["column 't', row 1", str(2**64), "int64"]),
        ([NOON, NOON.replace(tzinfo=ZONE)], ["column 't', row 1", "give every time a zone"]),
        ([1.0, np.nan], ["column 't', row 1", "no value"]),
        ([pandas.Timestamp(NOON), pandas.NaT], ["column 't', row 1", "no value"]),
    ],
)
def test_pandas(t, parts):
    dtype = object if not isinstance(t[-1], float) else None
    frame = pandas.DataFrame({"src": [0, 1], "dst": [1, 2], "t": pandas.Series(t, dtype=dtype)})
    with pytest.raises(DataError) as caught:
        from_frame(frame)
    for part in parts:
        assert part in str(caught.value)


def test_frames_of_other_kinds():
    frame = pandas.DataFrame([[0, 1, 2, 3]], columns=["src", "dst", "t", "t"])
    with pytest.raises(DataError, match=r"column 't' appears 2 times \(columns 3, 4\)"):
        from_frame(frame)
    with pytest.raises(DataError, match=r"got LazyFrame, .* collect a lazy frame"):
        from_frame(polars.LazyFrame({"src": [0]}))
    with pytest.raises(DataError, match="column 'dst': got 1 rows, expected 2"):
        from_frame({"src": [0, 1], "dst": [1], "t": [1, 2]})


def test_tables_of_nodes(tmp_path):
    events, nodes = tmp_path / "e.csv", tmp_path / "n.csv"
    events.write_text(HEADER + "ada,bob,1\nada,eve,2\n")
    nodes.write_text("name,x0\nada,1\nbob,2\n")
    with pytest.raises(DataError) as caught:
        read_events(events, nodes=nodes)
    assert "column 'dst', row 1 (line 3): got 'eve'" in str(caught.value)
    nodes.write_text("node,x0\n0,1\n2,2\n")
    with pytest.raises(DataError, match=r"column 'node', row 1 \(line 3\): got 2"):
        read_events(events, nodes=nodes)
    nodes.write_text("id,width\n0,1\n")
    with pytest.raises(DataError, match="got columns id, width"):
        read_events(events, nodes=nodes)
    frame = {"src": ["ada"], "dst": ["bob"], "t": [1]}
    with pytest.raises(DataError, match="column 'name', row 1: got no value"):
        from_frame(frame, nodes={"name": ["ada", None]})


def test_what_is_not_there_or_no_file_is_said(tmp_path):
    with pytest.raises(DataError, match=r"calls\.csv: there is no such file, expected"):
        read_events(tmp_path / "calls.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match=r"pipe\.csv: is no regular file, expected"):
        read_events(tmp_path / "pipe.csv")
