"""T-PascalVOC as the authors' code reads it: two CSV files for each compactness."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from ctan.errors import DataError
from ctan.events import EventStream, GraphSplit, read_events

_PARTS = (0, 1, 2)  # training, validation and test in column ext_roll


def read_released_pascal_voc(
    folder: str | os.PathLike[str], compactness: float = 10
) -> tuple[EventStream, GraphSplit]:
    r"""Read `voc_pascal_temporal_C.csv` and `voc_pascal_temporal_nodefeatures_C.csv`.

    The first has a row for each event with columns `src`, `dst`, `t`, `label` (class of the
    visited node) and `ext_roll` (0 training, 1 validation, 2 test), in any order of time; other
    columns are not read. The second has a row for each node, in order of their ids from 0, and
    all of its columns are features. Which graph an event belongs to is not in the files: graphs
    are what is connected, numbered as they first appear once events are sorted by time (stably).

    Returns:
        The stream, with `msg` 1 as in `pascal_voc`, and the graphs of each part.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> events = "src,dst,t,label,ext_roll\n0,1,0,7,0\n1,2,1,0,0\n3,4,0,0,1\n5,6,0,9,2\n"
        >>> _ = (folder / "voc_pascal_temporal_10.csv").write_text(events)
        >>> nodes = "mean_r,x,y\n" + "0.5,0,1\n" * 7
        >>> _ = (folder / "voc_pascal_temporal_nodefeatures_10.csv").write_text(nodes)
        >>> stream, split = read_released_pascal_voc(folder)
        >>> stream.t.tolist(), stream.graph.tolist(), stream.y.tolist()
        ([0, 0, 0, 1], [0, 1, 2, 0], [7, 0, 9, 0])
        >>> [part.tolist() for part in split]
        [[0], [1], [2]]
    """
    events_file = Path(folder) / f"voc_pascal_temporal_{compactness:g}.csv"
    nodes_file = Path(folder) / f"voc_pascal_temporal_nodefeatures_{compactness:g}.csv"
    missing = [file.name for file in (events_file, nodes_file) if not file.is_file()]
    if missing:
        raise DataError(
            f"{folder}: no {' and no '.join(missing)}. Put the authors' files there, or make the "
            "data from images with pascal_voc."
        )
    # Read in the place of graph ids, parts are sorted along, and no node may be in two of them.
    events = read_events(events_file, y="label", msg=[], graph="ext_roll", sort=True)
    part, y = events.graph, events.y
    assert part is not None
    assert y is not None
    x = _features(nodes_file)
    _check_parts(events_file, part)
    if events.num_nodes > len(x):
        raise DataError(
            f"{nodes_file}: {len(x):,} rows, but the events name node {events.num_nodes - 1:,}: "
            "expected one row for each node. The two files may be of different compactness."
        )
    graph = _connected(events)
    stream = EventStream.from_arrays(
        src=events.src,
        dst=events.dst,
        t=events.t,
        msg=np.ones((len(events), 1), np.float32),
        x=x,
        y=y,
        graph=graph,
    )
    return stream, GraphSplit(*(np.unique(graph[part == wanted]) for wanted in _PARTS))


def _features(path: Path) -> NDArray[np.float32]:
    """All columns of a file as features, `[N, dn]`."""
    try:
        table = pyarrow.csv.read_csv(path)
    except pa.ArrowInvalid as error:
        raise DataError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from error
    wrong = [
        f"{field.name!r} ({field.type}, {table.column(field.name).null_count:,} empty)"
        for field in table.schema
        if not (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
        or table.column(field.name).null_count
    ]
    if wrong:
        raise DataError(f"{path}: expected a number in each cell, not so in {', '.join(wrong)}.")
    columns = [column.to_numpy().astype(np.float32) for column in table.columns]
    return np.stack(columns, axis=1)


def _connected(events: EventStream) -> NDArray[np.int64]:
    """The component of each event's nodes, numbered as they appear, `[E]`."""
    smallest = np.arange(events.num_nodes)
    while True:
        before = smallest.copy()
        reach = np.minimum(smallest[events.src], smallest[events.dst])
        np.minimum.at(smallest, events.src, reach)
        np.minimum.at(smallest, events.dst, reach)
        smallest = smallest[smallest]  # jump to what the smallest known member knows
        if np.array_equal(before, smallest):
            break
    _, first, code = np.unique(smallest[events.src], return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[code]


def _check_parts(path: Path, part: NDArray[np.int64]) -> None:
    """The three parts must be there, and no other."""
    if not np.array_equal(np.unique(part), _PARTS):
        given = ", ".join(map(str, np.unique(part)))
        raise DataError(
            f"{path}: column 'ext_roll' holds {given}, expected all of 0 (training), 1 (validation)"
            " and 2 (test), and nothing else."
        )
