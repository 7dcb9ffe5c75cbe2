"""The numbers of the paper, as data."""

from __future__ import annotations

import json
from importlib.resources import files

from ctan.errors import unknown_name
from ctan.report.tables import Cell, Table


def paper_table(name: str = "t-pathgraph") -> Table:
    """A table of the paper (arXiv 2406.02740), in percent.

    Args:
        name: of the table: ``t-pathgraph``, ``link`` or ``tgb``.

    Example:
        >>> table = paper_table("t-pathgraph")
        >>> str(table["CTAN", "20"]), table.columns[:3]
        ('88.93 ± 12.06', ['3', '5', '7'])
    """
    tables = json.loads((files("ctan.report") / "paper.json").read_text())
    if name not in tables:
        raise unknown_name("table of the paper", name, tables)
    found = tables[name]
    cells = {
        (row, column): Cell(value["mean"], value["std"])
        for row, values in found["rows"].items()
        for column, value in values.items()
        if value is not None
    }
    return Table(list(found["rows"]), [str(c) for c in found["columns"]], cells, found["metric"])
