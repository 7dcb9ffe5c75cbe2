"""Files by suffix, once their content agrees with it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from ctan.errors import DataError, unknown_name
from ctan.events._csv import open_csv
from ctan.events._npz import open_npz
from ctan.events._source import Source, table_source, units_of, unreadable

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
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def format_of_file(path: Path) -> str | None:
    """What a suffix, in any case, says of a file: one of `FORMATS`, or None."""
    return FORMATS.get(path.suffix.lower())


def open_file(path: Path) -> Source:
    """The columns of a file, by its suffix, once its content agrees with it."""
    if path.is_dir():
        raise DataError(
            f"{path}: is a folder without a store of events, expected a file of events. To repair: "
            "name the file, or make a store of it (ctan data import)."
        )
    start = _start(path)
    expected = format_of_file(path)
    for magic, how in _COMPRESSED.items():
        if start.startswith(magic):
            raise DataError(f"{path}: is compressed by {how}. To repair: decompress it first.")
    if expected is None:
        known = ", ".join(FORMATS)
        raise DataError(
            f"{path}: got the suffix {path.suffix!r}, expected one of {known}. "
            "To repair: convert the file, or rename it if it is one of these."
        )
    if not start:
        raise DataError(f"{path}: the file is empty (0 bytes), expected a header and events.")
    _check_content(path, start, expected)
    opener = {"CSV text": open_csv, "Parquet": _parquet, "Arrow": _arrow, "NPZ": open_npz}[expected]
    try:
        return opener(path)
    except (pa.ArrowInvalid, OSError, zipfile.BadZipFile, EOFError) as error:
        raise unreadable(path, expected, error) from error


def _start(path: Path) -> bytes:
    """The first bytes of a file, if it is there."""
    if not path.is_file():
        if path.parent.is_dir():
            near = [p.name for p in path.parent.iterdir() if format_of_file(p)]
            if near and not path.exists():
                raise DataError(str(unknown_name(f"file in {path.parent}", path.name, near)))
            found = "is no regular file" if path.exists() else "there is no such file"
            raise DataError(f"{path}: {found}, expected a file of events.")
        raise DataError(f"{path}: there is no such file, and no folder {path.parent}.")
    with path.open("rb") as file:
        return file.read(8)


def _check_content(path: Path, start: bytes, expected: str) -> None:
    """The first bytes must be those of the format that the suffix names."""
    if expected == "CSV text" and start.startswith(_UTF16):
        raise DataError(f"{path}: is UTF-16 text. To repair: save the file as UTF-8.")
    found = _MAGIC.get(start[:4], "CSV text" if b"\0" not in start else "unknown")
    if found != expected:
        suffix = next((s for s, name in FORMATS.items() if name == found), None)
        raise DataError(
            f"{path}: wrong suffix: {path.suffix!r} means {expected}, but the content is {found}. "
            f"To repair: "
            + (f"rename it to {path.stem}{suffix}." if suffix else "export the file again.")
        )


def _parquet(path: Path) -> Source:
    schema = pyarrow.parquet.read_schema(path)
    return Source(
        str(path),
        schema.names,
        lambda columns: pyarrow.parquet.ParquetFile(path).read(columns),
        units=units_of(schema),
    )


def _arrow(path: Path) -> Source:
    with pa.memory_map(str(path)) as file:
        stream = file.read(4) != b"ARRO"
    opened = pa.ipc.open_stream(path) if stream else pa.ipc.open_file(pa.memory_map(str(path)))
    return table_source(opened.read_all(), str(path))
