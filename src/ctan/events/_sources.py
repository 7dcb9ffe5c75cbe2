"""Files and frames as named Arrow columns, and the errors that opening them can meet."""

from __future__ import annotations

import csv
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from ctan.errors import DataError, unknown_name

FORMATS = {
    ".csv": "CSV text",
    ".parquet": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".npz": "NPZ",
}
_MAGIC = {
    b"PAR1": "Parquet",
    b"ARRO": "Arrow",
    b"\xff\xff\xff\xff": "Arrow",
    b"PK\x03\x04": "NPZ",
    b"PK\x05\x06": "NPZ",  # without members
}


@dataclass
class Source:
    """Something with named columns: a file, or a frame in memory.

    `read` gives the columns asked for. In `text` columns (CSV) all values are strings.
    `extras` holds what belongs to no event, such as node features in an NPZ file.
    """

    name: str
    columns: list[str]
    read: Callable[[list[str]], pa.Table]
    text: bool = False
    row_name: Callable[[int], str] = "row {}".format
    extras: dict[str, Any] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        repeated = [name for name, count in Counter(self.columns).items() if count > 1]
        if repeated:
            where = [i + 1 for i, name in enumerate(self.columns) if name == repeated[0]]
            raise DataError(
                f"{self.name}: column {repeated[0]!r} appears {len(where)} times (columns "
                f"{', '.join(map(str, where))}), expected every name once. To repair: rename "
                "or drop the others" + _header_row(self.text)
            )


def _header_row(text: bool) -> str:
    return ", in line 1." if text else "."


def open_file(path: Path) -> Source:
    """The columns of a file, by its suffix, once its content agrees with it."""
    if path.is_dir():
        raise DataError(
            f"{path}: is a folder without a store of events, expected a file of events. To repair: "
            "name the file, or make a store of it (ctan data import)."
        )
    if path.suffix not in FORMATS:
        known = ", ".join(FORMATS)
        raise DataError(
            f"{path}: got the suffix {path.suffix!r}, expected one of {known}. "
            "To repair: convert the file, or rename it if it is one of these."
        )
    if not path.is_file():
        if path.parent.is_dir():
            near = [p.name for p in path.parent.iterdir() if p.suffix in FORMATS]
            raise DataError(str(unknown_name(f"file in {path.parent}", path.name, near)))
        raise DataError(f"{path}: there is no such file, and no folder {path.parent}.")
    with path.open("rb") as file:
        start = file.read(4)
    if not start:
        raise DataError(f"{path}: the file is empty (0 bytes), expected a header and events.")
    found = _MAGIC.get(start, "CSV text" if b"\0" not in start else "unknown")
    expected = FORMATS[path.suffix]
    if found != expected:
        suffix = next((s for s, name in FORMATS.items() if name == found), None)
        raise DataError(
            f"{path}: wrong suffix: {path.suffix!r} means {expected}, but the content is {found}. "
            f"To repair: "
            + (f"rename it to {path.stem}{suffix}." if suffix else "export the file again.")
        )
    opener = {"CSV text": _csv, "Parquet": _parquet, "Arrow": _arrow, "NPZ": _npz}[expected]
    try:
        return opener(path)
    except (pa.ArrowInvalid, OSError, zipfile.BadZipFile, EOFError) as error:
        raise unreadable(path, expected, error) from error


def unreadable(path: Path, expected: str, error: Exception) -> DataError:
    reason = str(error).split("\n")[0].removesuffix(".")
    return DataError(
        f"{path}: cannot be read as {expected}: {reason}. "
        "The file may be damaged or cut short; export or download it again."
    )


def _csv(path: Path) -> Source:
    _, header = next(_csv_rows(path))
    names = [name.strip() for name in header]

    def read(columns: list[str]) -> pa.Table:
        # Text, not guessed types: a guess would round long integers and hide mixed formats.
        try:
            return pyarrow.csv.read_csv(
                path,
                read_options=pyarrow.csv.ReadOptions(column_names=names, skip_rows=1),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(columns, pa.string()), include_columns=columns
                ),
            )
        except pa.ArrowInvalid as error:
            raise bad_row(path, len(names)) or unreadable(path, "CSV text", error) from error

    return Source(str(path), names, read, text=True, row_name=lambda row: _line_of(path, row))


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not blank, slowly; the header comes first."""
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        reader = csv.reader(file)
        for cells in reader:
            if cells:
                yield reader.line_num, cells


def _line_of(path: Path, row: int) -> str:
    """How a row of a CSV file is called: people look for its line."""
    for number, (line, _) in enumerate(_csv_rows(path)):
        if number == row + 1:  # the header is number 0
            return f"row {row} (line {line})"
    return f"row {row}"


def bad_row(path: Path, width: int) -> DataError | None:
    """What is wrong with the first row that Arrow cannot take, if that can be found."""
    for number, (line, cells) in enumerate(_csv_rows(path)):
        if any("\ufffd" in cell for cell in cells):
            return DataError(
                f"{path}: row {number - 1} (line {line}): got bytes that are no UTF-8 text. "
                "To repair: save the file as UTF-8."
            )
        if len(cells) != width:
            return DataError(
                f"{path}: row {number - 1} (line {line}): got {len(cells)} cells, expected "
                f"{width}, as the header names. To repair: complete the row, or quote cells that "
                'hold a comma: "a, b".'
            )
    return None


def _parquet(path: Path) -> Source:
    schema = pyarrow.parquet.read_schema(path)
    return Source(
        str(path),
        schema.names,
        lambda columns: pyarrow.parquet.ParquetFile(path).read(columns),
        units=_units(schema),
    )


def _arrow(path: Path) -> Source:
    with pa.memory_map(str(path)) as file:
        stream = file.read(4) != b"ARRO"
    opened = pa.ipc.open_stream(path) if stream else pa.ipc.open_file(pa.memory_map(str(path)))
    return table_source(opened.read_all(), str(path))


def _units(schema: pa.Schema) -> dict[str, str]:
    """Units of time that `write_events` left beside numeric columns."""
    metadata = {f.name: f.metadata or {} for f in schema}
    return {name: m[b"unit"].decode() for name, m in metadata.items() if b"unit" in m}


def _npz(path: Path) -> Source:
    extras: dict[str, Any] = {}
    events: dict[str, Any] = {}
    # Opened here, as numpy leaves a file open that turns out not to be an archive.
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        for name in archive.files:
            try:
                array = archive[name]
            except ValueError as error:
                raise DataError(
                    f"{path}: column {name!r} holds Python objects, expected numbers or text: "
                    "pickled data is never loaded. To repair: save it as an array of numbers."
                ) from error
            kept_apart = name in ("x", "x_update", "names") or array.ndim == 0
            (extras if kept_apart else events)[name] = array
    return Source(
        str(path),
        list(events),
        lambda columns: pa.table({name: _from_numpy(events[name]) for name in columns}),
        extras=extras,
        units={"t": str(extras["t_unit"])} if "t_unit" in extras else {},
    )


def _from_numpy(array: Any) -> pa.Array:
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.ndim == 2:
        return pa.FixedSizeListArray.from_arrays(pa.array(array.ravel()), array.shape[1])
    return pa.array(array)


def table_source(table: pa.Table, name: str) -> Source:
    """The columns of an Arrow table."""
    return Source(name, table.column_names, table.select, units=_units(table.schema))
