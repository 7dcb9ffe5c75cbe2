"""Every check on the columns of a stream, made once, when it is made."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ctan.events._columns import INT64_MAX, UNITS, features, integers, kinds, labels, times
from ctan.events._problems import Problems
from ctan.events.kinds import EventKind

Array = npt.NDArray[Any]
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
        name: None if values is None else integers(problems, name, values)
        for name, values in given.items()
    }
    t, unit = (None, None) if columns["t"] is None else times(problems, columns["t"])
    out["t"] = t
    out["t_unit"] = columns.get("t_unit") or unit
    for name in ("msg", "x", "x_update"):
        values = columns.get(name)
        out[name] = None if values is None else features(problems, name, values)
    out["y"] = None if columns.get("y") is None else labels(problems, columns["y"])
    out["kind"] = None if columns.get("kind") is None else kinds(problems, columns["kind"])
    out["names"] = columns.get("names")
    _check_lengths(problems, out)
    for name in ("src", "dst", "graph"):
        _check_not_negative(problems, name, out[name])
    if out["t_unit"] not in (None, *UNITS):
        problems.add("t", None, f"unit {out['t_unit']!r}", f"one of {UNITS}", "name one of these")
    if t is not None and out["t"] is not None and not sorted_later:
        _check_sorted(problems, t)
    if t is not None and len(t):
        _check_span(problems, t)
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
    cell = problems.time_cell or (lambda row: str(t[row]))
    bad = np.zeros(len(t), dtype=bool)
    np.less(t[1:], t[:-1], out=bad[1:])
    problems.add_rows(
        "t",
        bad,
        lambda row: f"{cell(row)} after {cell(row - 1)}",
        "times that never decrease",
        "sort=True (--sort) sorts events by time, stably",
    )


def _check_span(problems: Problems, t: Array) -> None:
    """Times are subtracted everywhere: the longest difference has to fit their type."""
    low, high = t.min().item(), t.max().item()
    finite = math.isfinite(low) and math.isfinite(high)
    if finite and (high - low > INT64_MAX if t.dtype.kind == "i" else math.isinf(high - low)):
        problems.add(
            "t",
            None,
            f"times from {low} to {high}",
            f"times whose differences fit {t.dtype}",
            "use a coarser unit, or drop the rows that are far out",
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
