"""From the columns of a pass to those of a store: numbered, sorted, checked as a whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ctan.errors import DataError
from ctan.events._external_sort import stable_order
from ctan.events._import_pass import Plan, Written
from ctan.events.kinds import EventKind
from ctan.events.store import finish_store
from ctan.stored import CHUNK, Array, ColumnWriter, Record, write_column

#: Told what is being done, how much of it is done, and how much there is.
Watch = Callable[[str, int, int], None]


def finish(plan: Plan, done: Written, raw: Path, folder: Path, watch: Watch) -> None:
    """Make the store in `folder` of the columns in `raw`."""
    # Destinations of a bipartite file were numbered from 0, as the sources.
    apart = plan.bipartite and plan.nodes.names is None
    shift = done.largest["src"] + 1 if apart else 0
    columns = {name: np.load(raw / r["file"], mmap_mode="r") for name, r in done.records.items()}
    order = None
    if not done.in_order:
        watch("sorting", 0, done.rows)
        order = stable_order(columns["t"], raw)
    records = dict(done.records)
    for name, column in columns.items():
        target = folder / f"{name}.npy"
        added = shift if name == "dst" else 0
        if order is None and not added:
            (raw / done.records[name]["file"]).rename(target)
            continue
        rows_of = _rows_of_updates(columns["kind"]) if name == "x_update" else None
        records[name] = _rewrite(target, column, order, rows_of, added, done.rows)
        watch(f"writing {name}", done.rows, done.rows)
    if plan.nodes.x is not None:
        records["x"] = write_column(folder / "x.npy", plan.nodes.x)
    num_nodes = _num_nodes(plan, done, max(done.largest["src"], done.largest["dst"] + shift))
    if "graph" in records:
        _check_graphs(plan, folder, num_nodes)
    finish_store(folder, records, num_nodes, done.names, done.unit)


def _rows_of_updates(kind: Array) -> Callable[[Array], Array]:
    """From positions of events to rows of `x_update`, which has rows for NODE events alone."""
    places = np.flatnonzero(kind == EventKind.NODE)
    return lambda events: np.searchsorted(places, events[kind[events] == EventKind.NODE])


def _rewrite(
    target: Path,
    column: Array,
    order: Array | None,
    rows_of: Callable[[Array], Array] | None,
    added: int,
    count: int,
) -> Record:
    writer = ColumnWriter(target, column.dtype, column.shape[1] if column.ndim == 2 else None)
    for start in range(0, count, CHUNK):
        events: Any = slice(start, start + CHUNK) if order is None else order[start:][:CHUNK]
        rows = column[events if rows_of is None else rows_of(events)]
        writer.append(rows + added if added else rows)
    return writer.close()


def _num_nodes(plan: Plan, done: Written, largest: int) -> int:
    stated = {
        "the names": None if done.names is None else len(done.names),
        "the table of nodes": plan.nodes.count,
    }
    for what, count in stated.items():
        if count is not None and count <= largest:
            raise DataError(
                f"{plan.source.name}: node {largest}, but {what} end at {count - 1}. To repair: "
                "add the missing rows, or number nodes from 0."
            )
    return max(largest + 1, *(count or 0 for count in stated.values()))


def _check_graphs(plan: Plan, folder: Path, num_nodes: int) -> None:
    """Graphs are disjoint: a node belongs to one of them."""
    names = ("src", "dst", "graph")
    columns = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in names}
    owner = np.full(num_nodes, -1, np.int64)
    for start in range(0, len(columns["src"]), CHUNK):
        graph = columns["graph"][start : start + CHUNK]
        for name in ("src", "dst"):
            ids = columns[name][start : start + CHUNK]
            new = owner[ids] < 0
            owner[ids[new]] = graph[new]
            wrong = np.flatnonzero(owner[ids] != graph)
            if len(wrong):
                row = int(wrong[0])
                raise DataError(
                    f"{plan.source.name}: column {plan.columns.graph!r}, event {start + row}: got "
                    f"graph {graph[row]} for {name} {ids[row]}, seen in graph {owner[ids[row]]}, "
                    "expected every node in one graph. To repair: number the nodes of different "
                    "graphs apart."
                )
