"""Writing a stream so that reading it again loses nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from ctan.errors import DataError
from ctan.events._nodes import path_of_nodes
from ctan.events.kinds import EventKind
from ctan.events.stream import EventStream

_NPZ_COLUMNS = ("src", "dst", "t", "msg", "x", "y", "graph", "kind", "x_update")


def write_events(stream: EventStream, path: str | PathLike[str]) -> list[Path]:
    """Write a stream to `.csv`, `.parquet` or `.npz`; `read_events` gives it back.

    Columns: `src` and `dst` (names where nodes have them), `t`, `label`, `graph`, `kind`, `f0`,
    `f1`, ...; and `x0`, `x1`, ... for updates of node features. Names, node features and nodes
    without events go to a second file beside it, such as `events.nodes.csv`; an NPZ file holds
    everything. A CSV file does not know the unit of its times: say it again when reading.
    A file is there only once it is whole.

    Returns:
        The files written.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "events.csv"
        >>> stream = EventStream.from_arrays(src=[0, 1], dst=[1, 0], t=[3, 7])
        >>> [file.name for file in write_events(stream, path)]
        ['events.csv']
        >>> print(path.read_text(), end="")
        "src","dst","t"
        0,1,3
        1,0,7
    """
    path = Path(path)
    if path.suffix == ".npz":
        _whole(path, lambda part: _write_npz(stream, part))
        return [path]
    writers = {".csv": pyarrow.csv.write_csv, ".parquet": pyarrow.parquet.write_table}
    if path.suffix not in writers:
        known = ", ".join([*writers, ".npz"])
        raise DataError(f"{path}: got the suffix {path.suffix!r}, expected one of {known}.")
    text = path.suffix == ".csv"
    tables = {path: events_table(stream, text)}
    beside = path_of_nodes(path)
    # A table of nodes left there by an earlier stream would be read with this one.
    if needs_nodes(stream) or beside.exists():
        tables[beside] = nodes_table(stream)
    for file, table in tables.items():
        _whole(file, lambda part, table=table: writers[path.suffix](table, part))  # type: ignore[misc]
    return list(tables)


def _whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Write beside `path`, then rename: a stopped write leaves no half file under its name."""
    part = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        write(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _write_npz(stream: EventStream, path: Path) -> None:
    columns: dict[str, npt.NDArray[Any]] = {"num_nodes": np.array(stream.num_nodes)}
    for name in _NPZ_COLUMNS:
        if getattr(stream, name) is not None:
            columns[name] = getattr(stream, name)
    if stream.names is not None:
        columns["names"] = np.array(list(stream.names))
        if stream.names.num_sources is not None:
            columns["num_sources"] = np.array(stream.names.num_sources)
    if stream.t_unit is not None:
        columns["t_unit"] = np.array(stream.t_unit)
    np.savez(path, **columns)  # type: ignore[arg-type]


def events_table(stream: EventStream, text: bool) -> pa.Table:
    """The events as `write_events` writes them; `text` where floats must read as floats."""
    columns: dict[str, Any] = {"src": stream.src, "dst": stream.dst, "t": pa.array(stream.t)}
    if stream.names is not None:
        names = pa.array(list(stream.names))
        columns["src"], columns["dst"] = names.take(stream.src), names.take(stream.dst)
    if text and stream.t.dtype.kind == "f":
        columns["t"] = _with_point(columns["t"])
    if stream.y is not None:
        columns["label"] = stream.y
        if text and stream.y.dtype.kind == "f":
            columns["label"] = _with_point(pa.array(stream.y))
    for name in ("graph", "kind"):
        if getattr(stream, name) is not None:
            columns[name] = getattr(stream, name)
    for i in range(stream.edge_dim):
        columns[f"f{i}"] = stream.msg[:, i]  # type: ignore[index]
    if stream.x_update is not None and stream.kind is not None:
        updates = np.zeros((len(stream), stream.node_dim), dtype=np.float32)
        others = stream.kind != EventKind.NODE
        updates[~others] = stream.x_update
        for i in range(stream.node_dim):
            columns[f"x{i}"] = pa.array(updates[:, i], mask=others)
    table = pa.table(columns)
    if stream.t_unit is not None and not text:
        at = table.schema.get_field_index("t")
        field = table.schema.field(at).with_metadata({"unit": stream.t_unit})
        table = table.cast(table.schema.set(at, field))
    return table


def _with_point(column: pa.Array) -> pa.Array:
    """Floats that read as floats: Arrow writes 1.0 as 1, so where there is one they go as text."""
    text = column.cast(pa.string())
    whole = pc.match_substring_regex(text, r"^-?\d+$")
    if not pc.any(whole).as_py():
        return column
    return pc.if_else(whole, pc.binary_join_element_wise(text, ".0", ""), text)


def needs_nodes(stream: EventStream) -> bool:
    """Whether the events alone do not tell all about the nodes."""
    largest = max(int(stream.src.max()), int(stream.dst.max())) if len(stream) else -1
    return stream.names is not None or stream.x is not None or stream.num_nodes > largest + 1


def nodes_table(stream: EventStream) -> pa.Table:
    """The nodes as `write_events` writes them."""
    columns: dict[str, Any] = {"node": np.arange(stream.num_nodes)}
    if stream.names is not None:
        columns["name"] = pa.array(list(stream.names))
        if stream.names.num_sources is not None:
            is_source = np.arange(stream.num_nodes) < stream.names.num_sources
            columns["side"] = np.where(is_source, "src", "dst")
    if stream.x is not None:
        for i in range(stream.x.shape[1]):
            columns[f"x{i}"] = stream.x[:, i]
    return pa.table(columns)
