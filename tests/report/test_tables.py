import csv
import io
import itertools

import numpy as np
import pytest

from ctan import EventStream
from ctan.events import EventKind, Split
from ctan.report import Cell, Table, accuracy_by_length, beside, describe, page, paper_table, table
from ctan.report.description import _edges


def test_cells():
    cell = Cell.of([90.0, 94.0, 98.0])
    assert (cell.mean, cell.std, cell.runs) == (94.0, 4.0, 3)
    assert str(cell) == "94.00 ± 4.00"
    assert str(Cell.of([90.0])) == "90.00"


def test_the_papers_table():
    paper = paper_table("t-pathgraph")
    assert paper.columns == ["3", "5", "7", "9", "11", "13", "15", "20"]
    assert paper.rows[-1] == "CTAN"
    # Read off the paper.
    assert paper.text("CTAN", "20") == "88.93 ± 12.06"
    assert paper.text("JODIE", "15") == "60.00 ± 14.91"
    assert paper.text("TGAT", "5") == "100.00 ± 0.00"
    with pytest.raises(Exception, match="did you mean 't-pathgraph'"):
        paper_table("t-pathgraf")


def test_markdown_and_csv():
    cells = {("A", "x"): Cell(1.0, 0.1, 3), ("B", "y"): Cell(2.0)}
    shown = Table(["A", "B"], ["x", "y"], cells)
    assert shown.markdown("name").splitlines() == [
        "| name | x | y |",
        "|---|---:|---:|",
        "| A | 1.00 ± 0.10 |  |",
        "| B |  | 2.00 |",
    ]
    rows = list(csv.DictReader(io.StringIO(shown.csv("name"))))
    assert rows[0] == {"name": "A", "column": "x", "mean": "1.0", "std": "0.1", "runs": "3"}
    assert rows[1]["std"] == ""


def test_beside_keeps_only_our_columns():
    ours = Table(["CTAN"], ["20"], {("CTAN", "20"): Cell(100.0)})
    both = beside(ours, paper_table())
    assert both.rows == ["CTAN, here", "CTAN, paper"]
    assert both.lines()[1] == ["CTAN, paper", "88.93 ± 12.06"]


def test_pages_escape_what_they_show():
    shown = page("A & B", [table(Table(["<i>"], ["x"], {}))])
    assert "A &amp; B" in shown
    assert "<i>" not in shown


def test_the_figure_is_drawn_in_any_format(tmp_path):
    ours = Table(["CTAN"], ["3", "20"], {("CTAN", "3"): Cell(100.0), ("CTAN", "20"): Cell(99.0, 1)})
    for suffix, start in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        accuracy_by_length(tmp_path / f"a.{suffix}", ours, paper_table(), caption="how")
        assert (tmp_path / f"a.{suffix}").read_bytes().startswith(start)


def test_describe_against_plain_loops():
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 6, (2, 50))
    t = np.sort(rng.integers(0, 90, 50))
    facts = describe(EventStream.from_arrays(src=src, dst=dst, t=t, num_nodes=9))
    events: dict[int, list[int]] = {}
    others: dict[int, set[int]] = {}
    seen: set[tuple[int, int]] = set()
    repeats = 0
    for a, b, time in zip(src.tolist(), dst.tolist(), t.tolist(), strict=True):
        repeats += (a, b) in seen
        seen.add((a, b))
        for u, v in {(a, b), (b, a)}:
            events.setdefault(u, []).append(time)
            others.setdefault(u, set()).add(v)
    gaps = [q - p for times in events.values() for p, q in itertools.pairwise(times)]
    assert facts["repeat_rate"] == pytest.approx(repeats / 50)
    assert facts["events_of_a_node"]["median"] == np.median([len(e) for e in events.values()])
    assert facts["neighbors_of_a_node"]["most"] == max(len(o) for o in others.values())
    assert facts["time_to_next_of_a_node"]["quarter"] == np.quantile(gaps, 0.25)
    assert facts["time_to_next_event"]["most"] == np.diff(t).max()


def test_describe_counts_interactions_only():
    kind = [EventKind.INTERACTION, EventKind.EDGE_DELETED, EventKind.INTERACTION]
    facts = describe(EventStream.from_arrays(src=[0, 0, 0], dst=[1, 1, 1], t=[1, 2, 3], kind=kind))
    assert facts["events_of_a_node"]["most"] == 2
    assert facts["repeat_rate"] == 0.5


def test_describe_one_event():
    facts = describe(EventStream.from_arrays(src=[0], dst=[0], t=[1]))
    assert facts["events_of_a_node"]["most"] == 1
    assert facts["time_to_next_event"]["most"] is None


def test_describe_counts_edges_loops_and_classes():
    stream = EventStream.from_arrays(
        src=[0, 0, 1, 2], dst=[1, 1, 1, 0], t=[1, 2, 3, 4], y=[0, 3, -1, 3], msg=np.ones((4, 2))
    )
    facts = describe(stream, Split(2, 3, 4, "by hand"))
    assert facts["distinct_edges"] == 3
    assert facts["self_loops"] == 1
    assert facts["classes"] == {"0": 1, "3": 2}
    assert (facts["event_features"], facts["node_features"]) == (2, 0)
    assert facts["split"] == {"of": "events", "train": 2, "val": 1, "test": 1}
    assert facts["surprise"]["tgb"] == 1.0


def test_bins_of_whole_times_hold_as_many_times_each():
    # 400 times in 60 bins of equal length would be 6 in some and 7 in others.
    counts, _ = np.histogram(np.arange(400), _edges(np.arange(400)))
    assert set(counts[:-1]) == {7}
    for t in (np.array([5]), np.array([0.5]), np.array([0, 2**62]), np.array([-3.5, 7.25])):
        edges = _edges(t)
        assert np.histogram(t.astype(float), edges)[0].sum() == len(t)
