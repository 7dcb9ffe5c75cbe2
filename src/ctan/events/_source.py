"""Something with named columns, whatever it was read from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ctan.errors import DataError


@dataclass
class Source:
    """Something with named columns: a file, or a frame in memory.

    `read` gives the columns asked for. In `text` columns (CSV) all values are strings, and the rows
    begin after `header_lines` lines. `extras` holds what belongs to no event, such as node features
    in an NPZ file.
    """

    name: str
    columns: list[str]
    read: Callable[[list[str]], pa.Table]
    text: bool = False
    header_lines: int = 0
    row_name: Callable[[int], str] = "row {}".format
    extras: dict[str, Any] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        repeated = [name for name, count in Counter(self.columns).items() if count > 1]
        if repeated:
            where = [i + 1 for i, name in enumerate(self.columns) if name == repeated[0]]
            raise DataError(
                f"{self.name}: column {repeated[0]!r} appears {len(where)} times (columns "
                f"{', '.join(map(str, where))}), expected every name once. To repair: rename "
                f"or drop the others{', in line 1' if self.text else ''}."
            )


def table_source(table: pa.Table, name: str) -> Source:
    """The columns of an Arrow table."""
    return Source(name, table.column_names, table.select, units=units_of(table.schema))


def units_of(schema: pa.Schema) -> dict[str, str]:
    """Units of time that `write_events` left beside numeric columns."""
    metadata = {f.name: f.metadata or {} for f in schema}
    return {name: m[b"unit"].decode() for name, m in metadata.items() if b"unit" in m}


def unreadable(path: Path, expected: str, error: Exception) -> DataError:
    """The error for a file that is not what its suffix and first bytes promise."""
    reason = str(error).split("\n")[0].removesuffix(".")
    return DataError(
        f"{path}: cannot be read as {expected}: {reason}. "
        "The file may be damaged or cut short; export or download it again."
    )
