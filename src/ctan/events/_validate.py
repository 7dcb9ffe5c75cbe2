"""Every check on the columns of a stream, made once, when it is made."""

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
_PER_EVENT = ("src", "dst", "t", "msg", "y", "graph", "kind")


def validate(columns: dict[str, Any], problems: Problems, sorted_later: bool) -> dict[str, Any]:
    """Columns in their final types; what is wrong with them goes to `problems`.

    A column that is not of the right type or length is left out of the checks that follow.
    """
    for name in ("src", "dst", "t"):
        if columns[name] is None and not problems.found:
            problems.add(name, None, "None", "a column", "give one value per event")
    given = {name: columns.get(name) for name in ("src", "dst", "graph")}
    out: dict[str, Any] = {
        name: None if values is None else _integers(problems, name, values)
        for name, values in given.items()
    }
    t, unit = (None, None) if columns["t"] is None else _times(problems, columns["t"])
    out["t"] = t
    out["t_unit"] = columns.get("t_unit") or unit
    for name in ("msg", "x", "x_update"):
        values = columns.get(name)
        out[name] = None if values is None else _features(problems, name, values)
    out["y"] = None if columns.get("y") is None else _labels(problems, columns["y"])
    out["kind"] = None if columns.get("kind") is None else _kinds(problems, columns["kind"])
    out["names"] = columns.get("names")
    _check_lengths(problems, out)
    for name in ("src", "dst", "graph"):
        _check_not_negative(problems, name, out[name])
    if out["t_unit"] not in (None, *UNITS):
        problems.add("t", None, f"unit {out['t_unit']!r}", f"one of {UNITS}", "name one of these")
    if t is not None and out["t"] is not None and not sorted_later:
        _check_sorted(problems, t)
    _check_nodes(problems, out, columns.get("num_nodes"))
    _check_kinds(problems, out)
    _check_graphs(problems, out)
    return out


def sort_by_time(columns: dict[str, Any]) -> dict[str, Any]:
    """The same columns in order of time; events of one time keep their order."""
    t = columns["t"]
    if np.all(t[1:] >= t[:-1]):
        return columns
    order = np.argsort(t, kind="stable")
    moved = {name: columns[name] for name in _PER_EVENT if columns[name] is not None}
    moved = {name: values[order] for name, values in moved.items()}
    if columns["x_update"] is not None:
        is_node = columns["kind"] == EventKind.NODE
        row = np.cumsum(is_node) - 1  # of x_update, for each NODE event
        moved["x_update"] = columns["x_update"][row[order[is_node[order]]]]
    return {**columns, **moved}


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


def _integers(problems: Problems, name: str, values: Any) -> Array | None:
    """Whole numbers as int64, in whatever type they come."""
    array = _array(problems, name, values, 1)
    if array is None:
        return None
    repair = "give whole numbers" + (
        "; names are read by read_events and from_frame" if name in ("src", "dst") else ""
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


def _times(problems: Problems, values: Any) -> tuple[Array | None, str | None]:
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


def _features(problems: Problems, name: str, values: Any) -> Array | None:
    array = _array(problems, name, values, 2)
    if array is None:
        return None
    if array.dtype.kind not in "iufb":
        given = f"type {array.dtype}"
        problems.add(name, None, given, "numbers", "convert the column to numbers")
        return None
    with np.errstate(over="ignore"):  # beyond float32 is infinite, and reported below
        features = array.astype(np.float32, copy=False)
    _check_finite(problems, name, features, given=array)
    return features


def _labels(problems: Problems, values: Any) -> Array | None:
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
    labels = _integers(problems, "y", array)
    if labels is not None:
        problems.add_rows(
            "y",
            labels < -1,
            lambda row: str(array[row]),
            "classes of 0 or more, or -1 for none",
            "give targets that may be negative as float64",
        )
    return labels


def _kinds(problems: Problems, values: Any) -> Array | None:
    kinds = _integers(problems, "kind", values)
    if kinds is None:
        return None
    known = ", ".join(f"{k.value} ({k.name.lower()})" for k in EventKind)
    bad = (kinds < 0) | (kinds >= len(EventKind))
    if problems.add_rows("kind", bad, lambda row: str(kinds[row]), known, "use one of these"):
        return None
    return kinds.astype(np.uint8)


def _check_lengths(problems: Problems, out: dict[str, Any]) -> None:
    """Every column of events has as many rows as `src`; one that has not is dropped."""
    src = out["src"]
    if src is None:
        return
    if not len(src):
        problems.add("src", None, "no events", "at least one", "give some")
    for name in _PER_EVENT:
        if out[name] is not None and len(out[name]) != len(src):
            expected = f"{len(src):,}, as 'src' has"
            given = f"{len(out[name]):,} rows"
            problems.add(name, None, given, expected, "give one row per event")
            out[name] = None


def _check_not_negative(problems: Problems, name: str, ids: Array | None) -> None:
    if ids is not None:
        problems.add_rows(
            name, ids < 0, lambda row: str(ids[row]), "ids of 0 or more", "number them from 0"
        )


def _check_sorted(problems: Problems, t: Array) -> None:
    bad = np.zeros(len(t), dtype=bool)
    np.less(t[1:], t[:-1], out=bad[1:])
    problems.add_rows(
        "t",
        bad,
        lambda row: f"{t[row]} after {t[row - 1]}",
        "times that never decrease",
        "sort=True (--sort) sorts events by time, stably",
    )


def _check_nodes(problems: Problems, out: dict[str, Any], num_nodes: int | None) -> None:
    """Settle the number of nodes, and check that ids, `x` and `names` keep to it."""
    columns = {name: out[name] for name in ("src", "dst") if out[name] is not None}
    largest = max((int(ids.max()) for ids in columns.values() if len(ids)), default=-1)
    rows = {name: len(out[name]) for name in ("x", "names") if out[name] is not None}
    out["num_nodes"] = max(largest + 1, *rows.values(), 0, 0) if num_nodes is None else num_nodes
    limit = min(out["num_nodes"], *rows.values(), INT64_MAX)
    said = {"num_nodes": out["num_nodes"], **rows}
    limited_by = min(said, key=lambda name: said[name])
    for name, ids in columns.items():
        problems.add_rows(
            name,
            ids >= limit,
            lambda row, ids=ids: str(ids[row]),  # type: ignore[misc]
            f"ids below {limit:,}, the length of {limited_by!r}"
            if limited_by != "num_nodes"
            else f"ids below num_nodes, {limit:,}",
            f"add the missing rows to {limited_by!r}, or number nodes from 0"
            if limited_by != "num_nodes"
            else "raise num_nodes",
        )
    for name, count in rows.items():
        if count != out["num_nodes"] and largest < limit:
            expected = f"{out['num_nodes']:,}, one per node"
            problems.add(name, None, f"{count:,} rows", expected, "give one row per node")


def _check_kinds(problems: Problems, out: dict[str, Any]) -> None:
    kind, src, dst, update, x = (out[k] for k in ("kind", "src", "dst", "x_update", "x"))
    nodes = 0 if kind is None else int(np.count_nonzero(kind == EventKind.NODE))
    if kind is not None and src is not None and dst is not None:
        alone = (kind == EventKind.NODE) | (kind == EventKind.NODE_DELETED)
        problems.add_rows(
            "dst",
            alone & (src != dst),
            lambda row: f"{dst[row]} in an event about node {src[row]}",
            "dst equal to src in events about one node",
            "repeat src in dst",
        )
    if update is None:
        return
    if len(update) != nodes:
        given = f"{len(update):,} rows"
        expected = f"{nodes:,}, one per event of kind NODE"
        problems.add("x_update", None, given, expected, "give one row per such event")
    if x is not None and update.shape[1] != x.shape[1]:
        given, expected = f"{update.shape[1]} features", f"{x.shape[1]}, as 'x' has"
        problems.add("x_update", None, given, expected, "give as many features as 'x'")


def _check_graphs(problems: Problems, out: dict[str, Any]) -> None:
    """Graphs are disjoint: a node belongs to one of them."""
    graph, src, dst = out["graph"], out["src"], out["dst"]
    if problems.found or graph is None or src is None or dst is None:
        return
    owner = np.full(out["num_nodes"], -1, dtype=np.int64)
    owner[dst[::-1]] = graph[::-1]
    owner[src[::-1]] = graph[::-1]
    for name, ids in (("src", src), ("dst", dst)):
        problems.add_rows(
            "graph",
            owner[ids] != graph,
            lambda row, ids=ids, name=name: (  # type: ignore[misc]
                f"graph {graph[row]} for {name} {ids[row]}, seen in graph {owner[ids[row]]}"
            ),
            "every node in one graph",
            "number the nodes of different graphs apart",
        )
