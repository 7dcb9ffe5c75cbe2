"""CSV files as columns of text, and which row is at fault where Arrow cannot take one."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from ctan.errors import DataError
from ctan.events._source import Source, unreadable

_NO_TEXT = "got bytes that are no UTF-8 text. To repair: save the file as UTF-8."
_REPLACED = "\ufffd"  # what stands for bytes that are no UTF-8


def open_csv(path: Path) -> Source:
    """The columns of a CSV file; its first line that is not blank names them."""
    try:
        rows = _rows(path)
        line, header = next(rows, (0, []))
        has_rows = next(rows, None) is not None
    except csv.Error as error:
        raise unreadable(path, "CSV text", error) from error
    names = [name.strip() for name in header]
    if any(_REPLACED in name for name in names):
        raise DataError(f"{path}: line {line}: {_NO_TEXT}")
    if not any(names):
        raise DataError(f"{path}: the file is blank, expected a header and events.")
    if not has_rows:
        raise DataError(
            f"{path}: got no events, only column names, expected at least one row. "
            "To repair: add events."
        )

    def read(columns: list[str]) -> pa.Table:
        options = arrow_options(source, columns)
        try:
            return pyarrow.csv.read_csv(path, **options)
        except pa.ArrowInvalid as error:
            raise bad_row(path, len(names)) or unreadable(path, "CSV text", error) from error

    def row_name(row: int) -> str:
        return _line_of(path, row)

    source = Source(str(path), names, read, text=True, header_lines=line, row_name=row_name)
    return source


def arrow_options(source: Source, columns: list[str], **reading: Any) -> dict[str, Any]:
    """How Arrow reads the asked columns: all as text.

    Guessed types would round long integers and hide mixed formats.
    """
    return {
        "read_options": pyarrow.csv.ReadOptions(
            column_names=source.columns, skip_rows=source.header_lines, **reading
        ),
        # Without it, a quoted line break stops Arrow, but only in a file of more than one block.
        "parse_options": pyarrow.csv.ParseOptions(newlines_in_values=True),
        "convert_options": pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()), include_columns=columns
        ),
    }


def bad_row(path: Path, width: int) -> DataError | None:
    """What is wrong with the first row that Arrow cannot take, if that can be found."""
    try:
        for number, (line, cells) in enumerate(_rows(path)):
            where = f"{path}: row {number - 1} (line {line})"
            if any(_REPLACED in cell for cell in cells):
                return DataError(f"{where}: {_NO_TEXT}")
            if len(cells) != width:
                repair = 'complete the row, or quote cells that hold a comma: "a, b"'
                if any("\n" in cell for cell in cells):
                    repair = "close the quote: a cell that begins with one goes on to the next"
                return DataError(
                    f"{where}: got {len(cells)} cells, expected {width}, as the header names. "
                    f"To repair: {repair}."
                )
    except csv.Error:
        pass
    return None


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not blank, slowly; the header comes first."""
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        reader = csv.reader(file)
        for cells in reader:
            if cells:
                yield reader.line_num, cells


def _line_of(path: Path, row: int) -> str:
    """How a row of a CSV file is called: people look for its line."""
    try:
        for number, (line, _) in enumerate(_rows(path)):
            if number == row + 1:  # the header is number 0
                return f"row {row} (line {line})"
    except csv.Error:  # a cell too long for Python
        pass
    return f"row {row}"
