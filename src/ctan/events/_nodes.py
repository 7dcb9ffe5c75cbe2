"""The table of nodes beside a file of events: names and features, one row per node."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ctan.errors import DataError
from ctan.events._convert import features, no_value, numbers, whole_column
from ctan.events._files import open_file
from ctan.events._ids import vocabulary_of
from ctan.events._problems import Problems
from ctan.events._source import Source
from ctan.events.names import NodeNames


@dataclass(frozen=True)
class Nodes:
    """What is known of the nodes before the events are read; None where nothing is."""

    names: NodeNames | None = None
    x: npt.NDArray[np.float32] | None = None
    count: int | None = None
    x_update: npt.NDArray[np.float32] | None = None


def path_of_nodes(path: Path) -> Path:
    """Where the table of nodes of a file of events is: `events.nodes.csv` for `events.csv`."""
    return path.with_name(f"{path.stem}.nodes{path.suffix}")


def nodes_beside(path: Path) -> Nodes | None:
    """The table of nodes beside a file of events, if it is there."""
    beside = path_of_nodes(path)
    return read_nodes(beside) if beside.is_file() else None


def read_nodes(given: Path | Source) -> Nodes:
    """Names, sides and features of nodes, from columns `node`, `name`, `side`, `x0`, `x1`, ..."""
    source = open_file(given) if isinstance(given, Path) else given
    x_columns = sorted(
        (name for name in source.columns if name[:1] == "x" and name[1:].isdigit()),
        key=lambda name: int(name[1:]),
    )
    known = [name for name in ("node", "name", "side") if name in source.columns]
    problems = Problems(source.name, source.row_name)
    if not known and not x_columns:
        given_columns = f"columns {', '.join(source.columns)}"
        problems.add("name", None, given_columns, "'node', 'name' or 'x0', ...", "rename them")
        problems.raise_if_any()
    table = source.read([*known, *x_columns])
    if "node" in known:
        ids = numbers(problems, "node", whole_column(table, "node"))
        if ids is not None:
            problems.add_rows(
                "node",
                np.asarray(ids != np.arange(len(ids))),
                lambda row: str(ids[row]),
                "0, 1, 2, ... in this order",
                "sort the rows by node, and add the missing ones",
            )
    names = _names(problems, table) if "name" in known else None
    x = features(problems, table, x_columns) if x_columns else None
    problems.raise_if_any()
    return Nodes(names, x, table.num_rows)


def _names(problems: Problems, table: Any) -> NodeNames | None:
    column = whole_column(table, "name")
    if no_value(problems, "name", column):
        return None
    num_sources = None
    if "side" in table.column_names:
        side = np.array(whole_column(table, "side").to_pylist())
        num_sources = int(np.count_nonzero(side == "src"))
        expected = np.where(np.arange(len(side)) < num_sources, "src", "dst")
        problems.add_rows(
            "side",
            np.asarray(side != expected),
            lambda row: repr(str(side[row])),
            "'src' in the first rows, then 'dst'",
            "sort the rows, sources first",
        )
    names = [str(name) for name in column.to_pylist()]
    return vocabulary_of(problems.source, names, num_sources)


def nodes_from_extras(source: Source) -> Nodes | None:
    """What an NPZ file says of its nodes."""
    extras = source.extras
    if not extras:
        return None
    names = None
    if "names" in extras:
        given = [str(name) for name in np.ravel(extras["names"]).tolist()]
        names = vocabulary_of(source.name, given, _count(source, "num_sources"))
    return Nodes(names, extras.get("x"), _count(source, "num_nodes"), extras.get("x_update"))


def _count(source: Source, name: str) -> int | None:
    """A number of nodes in an NPZ file."""
    given = source.extras.get(name)
    if given is None:
        return None
    if given.dtype.kind not in "iu":
        raise DataError(
            f"{source.name}: column {name!r}: got {given.item()!r}, expected a whole number. "
            "To repair: save one number under this name, or leave it out."
        )
    return int(given)
