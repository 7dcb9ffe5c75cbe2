"""One pass over a file of any size: its columns, checked, in files of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ctan.events._find import Columns
from ctan.events._ids import largest_id, vocabulary_of
from ctan.events._import_batch import Batches, Types, WiderTypeError, types_of
from ctan.events._nodes import Nodes
from ctan.events._problems import Problems
from ctan.events._source import Source
from ctan.events.names import NodeNames
from ctan.stored import Array, ColumnWriter, Record


@dataclass(frozen=True)
class Plan:
    """What is read of a file, and how.

    Attributes:
        source: the file.
        columns: which column plays which part.
        x_update: the columns of new node features.
        wanted: the columns to read, these among them.
        nodes: what is known of the nodes.
        sort: whether times may decrease.
        bipartite: whether sources and destinations are different nodes.
    """

    source: Source
    columns: Columns
    x_update: list[str]
    wanted: list[str]
    nodes: Nodes
    sort: bool
    bipartite: bool


@dataclass
class Written:
    """What a pass leaves.

    Attributes:
        records: of the column files.
        in_order: whether times never decrease.
        largest: the largest id on either side; destinations of a bipartite file count from 0.
        names: the vocabulary.
        unit: of the times.
        rows: how many events.
    """

    records: dict[str, Record] = field(default_factory=dict)
    in_order: bool = True
    largest: dict[str, int] = field(default_factory=lambda: {"src": -1, "dst": -1})
    names: NodeNames | None = None
    unit: str | None = None
    rows: int = 0


def read_pass(plan: Plan, types: Types, tables: Iterator[pa.Table], folder: Path) -> Written:
    """Convert, check and write each table of a file.

    Raises:
        WiderTypeError: the assumed types are too narrow: begin again with wider ones.
        DataError: all that is wrong with the file.
    """
    given = plan.nodes.names
    reading = Batches(
        plan.columns,
        plan.x_update,
        types,
        text=plan.source.text,
        bipartite=plan.bipartite,
        names=given,
    )
    done, last = Written(unit=types.unit), None
    found = Problems(plan.source.name, plan.source.row_name)
    with _writers(folder) as append:
        for table in tables:
            if not table.num_rows:
                continue
            if not done.rows and not plan.source.text:
                _check_types(types, table.schema, plan.columns)
            problems = Problems("", lambda row, base=done.rows: found.row_name(base + row))  # type: ignore[misc]
            arrays = reading.arrays(table, problems, in_order=not plan.sort)
            t = arrays["t"]
            if t is not None:
                _check_boundary(problems, plan, t[0], last)
                done.in_order &= bool(np.all(t[1:] >= t[:-1])) and (last is None or t[0] >= last)
                last = t[-1]
            _add(found, problems)
            done.rows += table.num_rows
            if found.found:
                continue  # nothing more is written, but all that is wrong is found
            done.unit = arrays["t_unit"]
            for name, column in arrays.items():
                if isinstance(column, np.ndarray):
                    append(name, column, found)
            for name in ("src", "dst"):
                done.largest[name] = max(done.largest[name], int(arrays[name].max()))
        _check_whole(found, plan, done, named=types.named)
        done.records = append.close()
    if types.named:
        done.names = given or _vocabulary(reading, plan)
    elif given is not None and not plan.source.text:
        done.names = given
    return done


def _vocabulary(reading: Batches, plan: Plan) -> NodeNames:
    sources, destinations = reading.vocabularies
    middle = len(sources) if plan.bipartite else None
    return vocabulary_of(plan.source.name, [*sources, *destinations], middle)


def _check_types(types: Types, schema: pa.Schema, columns: Columns) -> None:
    settled = types_of(schema, columns, types)
    if settled != types:
        raise WiderTypeError(settled)


def _check_boundary(problems: Problems, plan: Plan, t: Any, last: Any) -> None:
    """Times must not decrease from one table to the next either."""
    if last is not None and t < last and not plan.sort:
        problems.add(
            plan.columns.t,
            0,
            f"{t} after {last}",
            "times that never decrease",
            "sort=True (--sort) sorts events by time, stably",
        )


def _check_whole(problems: Problems, plan: Plan, done: Written, named: bool) -> None:
    """What only the whole file can tell."""
    if not done.rows:
        given = ("no events, only column names", "at least one row", "add events")
        problems.add(plan.columns.src, None, *given)
    for name, largest in done.largest.items():
        if not named and largest > largest_id(done.rows):
            expected = f"ids numbered from 0 without large gaps ({done.rows:,} events)"
            repair = "relabel=True (--relabel) takes them as names"
            problems.add(getattr(plan.columns, name), None, str(largest), expected, repair)
    problems.raise_if_any()


def _add(known: Problems, found: Problems) -> None:
    """Add problems of columns that had none so far: a long file may repeat one a million times."""
    columns = {_column_of(line) for line in known.found}
    known.found += [line for line in found.found if _column_of(line) not in columns]


def _column_of(line: str) -> str:
    return re.split(r", row|: got", line)[0]


class _Append:
    """Column files by name, made when their first rows come."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.writers: dict[str, ColumnWriter] = {}

    def __call__(self, name: str, column: Array, problems: Problems) -> None:
        width = column.shape[1] if column.ndim == 2 else None
        if name not in self.writers:
            self.writers[name] = ColumnWriter(self.folder / f"{name}.npy", column.dtype, width)
        writer = self.writers[name]
        if writer.width != width:
            given, expected = f"{width} values", f"{writer.width}, as in row 0"
            problems.add(name, writer.rows, given, expected, "pad or drop the row")
        else:
            writer.append(column)

    def close(self) -> dict[str, Record]:
        return {name: writer.close() for name, writer in self.writers.items()}


@contextmanager
def _writers(folder: Path) -> Iterator[_Append]:
    append = _Append(folder)
    try:
        yield append
    finally:
        for writer in append.writers.values():
            writer.abandon()
