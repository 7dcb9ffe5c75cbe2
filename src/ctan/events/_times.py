"""Times as they come (numbers, ISO 8601 text, timestamps) to int64 or float64 and a unit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ctan.events._convert import first_bad_row, no_value, numbers
from ctan.events._problems import Problems

_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$|^\s*[+-]?(nan|inf|NaN|Inf)\s*$"
_NAIVE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?$"
_ZONED = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)$"
_FORMATS = {"numbers": _NUMBER, "times without a zone": _NAIVE, "times with a zone": _ZONED}
_REPAIR = "write all times in one format (numbers, or ISO 8601 such as 2024-05-01T12:00:00Z)"


def times(
    problems: Problems, name: str, column: pa.Array, unit: str | None
) -> tuple[npt.NDArray[Any] | None, str | None]:
    """Times and their unit, or None and problems.

    Numbers stay as they are, in `unit` if one is named. ISO 8601 text and timestamps become
    integers since 1970-01-01 in UTC: in `unit` if named, else microseconds (text, or nanoseconds
    where a time has more than six decimals) or the column's own unit (timestamps). A time without
    a zone is taken as UTC. Nothing is rounded.
    """
    if no_value(problems, name, column):
        return None, unit
    if pa.types.is_string(column.type):
        kinds = _formats(problems, name, column)
        if kinds is None:
            return None, unit
        if kinds == "numbers":
            return numbers(problems, name, column), unit
        return _timestamps(problems, name, column, _parsed_type(column, kinds), unit)
    if pa.types.is_timestamp(column.type):
        return _timestamps(problems, name, column, column.type, unit)
    if pa.types.is_date(column.type):
        return _timestamps(problems, name, column, pa.timestamp("ms"), unit or "s")
    return numbers(problems, name, column), unit


def _formats(problems: Problems, name: str, column: pa.Array) -> str | None:
    """The one format all times share, or None and a problem at the first that differs."""
    matches = {kind: pc.match_substring_regex(column, regex) for kind, regex in _FORMATS.items()}
    first = next((kind for kind, match in matches.items() if match[0].as_py()), None)
    if first is None:
        problems.add(name, 0, repr(column[0].as_py()), "a number or an ISO 8601 time", _REPAIR)
        return None
    other = np.logical_not(matches[first].to_numpy(zero_copy_only=False))
    if problems.add_rows(
        name,
        other,
        lambda row: repr(column[row].as_py()),
        f"{first}, as in row 0 ({column[0].as_py()!r})",
        _REPAIR,
    ):
        return None
    return first


def as_written(column: pa.Array) -> Callable[[int], str] | None:
    """How a column writes the time of a row, where it does not write numbers."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return None
    return lambda row: str(column.slice(row, 1).cast(pa.string())[0])


def format_of(cell: str) -> str | None:
    """The format that a cell of text is in, if it is a time."""
    return next((kind for kind, regex in _FORMATS.items() if re.match(regex, cell)), None)


def _parsed_type(column: pa.Array, kind: str) -> pa.DataType:
    fine = pc.any(pc.match_substring_regex(column, r"\.\d{7,9}")).as_py()
    return pa.timestamp("ns" if fine else "us", "UTC" if kind == "times with a zone" else None)


def _timestamps(
    problems: Problems, name: str, column: pa.Array, parsed: pa.DataType, unit: str | None
) -> tuple[npt.NDArray[Any] | None, str | None]:
    """Text or timestamps as integers of `unit`; `parsed` is the type that holds them exactly."""
    final = pa.timestamp(unit or parsed.unit, parsed.tz)
    steps = [(parsed, "a time that exists, within int64", "correct the time")]
    if final != parsed:
        repair = f"use unit={parsed.unit!r}"
        steps.append((final, f"whole times in {final.unit!r}, within int64", repair))
    for target, expected, repair in steps:
        row = first_bad_row(column, target)
        if row is not None:
            problems.add(name, row, repr(str(column[row].as_py())), expected, repair)
            return None, unit
        column = column.cast(target)
    return column.cast(pa.int64()).to_numpy(), final.unit
