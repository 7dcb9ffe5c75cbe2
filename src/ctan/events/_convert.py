"""Arrow columns of any type as the arrays a stream is made of, each problem at its row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ctan.events._problems import Problems
from ctan.events.kinds import EventKind

Array = npt.NDArray[Any]


def whole_column(table: pa.Table, name: str) -> pa.Array:
    """A column in one piece; dictionary and large or view strings become plain strings."""
    column = table.column(name).combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # an older Arrow keeps one chunk of an empty column
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if str(column.type) in ("large_string", "string_view"):
        column = column.cast(pa.string())
    return column


def first_bad_row(column: pa.Array, target: pa.DataType) -> int | None:
    """The first row that cannot be cast, by bisection; None if all can."""
    if cast(column, target) is not None:
        return None
    good, bad = 0, len(column)  # rows before `good` cast; one of good..bad does not
    while bad - good > 1:
        middle = (good + bad) // 2
        if cast(column[good:middle], target) is not None:
            good = middle
        else:
            bad = middle
    return good


def cast(column: pa.Array, target: pa.DataType) -> pa.Array | None:
    """The column in another type, if all of it can be."""
    try:
        return column.cast(target)
    except pa.ArrowInvalid:
        return None


def no_value(problems: Problems, name: str, column: pa.Array) -> bool:
    """Whether a row has no value (null, or an empty cell of text), with a problem if so."""
    empty = column.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_string(column.type):
        empty = empty | pc.equal(pc.binary_length(column), 0).fill_null(True).to_numpy(
            zero_copy_only=False
        )
    return problems.add_rows(
        name, empty, lambda row: "no value", "a value in every row", "fill it in, or drop the row"
    )


def numbers(problems: Problems, name: str, column: pa.Array) -> Array | None:
    """A column without gaps as numbers: text becomes int64 if all of it is whole, else float64."""
    if not pa.types.is_string(column.type):
        if not is_number(column.type):
            problems.add(name, None, f"type {column.type}", "numbers", "convert the column")
            return None
        return np.asarray(column.to_numpy(zero_copy_only=False))
    column = pc.utf8_trim_whitespace(column)
    whole_numbers = cast(column, pa.int64())
    if whole_numbers is not None:
        return np.asarray(whole_numbers.to_numpy())
    floats = cast(column, pa.float64())
    if floats is None:
        row = first_bad_row(column, pa.float64())
        given = repr(column[row].as_py())
        problems.add(name, row, given, "a number", "correct the cell, or drop the row")
        return None
    values = np.asarray(floats.to_numpy())
    if not np.any(np.abs(values) >= 2.0**53):
        return values
    whole = pc.match_substring_regex(column, r"^[+-]?\d+$").to_numpy(zero_copy_only=False)
    if problems.add_rows(
        name,
        whole & (np.abs(values) >= 2.0**63),
        lambda row: column[row].as_py(),
        "integers within int64 (at most 9223372036854775807)",
        "use a coarser unit or a later origin; long ids are names: relabel=True (--relabel)",
    ) or problems.add_rows(
        name,
        whole & (np.abs(values) >= 2.0**53),
        lambda row: column[row].as_py(),
        "integers that float64 holds exactly, in a column with fractions",
        "write all of the column as integers, in a finer unit",
    ):
        return None
    return values


def is_number(kind: pa.DataType) -> bool:
    t = pa.types
    return bool(t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind))


def features(problems: Problems, table: pa.Table, names: list[str]) -> Array | None:
    """Columns of numbers, or of lists of numbers, side by side as float32 `[E, d]`."""
    parts = [_feature(problems, name, whole_column(table, name)) for name in names]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts) or not found:
        return None
    if len(found) == 1:
        return found[0]
    out = np.empty((table.num_rows, sum(part.shape[1] for part in found)), dtype=np.float32)
    np.concatenate(found, axis=1, out=out)
    return out


def _feature(problems: Problems, name: str, column: pa.Array) -> Array | None:
    if no_value(problems, name, column):
        return None
    kind = column.type
    width = 1
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
        width = int(lengths[0]) if len(lengths) else 0
        if problems.add_rows(
            name,
            lengths != width,
            lambda row: f"{lengths[row]} values",
            f"{width} in every row, as in row 0",
            "pad or drop the row",
        ):
            return None
        if not width:
            problems.add(name, 0, "an empty list", "at least one number", "leave the column out")
            return None
        column = column.flatten()
        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False))) // width
            problems.add(name, row, "a list with no value inside", "numbers", "fill it in")
            return None
    given = numbers(problems, name, column)
    if given is None:
        return None
    with np.errstate(over="ignore"):  # beyond float32 is infinite, and reported here
        values = given.astype(np.float32).reshape(-1, width)
    wrong = problems.add_rows(
        name,
        np.asarray(~np.isfinite(values).all(axis=1)),
        lambda row: str(given.reshape(-1, width)[row].squeeze()),
        "finite values within float32",
        "fill it in, or drop the row",
    )
    return None if wrong else values


def labels(problems: Problems, name: str, column: pa.Array, targets: bool = False) -> Array | None:
    """Labels: int64 with -1 for none, or float64 with NaN for none if any has a fraction or sign.

    Whole numbers below -1 can be no classes: such a column holds `targets`.
    """
    if pa.types.is_string(column.type):
        text = pc.utf8_trim_whitespace(column)
        column = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if missing.any():
        zero = {pa.string(): "0", pa.bool_(): False}.get(column.type, 0)
        column = column.fill_null(pa.scalar(zero, column.type))
    values = numbers(problems, name, column)
    if values is None:
        return None
    as_float = targets or values.dtype.kind == "f" or (len(values) > 0 and values.min() < -1)
    if missing.any() or as_float:
        values = values.astype(np.float64 if as_float else np.int64)
        values[missing] = np.nan if as_float else -1
    return values


def kinds(problems: Problems, name: str, column: pa.Array) -> Array | None:
    """Kinds of event, as the numbers or the names (in any case) of `EventKind`."""
    if no_value(problems, name, column):
        return None
    if not pa.types.is_string(column.type) or cast(column, pa.int64()) is not None:
        return numbers(problems, name, column)
    known = [kind.name.lower() for kind in EventKind]
    found = pc.index_in(pc.utf8_lower(column), value_set=pa.array(known))
    unknown = found.is_null().to_numpy(zero_copy_only=False)
    if problems.add_rows(
        name,
        unknown,
        lambda row: repr(column[row].as_py()),
        f"one of {', '.join(known)}",
        "use one of these",
    ):
        return None
    return np.asarray(found.to_numpy())
