"""One column of unknown quality as an array of its final type, or None and a problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ctan.events._problems import Problems
from ctan.events.kinds import EventKind

Array = npt.NDArray[Any]
UNITS = ("s", "ms", "us", "ns")
INT64_MAX = int(np.iinfo(np.int64).max)
_EXACT = 2.0**53  # up to here, float64 holds every integer


def _array(problems: Problems, name: str, values: Any, ndim: int) -> Array | None:
    """`values` as an array of `ndim` dimensions, or None and a problem."""
    try:
        array = np.asarray(values)
    except ValueError:  # numpy refuses rows of different lengths
        lengths = np.array([np.size(row) for row in values])
        problems.add_rows(
            name,
            lengths != lengths[0],
            lambda row: f"{lengths[row]} values",
            f"{lengths[0]} in every row, as in row 0",
            "pad or drop the row",
        )
        return None
    if array.ndim != ndim:
        expected = f"{ndim} dimension{'s' if ndim > 1 else ''}"
        hint = "reshape it" + (" to [rows, features]" if ndim == 2 else " to [events]")
        problems.add(name, None, f"an array of shape {list(array.shape)}", expected, hint)
        return None
    # numpy turns a list of integers of which one is beyond int64 into floats, and rounds them
    rounded = array.dtype.kind == "f" and not hasattr(values, "dtype") and ndim == 1
    if rounded and np.any(np.abs(array) >= _EXACT):
        array = np.array(list(values), dtype=object)
    if array.dtype.kind == "O":
        return _from_objects(problems, name, array)
    return array


def _from_objects(problems: Problems, name: str, array: Array) -> Array | None:
    """An array of Python objects as numbers, if they are numbers."""
    flat = array.ravel()
    is_number = np.array([isinstance(v, int | float | np.number) for v in flat], dtype=bool)
    if problems.add_rows(
        name, ~is_number, lambda row: repr(flat[row]), "numbers", "convert the column to numbers"
    ):
        return None
    is_int = [isinstance(v, int | np.integer) for v in flat]
    largest = INT64_MAX if all(is_int) else int(_EXACT)  # what the column can hold exactly
    beyond = np.array(
        [i and abs(v) > largest for i, v in zip(is_int, flat, strict=True)], dtype=bool
    )
    if _beyond_int64(problems, name, beyond, flat, largest):
        return None
    return array.astype(np.int64 if all(is_int) else np.float64)


def _beyond_int64(
    problems: Problems, name: str, bad: Array, values: Array, largest: int = INT64_MAX
) -> bool:
    kept = "int64" if largest == INT64_MAX else "float64, as the column has fractions"
    return problems.add_rows(
        name,
        bad,
        lambda row: str(values[row]),
        f"integers that fit {kept} (at most {largest})",
        "use a coarser unit, or count from a later origin" if name == "t" else "number them anew",
    )


def integers(problems: Problems, name: str, values: Any) -> Array | None:
    """Whole numbers as int64, in whatever type they come."""
    array = _array(problems, name, values, 1)
    if array is None:
        return None
    repair = "give whole numbers" + (
        "; as names they are taken by read_events and from_frame: relabel=True (--relabel)"
        if name in ("src", "dst")
        else ""
    )
    if array.dtype.kind == "u" and _beyond_int64(problems, name, array > INT64_MAX, array):
        return None
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        whole = (array == np.rint(array)) & (np.abs(array) <= _EXACT)
        if problems.add_rows(name, ~whole, lambda row: str(array[row]), "whole numbers", repair):
            return None
    elif array.dtype.kind not in "iu":
        problems.add(name, None, f"type {array.dtype}", "whole numbers", repair)
        return None
    return array.astype(np.int64, copy=False)


def times(problems: Problems, values: Any) -> tuple[Array | None, str | None]:
    """Times as int64 or float64, never narrowed, and their unit where the type says it."""
    array = _array(problems, "t", values, 1)
    if array is None:
        return None, None
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "M":
        return _from_datetimes(problems, array)
    if kind == "u" and _beyond_int64(problems, "t", array > INT64_MAX, array):
        return None, None
    if kind in "iu":
        return array.astype(np.int64, copy=False), None
    if kind == "f" and size <= 8:
        _check_finite(problems, "t", array)
        return array.astype(np.float64, copy=False), None
    given, expected = f"type {array.dtype}", "int64, float64 or datetime64"
    problems.add("t", None, given, expected, "convert it; text is read by read_events")
    return None, None


def _from_datetimes(problems: Problems, array: Array) -> tuple[Array | None, str | None]:
    if problems.add_rows(
        "t", np.isnat(array), lambda row: "NaT (no time)", "a time in every row", "drop the row"
    ):
        return None, None
    unit, count = np.datetime_data(array.dtype)
    if unit not in UNITS or count != 1:
        finer = array.astype("datetime64[s]")
        if not np.array_equal(finer.astype(array.dtype), array, equal_nan=True):
            problems.add("t", None, f"type {array.dtype}", f"a unit of {UNITS}", "convert it")
        array, unit = finer, "s"
    return array.astype(np.int64), unit


def _check_finite(problems: Problems, name: str, array: Array, given: Array | None = None) -> None:
    """Note the first row that is not finite, as it was `given` before any conversion."""
    bad: npt.NDArray[np.bool_] = np.asarray(np.isfinite(array))
    np.logical_not(bad, out=bad)
    shown = array if given is None else given

    def say(row: int) -> str:
        if bad.ndim == 1:
            return str(shown[row])
        feature = int(np.argmax(bad[row]))
        return f"{shown[row, feature]} (feature {feature})"

    expected = "finite values within " + ("float64" if name == "t" else "float32")
    by_row = bad if bad.ndim == 1 else np.asarray(bad.any(axis=1))
    problems.add_rows(name, by_row, say, expected, "drop the row, or fill it in")


def features(problems: Problems, name: str, values: Any) -> Array | None:
    array = _array(problems, name, values, 2)
    if array is None:
        return None
    if array.dtype.kind not in "iufb":
        given = f"type {array.dtype}"
        problems.add(name, None, given, "numbers", "convert the column to numbers")
        return None
    with np.errstate(over="ignore"):  # beyond float32 is infinite, and reported below
        narrowed = array.astype(np.float32, copy=False)
    _check_finite(problems, name, narrowed, given=array)
    return narrowed


def labels(problems: Problems, values: Any) -> Array | None:
    array = _array(problems, "y", values, 1)
    if array is None:
        return None
    if array.dtype.kind == "f":
        problems.add_rows(
            "y",
            np.isinf(array),
            lambda row: str(array[row]),
            "finite targets, or NaN for none",
            "replace it",
        )
        return array.astype(np.float64, copy=False)
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    classes = integers(problems, "y", array)
    if classes is not None:
        problems.add_rows(
            "y",
            classes < -1,
            lambda row: str(array[row]),
            "classes of 0 or more, or -1 for none",
            "give targets that may be negative as float64",
        )
    return classes


def kinds(problems: Problems, values: Any) -> Array | None:
    found = integers(problems, "kind", values)
    if found is None:
        return None
    known = ", ".join(f"{k.value} ({k.name.lower()})" for k in EventKind)
    bad = (found < 0) | (found >= len(EventKind))
    if problems.add_rows("kind", bad, lambda row: str(found[row]), known, "use one of these"):
        return None
    return found.astype(np.uint8)
