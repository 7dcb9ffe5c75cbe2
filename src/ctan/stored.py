"""Folders of arrays on disk: written whole, checked when opened, mapped instead of loaded."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ctan.errors import DataError

Array = npt.NDArray[Any]
#: What a manifest says of one file.
Record = dict[str, Any]

#: Rows that are handled at once where a column may not fit in memory.
CHUNK = 1 << 20
_ABANDONED_SECONDS = 86_400
_HEADER = 128  # bytes; numpy leaves room in it for any number of rows


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes the name `path` only if nothing failed.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "store"
        >>> with new_folder(path) as part:
        ...     _ = (part / "a").write_text("whole")
        >>> [file.name for file in path.iterdir()]
        ['a']
    """
    if path.exists():
        raise DataError(f"{path}: is there already. To repair: delete it, or name another folder.")
    path.parent.mkdir(parents=True, exist_ok=True)
    _clear(path)
    # A name of its own: another process may be filling the same folder.
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.mkdir()
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        if error.filename is None:  # a full disk has no name of its own
            error.filename = str(path)
        raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _clear(path: Path) -> None:
    """Remove what runs that were killed, a day ago or more, left of `path`."""
    for left in path.parent.glob(f".{escape(path.name)}.*.part"):
        with suppress(OSError):  # another process may be doing the same
            if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(left)


class ColumnWriter:
    """Writes an `.npy` file of unknown length row by row, and its checksum on the way.

    Args:
        path: the file.
        dtype: of its values.
        width: values in a row; None for a column of single values.

    Example:
        >>> import tempfile
        >>> writer = ColumnWriter(Path(tempfile.mkdtemp()) / "t.npy", np.dtype(np.int64))
        >>> writer.append(np.array([1, 2]))
        >>> writer.append(np.array([3]))
        >>> record = writer.close()
        >>> record["file"], record["dtype"], record["shape"]
        ('t.npy', '<i8', [3])
    """

    def __init__(self, path: Path, dtype: np.dtype[Any], width: int | None = None) -> None:
        self.path, self.dtype, self.width = path, np.dtype(dtype), width
        self.rows = 0
        self._digest = hashlib.sha256()
        self._file = path.open("wb")
        self._write_header()

    def append(self, rows: Array) -> None:
        """Add rows: `[n]`, or `[n, width]`."""
        block = np.ascontiguousarray(rows, self.dtype)
        self._file.write(block.data)
        self._digest.update(block.data)
        self.rows += len(block)

    def close(self) -> Record:
        """Finish the file; what a manifest says of it."""
        self._file.seek(0)
        shape = self._write_header()
        self._file.close()
        return {
            "file": self.path.name,
            "dtype": self.dtype.str,
            "shape": list(shape),
            "sha256": self._digest.hexdigest(),
        }

    def abandon(self) -> None:
        """Close the file as it is; nothing happens if it was finished."""
        self._file.close()

    def _write_header(self) -> tuple[int, ...]:
        shape = (self.rows,) if self.width is None else (self.rows, self.width)
        description = {"descr": self.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, description)
        assert self._file.tell() == _HEADER
        return shape


def new_mapped(path: Path, dtype: np.dtype[Any], count: int) -> Array:
    """An `.npy` file of `count` values to be filled in, mapped for writing.

    Its room on the disk is taken first: a mapped file that finds the disk full as it is written to
    ends the process without a word.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "t.npy"
        >>> column = new_mapped(path, np.dtype(np.int64), 2)
        >>> column[:] = 5
        >>> np.load(path).tolist()
        [5, 5]
    """
    if not count:  # nothing to map
        column = np.empty(0, dtype)
        np.save(path, column)
        return column
    with path.open("wb") as file:
        description = {"descr": dtype.str, "fortran_order": False, "shape": (count,)}
        np.lib.format.write_array_header_1_0(file, description)
        _take_room(file, file.tell() + count * dtype.itemsize)
    mapped: Array = np.load(path, mmap_mode="r+")
    return mapped.view(np.ndarray)


def _take_room(file: BinaryIO, size: int) -> None:
    """Make a file as long as it is going to be, or raise OSError where the disk is too full."""
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except AttributeError:  # not on this system
        file.truncate(size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # not on this file system
            raise
        file.truncate(size)


def write_column(path: Path, column: Array) -> Record:
    """Write an array that is there already, which may be mapped from another file."""
    writer = ColumnWriter(path, column.dtype, column.shape[1] if column.ndim == 2 else None)
    for start in range(0, len(column), CHUNK):
        writer.append(column[start : start + CHUNK])
    return writer.close()


def file_record(path: Path, array: Array | None = None) -> Record:
    """What a manifest says of a file: one that is no array, or an `.npy` file of `array`."""
    if array is None:
        return {"file": path.name, "sha256": _digest(path)}
    shape = {"dtype": array.dtype.str, "shape": list(array.shape)}
    return {"file": path.name, **shape, "sha256": _digest(path, _HEADER)}


def write_manifest(folder: Path, form: str, facts: dict[str, Any]) -> None:
    """Write `manifest.json`: what the folder holds, sealed with a checksum of its own.

    Args:
        folder: where.
        form: what kind of folder this is, and its version.
        facts: all else; a `columns` entry holds the records of the files by name.
    """
    content = {"form": form, **facts}
    sealed = {**content, "seal": _seal(content)}
    (folder / "manifest.json").write_text(json.dumps(sealed, indent=1) + "\n")


def read_manifest(folder: Path, form: str) -> dict[str, Any]:
    """The manifest of a folder, if it is whole and of the form expected."""
    path = folder / "manifest.json"
    try:
        content = json.loads(path.read_text())
        seal = content.pop("seal")
    except FileNotFoundError:
        raise DataError(f"{folder}: has no manifest.json, so it is no {form!r}.") from None
    except (ValueError, KeyError, AttributeError) as error:
        raise _damaged(path, f"it cannot be read ({error})") from error
    if seal != _seal(content):
        raise _damaged(path, "its content does not agree with its checksum")
    if content["form"] != form:
        raise DataError(f"{folder}: holds {content['form']!r}, expected {form!r}: make it again.")
    found: dict[str, Any] = content
    return found


def map_column(folder: Path, record: Record) -> Array:
    """An array of a folder, mapped from its file once the file's checksum agrees."""
    path = folder / record["file"]
    check_file(folder, record, skip=_HEADER)
    try:
        column: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError) as error:
        if 0 in record["shape"]:  # nothing to map
            return np.empty(record["shape"], record["dtype"])
        raise _damaged(path, str(error)) from error
    if list(column.shape) != record["shape"] or column.dtype.str != record["dtype"]:
        raise _damaged(path, f"its header says {column.dtype.str} {list(column.shape)}")
    return column.view(np.ndarray)


def check_file(folder: Path, record: Record, skip: int = 0) -> Path:
    """The path of a file, once its checksum agrees with the manifest."""
    path = folder / str(record["file"])
    try:
        found = _digest(path, skip)
    except FileNotFoundError:
        raise _damaged(path, "it is missing") from None
    if found != record["sha256"]:
        raise _damaged(path, f"its checksum is {found}, expected {record['sha256']}")
    return path


def _damaged(path: Path, reason: str) -> DataError:
    return DataError(
        f"{path}: damaged: {reason}. Nothing was read from it. To repair: delete the folder "
        f"{path.parent} and make it again."
    )


def _digest(path: Path, skip: int = 0) -> str:
    with path.open("rb") as file:
        file.seek(skip)
        return hashlib.file_digest(file, "sha256").hexdigest()


def _seal(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
