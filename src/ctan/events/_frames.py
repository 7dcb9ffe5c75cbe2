"""Frames in memory (pandas, polars, Arrow, mappings of arrays) as named Arrow columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ctan.errors import DataError
from ctan.events._problems import Problems
from ctan.events._source import Source, table_source

# What Arrow raises for values it cannot take.
_NO_ARROW = (pa.ArrowException, OverflowError, TypeError, ValueError)


def frame_source(frame: Any, name: str = "frame") -> Source:
    """The columns of a frame."""
    if isinstance(frame, pa.Table):
        return table_source(frame, name)
    if isinstance(frame, Mapping) or type(frame).__module__.startswith("pandas"):
        return by_column(frame, name)
    if hasattr(frame, "__arrow_c_stream__"):  # polars, Arrow record batches, duckdb, ...
        return table_source(pa.table(frame), name)
    raise DataError(
        f"got {type(frame).__name__}, expected a pandas or polars frame, an Arrow table or a "
        "mapping of columns. To repair: collect a lazy frame; read a file with read_events."
    )


def by_column(frame: Any, name: str) -> Source:
    """A source that converts one column at a time, so that an error can name the column."""
    columns = [str(column) for column in (frame.columns if hasattr(frame, "columns") else frame)]

    def read(wanted: list[str]) -> pa.Table:
        problems = Problems(name)
        arrays = {column: _array(problems, column, frame[column]) for column in wanted}
        lengths = {column: len(array) for column, array in arrays.items() if array is not None}
        for column, length in lengths.items():
            first = next(iter(lengths))
            if length != lengths[first]:
                expected = f"{lengths[first]}, as {first!r} has"
                problems.add(column, None, f"{length} rows", expected, "give one row per event")
        problems.raise_if_any()
        return pa.table(arrays)

    return Source(name, columns, read)


def _array(problems: Problems, name: str, values: Any) -> pa.Array | None:
    dimensions = np.ndim(values)
    if dimensions not in (1, 2):
        given = f"an array of shape {list(np.shape(values))}"
        repair = "reshape it to [events] or [events, features]"
        problems.add(name, None, given, "one value, or one row, per event", repair)
        return None
    if dimensions == 2:
        rows = np.asarray(values)
        flat = _array(problems, name, rows.ravel())
        return None if flat is None else pa.FixedSizeListArray.from_arrays(flat, rows.shape[1])
    if isinstance(values, np.ndarray):
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
    if getattr(values, "dtype", None) == np.dtype(object):
        values = list(values)
        aware = [getattr(value, "tzinfo", None) is not None for value in values]
        if any(hasattr(v, "tzinfo") for v in values) and any(a != aware[0] for a in aware):
            # Arrow would take the ones without a zone as UTC and say nothing.
            row = next(i for i, a in enumerate(aware) if a != aware[0])
            expected = "all times with a zone, or all without, as row 0 is"
            problems.add(name, row, str(values[row]), expected, "give every time a zone")
            return None
    try:
        return pa.array(values, from_pandas=True)
    except _NO_ARROW as error:
        if isinstance(values, np.ndarray):
            given, expected = f"type {values.dtype}", "numbers, text or times"
            problems.add(name, None, given, expected, "convert the column")
            return None
        row = _first_odd(values)
        reason = str(error).split("\n")[0]
        given = f"{values[row]!r} ({reason})"
        problems.add(name, row, given, "one type of value that fits int64", "convert the column")
        return None


def _first_odd(values: Any) -> int:
    """The first row where Arrow cannot go on."""
    values = list(values)
    good, bad = 0, len(values)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            pa.array(values[:middle], from_pandas=True)
            good = middle
        except _NO_ARROW:
            bad = middle
    return good
