"""`EventStream`: validation, slices, sorting, the card."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctan.errors import DataError
from ctan.events import EventKind, EventStream, NodeNames

GOOD = {"src": [0, 1, 0], "dst": [1, 2, 2], "t": [10, 20, 30]}


def problems_of(**changes) -> str:
    with pytest.raises(DataError) as caught:
        EventStream.from_arrays(**{**GOOD, **changes})
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "place", "given", "repair"),
    [
        ({"t": [10, 30, 20]}, "column 't', row 2", "got 20 after 30", "sort=True (--sort)"),
        ({"t": [1, np.nan, 3]}, "column 't', row 1", "got nan", "drop the row"),
        ({"t": [1, 2, 2**70]}, "column 't', row 2", f"got {2**70}", "coarser unit"),
        ({"t": [-1, 2, 2**63]}, "column 't', row 2", f"got {2**63}", "coarser unit"),
        ({"t": [-2, 0, 2**63 - 1]}, "column 't': got times from -2 to", "fit int64", "coarser"),
        ({"t": [-1e308, 0.0, 1e308]}, "column 't': got times from -1e+308", "fit float64", "unit"),
        ({"t": np.array([1, 2, 2**63], np.uint64)}, "column 't', row 2", f"{2**63}", "coarser"),
        ({"t": [0.5, 2, 2**60 + 1]}, "column 't', row 2", f"got {2**60 + 1}", "coarser"),
        ({"t": ["1", "2", "3"]}, "column 't':", "got type <U1", "read_events"),
        ({"t": np.array(["2024", "NaT", "2025"], "M8[s]")}, "'t', row 1", "NaT", "drop the row"),
        ({"t_unit": "min"}, "column 't'", "got unit 'min'", "name one of these"),
        ({"src": [0, -1, 0]}, "column 'src', row 1", "got -1", "number them from 0"),
        ({"src": [0, 1.5, 0]}, "column 'src', row 1", "got 1.5", "whole numbers"),
        ({"src": [0, np.nan, 0]}, "column 'src', row 1", "got nan", "whole numbers"),
        ({"src": ["a", "b", "c"]}, "column 'src':", "got type <U1", "from_frame"),
        ({"src": [True, False, True]}, "column 'src':", "got type bool", "whole numbers"),
        ({"dst": [1, 2]}, "column 'dst':", "got 2 rows, expected 3", "one row per event"),
        ({"dst": [[1], [2], [2]]}, "column 'dst':", "shape [3, 1]", "reshape it to [events]"),
        ({"num_nodes": 2}, "column 'dst', row 1", "got 2", "raise num_nodes"),
        ({"x": np.zeros((2, 4))}, "column 'dst', row 1", "got 2", "add the missing rows to 'x'"),
        ({"x": np.zeros((4, 1)), "num_nodes": 9}, "column 'x':", "got 4 rows, expected 9", "one"),
        ({"names": NodeNames(["a"])}, "column 'src', row 1", "length of 'names'", "'names'"),
        ({"msg": [[1, 2], [3], [4, 5]]}, "column 'msg', row 1", "got 1 values", "pad or drop"),
        ({"msg": [[1, 2], [3, np.inf], [4, 5]]}, "'msg', row 1", "inf (feature 1)", "fill it in"),
        ({"msg": [[1.0], [3], [1e300]]}, "'msg', row 2", "got 1e+300 (feature 0)", "fill it in"),
        ({"msg": [1, 2, 3]}, "column 'msg':", "shape [3]", "reshape it to [rows, features]"),
        ({"y": [0, -3, 1]}, "column 'y', row 1", "got -3", "as float64"),
        ({"y": [0, np.inf, 1]}, "column 'y', row 1", "got inf", "replace it"),
        ({"kind": [0, 9, 0]}, "column 'kind', row 1", "got 9", "use one of these"),
        ({"kind": [1, 0, 0]}, "column 'dst', row 0", "got 1 in an event about node 0", "repeat"),
        ({"x_update": [[1.0]]}, "column 'x_update':", "got 1 rows, expected 0", "one row per"),
        ({"graph": [0, 1, 1]}, "column 'graph', row 0", "dst 1, seen in graph 1", "apart"),
        ({"src": None}, "column 'src':", "got None", "one value per event"),
        ({"src": [], "dst": [], "t": []}, "column 'src':", "got no events", "give some"),
    ],
)
def test_each_problem_names_column_row_and_repair(changes, place, given, repair):
    message = problems_of(**changes)
    assert place in message
    assert given in message
    assert repair in message.split("To repair:", 1)[1]


def test_all_problems_are_raised_at_once_and_repeated_ones_counted():
    message = problems_of(src=[0, -1, -2], t=[3, 2, 1], y=[0.0, np.inf, 0.0])
    assert message.startswith("arrays: 3 problems")
    assert "got -1 (and 1 more rows like it)" in message


def test_columns_keep_their_width():
    big = 2**62 + 1
    stream = EventStream.from_arrays(src=[0, 0], dst=[1, 1], t=[big, big + 1])
    assert stream.t.dtype == np.int64
    assert stream.t.tolist() == [big, big + 1]
    floats = EventStream.from_arrays(src=[0, 0], dst=[1, 1], t=[1.6e9, 1.6e9 + 1e-6])
    assert floats.t.dtype == np.float64
    assert floats.t[1] > floats.t[0]


def test_datetimes_bring_their_unit():
    t = np.array(["2024-05-01", "2024-05-02"], "M8[ms]")
    stream = EventStream.from_arrays(src=[0, 0], dst=[1, 1], t=t)
    assert (stream.t_unit, stream.t.tolist()) == ("ms", [1714521600000, 1714608000000])
    assert "2024-05-01T00:00:00Z to 2024-05-02T00:00:00Z" in stream.card()


def test_right_arrays_are_used_not_copied_and_cannot_be_written_through_the_stream():
    src = np.array([0, 1])
    stream = EventStream.from_arrays(src=src, dst=src + 1, t=np.array([1, 2]))
    assert np.shares_memory(stream.src, src)
    assert src.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        stream.src[0] = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        stream.src = src


def full_stream(n: int = 6) -> EventStream:
    kind = np.array([0, 1, 2, 1, 3, 1] * (n // 6), np.uint8)
    src = np.arange(n) % 4
    return EventStream.from_arrays(
        src=src,
        dst=np.where(np.isin(kind, (1, 3)), src, (src + 1) % 4),
        t=np.arange(n) // 2,
        msg=np.arange(2 * n).reshape(n, 2),
        x=np.ones((5, 3)),
        y=np.arange(n) % 2,
        graph=np.zeros(n, int),
        kind=kind,
        x_update=np.arange(3 * n // 2).reshape(-1, 3),
        names=NodeNames(list("abcde")),
        t_unit="s",
    )


@given(lo=st.integers(-8, 8), hi=st.integers(-8, 8))
def test_slices_are_views_with_every_column_cut_alike(lo, hi):
    stream = full_stream()
    part = stream[lo:hi]
    for name in ("src", "dst", "t", "msg", "y", "graph", "kind"):
        whole = getattr(stream, name)
        assert np.array_equal(getattr(part, name), whole[lo:hi])
        assert len(part) == 0 or np.shares_memory(getattr(part, name), whole)
    rows = {int(p): i for i, p in enumerate(np.flatnonzero(stream.kind == EventKind.NODE))}
    kept = [rows[p] for p in np.arange(6)[lo:hi].tolist() if p in rows]
    assert np.array_equal(part.x_update, stream.x_update[kept])
    assert part.x is not None
    assert np.shares_memory(part.x, stream.x)
    assert (part.num_nodes, part.names, part.t_unit) == (5, stream.names, "s")


@pytest.mark.parametrize("index", [3, slice(0, 4, 2), [1, 2]])
def test_only_plain_slices_are_taken(index):
    with pytest.raises(TypeError, match=r"stream\[10:20\]"):
        full_stream()[index]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1])), min_size=1, max_size=30))
def test_sorting_is_stable_and_moves_every_column(events):
    t, kind = (list(column) for column in zip(*events, strict=True))
    n = len(t)
    node_rows = [i for i in range(n) if kind[i] == EventKind.NODE]
    stream = EventStream.from_arrays(
        src=[0] * n,
        dst=[0] * n,
        t=t,
        msg=[[i] for i in range(n)],
        kind=kind,
        x_update=np.array(node_rows, dtype=float).reshape(-1, 1),
        sort=True,
    )
    order = sorted(range(n), key=lambda i: t[i])  # Python's sort is stable
    assert stream.t.tolist() == [t[i] for i in order]
    assert stream.msg[:, 0].tolist() == order
    assert stream.x_update[:, 0].tolist() == [i for i in order if kind[i] == EventKind.NODE]


def test_number_of_nodes_counts_ids_and_rows_of_x():
    assert EventStream.from_arrays(**GOOD).num_nodes == 3
    assert EventStream.from_arrays(**GOOD, x=np.zeros((7, 2))).num_nodes == 7
    columns = [np.array(GOOD[name]) for name in ("src", "dst", "t")]
    assert EventStream(*columns).num_nodes == 3
    assert EventStream(*columns, x=np.zeros((7, 2), np.float32)).num_nodes == 7


def test_card_and_repr():
    assert repr(full_stream()) == (
        "EventStream(6 events, 5 nodes, t=int64, msg=float32[2], x=float32[3], y=int64, "
        "graph=int64, kind=uint8)"
    )
    card = str(full_stream())
    assert "kinds           1 interaction, 3 node, 1 edge_deleted, 1 node_deleted" in card
    assert "labels          2 classes (0: 3, 1: 3)" in card
    assert "names           'a', ... for 5 nodes" in card
    targets = EventStream.from_arrays(**GOOD, y=[np.nan, -1.5, 2])
    assert "targets, 2 known, -1.5 to 2" in targets.card()
    assert str(full_stream()[0:0]) == "0 events, 5 nodes"


def test_names():
    names = NodeNames(["1", "2", "1"], num_sources=2)
    assert (names.id_of("1"), names.source_id("1"), names.destination_id("1")) == (0, 0, 2)
    assert list(names) == ["1", "2", "1"]
    with pytest.raises(DataError, match="no node is named '2'"):
        names.destination_id("2")
    with pytest.raises(DataError, match="row 2: 'a' names an earlier node"):
        NodeNames(["a", "b", "a"])
    with pytest.raises(DataError, match="row 1: got an empty name"):
        NodeNames(["a", ""])


def test_torch_tensors_are_taken():
    torch = pytest.importorskip("torch")
    stream = EventStream.from_arrays(
        src=torch.tensor([0, 1]), dst=torch.tensor([1, 2]), t=torch.tensor([0.0, 1.5])
    )
    assert stream.t.dtype == np.float64
    assert stream.num_nodes == 3
