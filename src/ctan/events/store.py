"""The store: a folder of columns that is mapped into memory instead of read."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from ctan.events.names import NodeNames
from ctan.events.stream import EventStream
from ctan.stored import (
    Array,
    Record,
    check_file,
    file_record,
    map_column,
    new_folder,
    read_manifest,
    write_column,
    write_manifest,
)

FORM = "ctan events, version 1"
COLUMNS = ("src", "dst", "t", "msg", "x", "y", "graph", "kind", "x_update")
_NAMES = "names.arrow"


def write_store(stream: EventStream, path: str | PathLike[str]) -> Path:
    """Write a stream as a store: one `.npy` file per column, and a manifest with checksums.

    `read_events` opens it again without loading it. The folder is there only once it is whole.

    Example:
        >>> import tempfile
        >>> from ctan.events import read_events
        >>> path = Path(tempfile.mkdtemp()) / "calls"
        >>> stream = EventStream.from_arrays(src=[0, 1], dst=[1, 0], t=[3, 7])
        >>> opened = read_events(write_store(stream, path))
        >>> opened.t.tolist(), store_of(opened) == path
        ([3, 7], True)
    """
    path = Path(path)
    with new_folder(path) as part:
        given = {name: getattr(stream, name) for name in COLUMNS}
        columns = {
            name: write_column(part / f"{name}.npy", column)
            for name, column in given.items()
            if column is not None
        }
        finish_store(part, columns, stream.num_nodes, stream.names, stream.t_unit)
    return path


def finish_store(
    folder: Path,
    columns: dict[str, Record],
    num_nodes: int,
    names: NodeNames | None,
    t_unit: str | None,
) -> None:
    """Write what a store has beside its columns: the names and the manifest."""
    facts: dict[str, Any] = {"num_nodes": num_nodes, "t_unit": t_unit, "columns": columns}
    if names is not None:
        table = pa.table({"name": pa.array(names, pa.large_string())})
        with (
            pa.OSFile(str(folder / _NAMES), "wb") as file,
            pa.ipc.new_file(file, table.schema) as w,
        ):
            w.write_table(table)
        facts["names"] = file_record(folder / _NAMES)
        facts["num_sources"] = names.num_sources
    write_manifest(folder, FORM, facts)


def is_store(path: Path) -> bool:
    """Whether a path is, or was meant to be, a store."""
    return path.is_dir() and (path / "manifest.json").exists()


def open_store(path: str | PathLike[str]) -> EventStream:
    """Open a store without loading it; every file's checksum is compared first.

    Raises:
        DataError: a file is damaged or missing, by name.
    """
    folder = Path(path)
    manifest = read_manifest(folder, FORM)
    columns = {name: map_column(folder, r) for name, r in manifest["columns"].items()}
    names = None
    if "names" in manifest:
        file = pa.memory_map(str(check_file(folder, manifest["names"])))
        table = pa.ipc.open_file(file).read_all()
        names = NodeNames.of_column(table.column("name"), manifest["num_sources"])
    return EventStream(
        **columns, num_nodes=manifest["num_nodes"], names=names, t_unit=manifest["t_unit"]
    )


def store_of(stream: EventStream) -> Path | None:
    """The store that a stream's edges are mapped from, all of them; None if there is none.

    Example:
        >>> store_of(EventStream.from_arrays(src=[0], dst=[1], t=[0])) is None
        True
    """
    files = {name: _file_of(getattr(stream, name)) for name in ("src", "dst", "t")}
    if stream.kind is not None:
        files["kind"] = _file_of(stream.kind)
    folders = {
        None if file is None or file.name != f"{name}.npy" else file.parent
        for name, file in files.items()
    }
    return folders.pop() if len(folders) == 1 else None


def _file_of(column: Array) -> Path | None:
    """The file that an array maps from first to last row."""
    base: Any = column
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base  # a view of a view keeps the view between
    if not isinstance(base, np.memmap) or base.shape != column.shape or base.filename is None:
        return None
    return Path(base.filename) if base.ctypes.data == column.ctypes.data else None
