"""Readers: any file or frame of events becomes an `EventStream`."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ctan.errors import DataError, unknown_name
from ctan.events._columns import UNITS
from ctan.events._convert import features, kinds, labels, numbers, whole_column
from ctan.events._files import open_file
from ctan.events._find import Columns, find_columns, numbered, wanted_of
from ctan.events._frames import frame_source
from ctan.events._ids import node_ids
from ctan.events._nodes import Nodes, nodes_beside, nodes_from_extras, read_nodes
from ctan.events._problems import Problems
from ctan.events._source import Source
from ctan.events._times import as_written, times
from ctan.events.kinds import EventKind
from ctan.events.store import is_store, open_store
from ctan.events.stream import EventStream


def read_events(
    path: str | PathLike[str],
    *,
    src: str = "src",
    dst: str = "dst",
    t: str = "t",
    y: str | None = None,
    msg: Sequence[str] | None = None,
    graph: str | None = None,
    kind: str | None = None,
    unit: str | None = None,
    sort: bool = False,
    bipartite: bool = False,
    relabel: bool = False,
    nodes: str | PathLike[str] | None = None,
) -> EventStream:
    r"""Read events from a `.csv`, `.parquet`, `.arrow`, `.feather` or `.npz` file, or open a store.

    Columns that are not named here and not found by the rules below are not read. A store (see
    `import_events`) is mapped, not loaded; its columns were settled when it was made, so no option
    goes with it.

    Args:
        path: the file. A CSV file is UTF-8, with commas, and names its columns in line 1.
        src: column of sources: whole numbers (ids from 0), or names, which become ids in order of
            first appearance and are kept as `stream.names`.
        dst: column of destinations, likewise; both share one vocabulary unless `bipartite`.
        t: column of times: numbers, or ISO 8601 text or timestamps, which become integers since
            1970-01-01 UTC (text: microseconds, or nanoseconds where needed; a time without a zone
            is UTC). Nothing is rounded.
        y: column of labels; by default `label` or else `y`, if there is one. An empty cell is no
            label. Whole numbers of 0 or more, and -1 for none, are classes; others are targets.
        msg: columns of event features, numbers or lists of numbers; by default `f0`, `f1`, ... in
            order of number, or else `msg`, if there are any. `[]` reads none.
        graph: column of graph ids, for a union of disjoint graphs; by default `graph`.
        kind: column of `EventKind` numbers or names; by default `kind`. Where it is there,
            columns `x0`, `x1`, ... hold the new features in rows of kind NODE.
        unit: "s", "ms", "us" or "ns": what numeric times count, or what other times become.
        sort: sort by time, stably. Without it, times that decrease are an error.
        bipartite: sources and destinations are different nodes even if they share ids or names;
            destinations are numbered after the last source.
        relabel: take whole numbers in `src` and `dst` as names (for large, scattered ids).
        nodes: a file with one row per node: `name`, `x0`, `x1`, ...; by default the file beside
            `path` that `write_events` makes, such as `events.nodes.csv`, if it is there.

    Raises:
        DataError: everything that is wrong with the file, with column, row, line and repair.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> path = Path(tempfile.mkdtemp()) / "calls.csv"
        >>> _ = path.write_text("from,to,when\nada,bob,2024-05-01T10:00+02:00\n")
        >>> stream = read_events(path, src="from", dst="to", t="when")
        >>> stream.names, stream.t.tolist(), stream.t_unit
        (NodeNames(2: 'ada', 'bob'), [1714550400000000], 'us')
    """
    path = Path(path)
    asked = Columns(src, dst, t, y, msg, graph, kind)
    if is_store(path):
        if asked != Columns() or unit or sort or bipartite or relabel or nodes:
            raise DataError(
                f"{path}: a store is opened as it is, expected no options. To repair: leave them "
                "out, or import the file again with them."
            )
        return open_store(path)
    source = open_file(path)
    found = nodes_from_extras(source) or nodes_beside(path) if nodes is None else None
    return _stream(
        source,
        asked,
        read_nodes(Path(nodes)) if nodes is not None else found or Nodes(),
        unit=unit,
        sort=sort,
        bipartite=bipartite,
        relabel=relabel,
    )


def from_frame(
    frame: Any,
    *,
    src: str = "src",
    dst: str = "dst",
    t: str = "t",
    y: str | None = None,
    msg: Sequence[str] | None = None,
    graph: str | None = None,
    kind: str | None = None,
    unit: str | None = None,
    sort: bool = False,
    bipartite: bool = False,
    relabel: bool = False,
    nodes: Any = None,
) -> EventStream:
    """Read events from a pandas or polars frame, an Arrow table, or a mapping of arrays.

    All options are those of `read_events`; `nodes` is a frame as well.

    Example:
        >>> frame = {"user": ["ada", "bob"], "item": ["ink", "pen"], "t": [1, 2], "f0": [0.5, 1.5]}
        >>> stream = from_frame(frame, src="user", dst="item", bipartite=True)
        >>> stream.src.tolist(), stream.dst.tolist(), stream.msg.tolist()
        ([0, 1], [2, 3], [[0.5], [1.5]])
    """
    return _stream(
        frame_source(frame),
        Columns(src, dst, t, y, msg, graph, kind),
        Nodes() if nodes is None else read_nodes(frame_source(nodes, "frame of nodes")),
        unit=unit,
        sort=sort,
        bipartite=bipartite,
        relabel=relabel,
    )


def _stream(
    source: Source,
    asked: Columns,
    nodes: Nodes,
    *,
    unit: str | None,
    sort: bool,
    bipartite: bool,
    relabel: bool,
) -> EventStream:
    if unit is not None and unit not in UNITS:
        raise unknown_name("unit of time", unit, UNITS)
    problems = Problems(source.name, source.row_name)
    columns = find_columns(problems, source, asked)
    x_update = numbered(source.columns, "x") if columns.kind else []
    problems.raise_if_any()

    table = source.read(wanted_of(source, columns, x_update))
    if not table.num_rows:
        problems.add("src", None, "no events, only column names", "at least one row", "add events")
        problems.raise_if_any()

    def column(name: str) -> Any:
        return whole_column(table, name)

    src, dst, names = node_ids(
        problems,
        (columns.src, columns.dst),
        column(columns.src),
        column(columns.dst),
        text=source.text,
        bipartite=bipartite,
        relabel=relabel,
        names=nodes.names,
    )
    given_t = column(columns.t)
    t, t_unit = times(problems, columns.t, given_t, unit or source.units.get(columns.t))
    problems.time_cell = as_written(given_t)
    events = {
        "src": src,
        "dst": dst,
        "t": t,
        "msg": features(problems, table, list(columns.msg)) if columns.msg else None,
        "y": labels(problems, columns.y, column(columns.y)) if columns.y else None,
        "graph": numbers(problems, columns.graph, column(columns.graph)) if columns.graph else None,
        "kind": kinds(problems, columns.kind, column(columns.kind)) if columns.kind else None,
        "x_update": nodes.x_update,
    }
    if x_update and events["kind"] is not None:
        of_nodes = np.flatnonzero(np.asarray(events["kind"]) == EventKind.NODE)
        # Rows of other kinds are empty here.
        of_nodes_only = Problems(source.name, lambda row: source.row_name(int(of_nodes[row])))
        events["x_update"] = features(
            of_nodes_only, table.select(x_update).take(of_nodes), x_update
        )
        problems.found += of_nodes_only.found
    called = {part: getattr(columns, part) for part in ("src", "dst", "t", "y", "graph", "kind")}
    rest = {"x": nodes.x, "num_nodes": nodes.count, "names": names, "t_unit": t_unit}
    return EventStream._validated({**events, **rest}, problems.named(called), sort)
