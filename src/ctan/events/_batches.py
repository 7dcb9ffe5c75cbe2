"""Files of any size as a sequence of small tables."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from ctan.events._csv import arrow_options, bad_row
from ctan.events._files import format_of_file
from ctan.events._source import Source, unreadable
from ctan.stored import CHUNK

#: Told how many of how many are done.
Progress = Callable[[int, int], None]
_BLOCK = 1 << 24  # bytes of text


def batches(
    path: Path, source: Source, columns: list[str], progress: Progress
) -> Iterator[pa.Table]:
    """The asked columns of a CSV, Parquet or Arrow file, at most `CHUNK` rows at once or so.

    Args:
        path: the file.
        source: what `open_file` found in it.
        columns: which to read.
        progress: told the bytes (CSV) or rows that were read.
    """
    form = format_of_file(path)
    assert form is not None
    read = {"CSV text": _csv, "Parquet": _parquet}.get(form, _arrow)
    try:
        yield from read(path, source, columns, progress)
    except pa.ArrowInvalid as error:
        found = bad_row(path, len(source.columns)) if source.text else None
        raise found or unreadable(path, form, error) from error


class _Counting(io.RawIOBase):
    """A file that knows how far it was read; Arrow reads it from another thread."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("rb")
        self.done, self.size = 0, path.stat().st_size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self.file.read(size)
        self.done += len(block)
        return block

    def close(self) -> None:
        self.file.close()
        super().close()


def _csv(path: Path, source: Source, columns: list[str], progress: Progress) -> Iterator[pa.Table]:
    file = _Counting(path)
    with pa.PythonFile(file, mode="r") as stream:
        options = arrow_options(source, columns, block_size=_BLOCK)
        reader = pyarrow.csv.open_csv(stream, **options)
        with reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])
                progress(file.done, file.size)


def _parquet(
    path: Path, source: Source, columns: list[str], progress: Progress
) -> Iterator[pa.Table]:
    done = 0
    with pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(CHUNK, columns=columns):
            yield pa.Table.from_batches([batch]).select(columns)
            done += len(batch)
            progress(done, file.metadata.num_rows)


def _arrow(
    path: Path, source: Source, columns: list[str], progress: Progress
) -> Iterator[pa.Table]:
    with pa.memory_map(str(path)) as file:
        is_file = file.read(4) == b"ARRO"
        file.seek(0)
        if is_file:
            opened = pa.ipc.open_file(file)
            found = (opened.get_batch(i) for i in range(opened.num_record_batches))
        else:
            found = iter(pa.ipc.open_stream(file))
        for batch in found:
            table = pa.Table.from_batches([batch]).select(columns)
            for start in range(0, len(table), CHUNK):
                yield table.slice(start, CHUNK)
            progress(file.tell(), file.size())
