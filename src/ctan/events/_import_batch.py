"""One table of a long file as checked arrays, under what earlier tables have settled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ctan.events._convert import (
    features,
    kinds,
    labels,
    no_value,
    numbers,
    whole_column,
)
from ctan.events._find import Columns
from ctan.events._ids import by_first_appearance, is_numeric, node_ids
from ctan.events._problems import Problems
from ctan.events._times import as_written, format_of, times
from ctan.events._validate import validate
from ctan.events.kinds import EventKind
from ctan.events.names import NodeNames
from ctan.stored import Array

_EXACT = 2**53


@dataclass(frozen=True)
class Types:
    """What the rows so far have shown about columns as wholes. Types only ever widen.

    Attributes:
        named: nodes have names, or numbers that count as names.
        fractions: some time has a fraction, so all are float64.
        unit: the unit of times, where it is known.
        targets: some label has a fraction or is below -1, so all are float64.
    """

    named: bool = False
    fractions: bool = False
    unit: str | None = None
    targets: bool = False


class WiderTypeError(Exception):
    """A row does not fit the types assumed: the file is to be read again under wider ones."""

    def __init__(self, types: Types) -> None:
        super().__init__(types)
        self.types = types


class Batches:
    """Turns the tables of one file, in order, into arrays.

    Args:
        columns: which column plays which part.
        x_update: the columns of new node features.
        types: what is assumed.
        text: whether all cells are text.
        bipartite: whether sources and destinations are named apart.
        names: the vocabulary, where a table of nodes gives it.
    """

    def __init__(
        self,
        columns: Columns,
        x_update: list[str],
        types: Types,
        *,
        text: bool,
        bipartite: bool,
        names: NodeNames | None,
    ) -> None:
        self.columns, self.x_update, self.types = columns, x_update, types
        self.text, self.bipartite, self.given = text, bipartite, names
        self.vocabularies: tuple[dict[str, int], dict[str, int]] = ({}, {})
        self._format: str | None = None

    def arrays(self, table: pa.Table, problems: Problems, in_order: bool) -> dict[str, Any]:
        """The columns of a stream, as far as this table goes.

        Destinations of a bipartite file count from 0. `in_order`: whether times must not decrease.
        """
        asked = self.columns
        src, dst = self._ids(problems, table)
        t, unit = self._times(problems, table)
        found: dict[str, Any] = {
            "src": src,
            "dst": dst,
            "t": t,
            "msg": features(problems, table, list(asked.msg)) if asked.msg else None,
            "y": self._labels(problems, table) if asked.y else None,
            "graph": self._numbers(problems, table, asked.graph),
            "kind": kinds(problems, asked.kind, whole_column(table, asked.kind))
            if asked.kind
            else None,
            "x_update": None,
            "t_unit": unit,
        }
        if self.x_update and found["kind"] is not None:
            rows = np.flatnonzero(np.asarray(found["kind"]) == EventKind.NODE)
            if len(rows):
                given = Problems("", lambda row: problems.row_name(int(rows[row])))
                found["x_update"] = features(
                    given, table.select(self.x_update).take(rows), self.x_update
                )
                problems.found += given.found
            else:
                found["x_update"] = np.empty((0, len(self.x_update)), np.float32)
        called = {part: getattr(asked, part) for part in ("src", "dst", "t", "y", "graph", "kind")}
        problems.time_cell = as_written(whole_column(table, asked.t))
        graph = found.pop("graph")  # ids are compared across the whole file later
        checked = validate(found, problems.named(called), sorted_later=not in_order)
        if graph is not None:
            checked["graph"] = validate({**found, "graph": graph}, problems, True)["graph"]
        return checked

    def _ids(self, problems: Problems, table: pa.Table) -> tuple[Array | None, Array | None]:
        names = (self.columns.src, self.columns.dst)
        src, dst = (whole_column(table, name) for name in names)
        if self.types.named and self.given is None:
            empty = [no_value(problems, *pair) for pair in zip(names, (src, dst), strict=True)]
            if any(empty):
                return None, None
            return self._coded(src.cast(pa.string()), dst.cast(pa.string()))
        if not self.types.named and not all(is_numeric(ids, self.text) for ids in (src, dst)):
            raise WiderTypeError(replace(self.types, named=True))
        found = node_ids(
            problems,
            names,
            src,
            dst,
            text=self.text,
            bipartite=False,
            relabel=self.types.named,
            names=self.given,
        )
        return found[0], found[1]

    def _coded(self, src: pa.Array, dst: pa.Array) -> tuple[Array, Array]:
        """Ids of names in order of first appearance, new ones added to the vocabulary."""
        if not self.bipartite:
            codes, fresh = by_first_appearance(src, dst)
            known = self.vocabularies[0]
            ids = np.array([known.setdefault(name, len(known)) for name in fresh], np.int64)
            return ids[codes[0]], ids[codes[1]]
        sides = []
        for column, known in zip((src, dst), self.vocabularies, strict=True):
            encoded = column.dictionary_encode()
            fresh = encoded.dictionary.to_pylist()
            ids = np.array([known.setdefault(name, len(known)) for name in fresh], np.int64)
            sides.append(ids[encoded.indices.to_numpy()])
        return sides[0], sides[1]

    def _times(self, problems: Problems, table: pa.Table) -> tuple[Array | None, str | None]:
        name, types = self.columns.t, self.types
        column = whole_column(table, name)
        if self.text and len(column) and column[0].as_py():
            form = format_of(column[0].as_py())
            self._format = self._format or form
            if form != self._format:
                expected = f"{self._format}, as in row 0"
                repair = "write all times in one format"
                problems.add(name, 0, repr(column[0].as_py()), expected, repair)
                return None, types.unit
        t, unit = times(problems, name, column, types.unit)
        if t is None:
            return None, unit
        if unit == "ns" and types.unit is None and self._format not in (None, "numbers"):
            raise WiderTypeError(replace(types, unit="ns"))
        if t.dtype.kind == "f" and not types.fractions:
            raise WiderTypeError(replace(types, fractions=True))
        if types.fractions and t.dtype.kind != "f":
            t = _exactly_float(problems, name, t)
        return t, unit

    def _labels(self, problems: Problems, table: pa.Table) -> Array | None:
        name = self.columns.y
        assert name is not None
        y = labels(problems, name, whole_column(table, name), self.types.targets)
        if y is not None and y.dtype.kind == "f" and not self.types.targets:
            raise WiderTypeError(replace(self.types, targets=True))
        return y

    def _numbers(self, problems: Problems, table: pa.Table, name: str | None) -> Array | None:
        return None if name is None else numbers(problems, name, whole_column(table, name))


def _exactly_float(problems: Problems, name: str, t: Array) -> Array:
    problems.add_rows(
        name,
        np.abs(t) > _EXACT,
        lambda row: str(t[row]),
        "integers that float64 holds exactly, in a column with fractions",
        "write all of the column as integers, in a finer unit",
    )
    return t.astype(np.float64)


def types_of(schema: pa.Schema, columns: Columns, types: Types) -> Types:
    """The types assumed, widened by what the schema of a file says before any row is read."""
    kinds = [schema.field(name).type for name in (columns.src, columns.dst)]
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
    text = any(str(kind) in ("string", "large_string", "string_view") for kind in kinds)
    return replace(types, named=types.named or text)
