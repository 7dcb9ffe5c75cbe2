"""Files of any size into a store, in bounded memory."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from os import PathLike
from pathlib import Path

from ctan.errors import DataError, unknown_name
from ctan.events._batches import batches
from ctan.events._columns import UNITS
from ctan.events._files import format_of_file, open_file
from ctan.events._find import Columns, find_columns, numbered, wanted_of
from ctan.events._import_batch import Types, WiderTypeError
from ctan.events._import_finish import Watch, finish
from ctan.events._import_pass import Plan, read_pass
from ctan.events._nodes import Nodes, nodes_beside, read_nodes
from ctan.events._problems import Problems
from ctan.events.read import read_events
from ctan.events.store import is_store, write_store
from ctan.stored import new_folder


def import_events(
    path: str | PathLike[str],
    store: str | PathLike[str],
    *,
    src: str = "src",
    dst: str = "dst",
    t: str = "t",
    y: str | None = None,
    msg: Sequence[str] | None = None,
    graph: str | None = None,
    kind: str | None = None,
    unit: str | None = None,
    sort: bool = False,
    bipartite: bool = False,
    relabel: bool = False,
    nodes: str | PathLike[str] | None = None,
    watch: Watch | None = None,
) -> Path:
    r"""Make a store of a CSV, Parquet or Arrow file of any size; `read_events(store)` opens it.

    All options are those of `read_events`, and so is the result. The file is read in pieces, so
    memory does not grow with the number of events; it grows with the number of nodes where these
    have names or features. `sort` sorts on disk.

    Args:
        path: the file. NPZ files are taken too, but are loaded.
        store: the folder to make.
        src: column of sources.
        dst: column of destinations.
        t: column of times.
        y: column of labels.
        msg: columns of event features.
        graph: column of graph ids.
        kind: column of kinds.
        unit: what numeric times count.
        sort: sort by time, stably.
        bipartite: sources and destinations are different nodes.
        relabel: take whole numbers as names.
        nodes: the table of nodes.
        watch: told of progress.

    Raises:
        DataError: everything that is wrong with the file; nothing is left behind.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "calls.csv").write_text("src,dst,t\nada,bob,3\nbob,eve,7\n")
        >>> read_events(import_events(folder / "calls.csv", folder / "calls")).names
        NodeNames(3: 'ada', 'bob', 'eve')
    """
    path, store = Path(path), Path(store)
    if unit is not None and unit not in UNITS:
        raise unknown_name("unit of time", unit, UNITS)
    asked = Columns(src, dst, t, y, msg, graph, kind)
    if is_store(path):
        raise DataError(
            f"{path}: is a store already, expected a file. To repair: use it as it is, wherever a "
            "file of events can be named."
        )
    if format_of_file(path) == "NPZ":
        options = {**vars(asked), "unit": unit, "sort": sort, "bipartite": bipartite}
        return write_store(read_events(path, **options, relabel=relabel, nodes=nodes), store)
    source = open_file(path)
    problems = Problems(source.name, source.row_name)
    columns = find_columns(problems, source, asked)
    problems.raise_if_any()
    table = read_nodes(Path(nodes)) if nodes is not None else nodes_beside(path) or Nodes()
    updates = numbered(source.columns, "x") if columns.kind else []
    wanted = wanted_of(source, columns, updates)
    plan = Plan(source, columns, updates, wanted, table, sort, bipartite)
    types = Types(
        named=relabel or (table.names is not None and source.text),
        unit=unit or source.units.get(columns.t),
    )
    with new_folder(store) as part:
        _import(path, plan, types, part, watch or (lambda what, done, total: None))
    return store


def _import(path: Path, plan: Plan, types: Types, folder: Path, watch: Watch) -> None:
    """Read until the assumed types hold for every row, then finish the columns."""
    raw, what = folder / "raw", "reading"
    while True:
        shutil.rmtree(raw, ignore_errors=True)
        raw.mkdir()
        progress = partial(watch, what)
        try:
            done = read_pass(plan, types, batches(path, plan.source, plan.wanted, progress), raw)
            break
        except WiderTypeError as error:
            types, what = error.types, "reading again with wider types"
    finish(plan, done, raw, folder, watch)
    shutil.rmtree(raw)
