"""What `py-tgb` read once: events and negatives in files that are mapped and checked."""

from __future__ import annotations

from pathlib import Path

from ctan.datasets.negatives import EvaluationNegatives
from ctan.events import EventStream, read_events, write_store
from ctan.stored import (
    map_column,
    new_folder,
    read_manifest,
    write_column,
    write_manifest,
)

FORM = "ctan published negatives, version 1"
_EVENTS, _NEGATIVES = "events", "negatives"
_COLUMNS = ("ptr", "node")


def keep(folder: Path, stream: EventStream, negatives: dict[str, EvaluationNegatives]) -> None:
    """Write events and the negatives of each part; the folder is there only once it is whole.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> folder = Path(tempfile.mkdtemp()) / "kept"
        >>> stream = EventStream.from_arrays(src=[0, 0], dst=[1, 2], t=[3, 7])
        >>> keep(folder, stream, {"test": EvaluationNegatives(1, np.array([0, 1]), np.array([1]))})
        >>> opened, negatives = read_kept(folder)
        >>> opened.t.tolist(), negatives["test"].of(np.array([1]))[1].tolist()
        ([3, 7], [1])
    """
    with new_folder(folder) as part:
        write_store(stream, part / _EVENTS)
        columns, starts = {}, {}
        inside = part / _NEGATIVES
        inside.mkdir()
        for name, drawn in negatives.items():
            starts[name] = drawn.start
            for column in _COLUMNS:
                key = f"{name}_{column}"
                columns[key] = write_column(inside / f"{key}.npy", getattr(drawn, column))
        write_manifest(inside, FORM, {"starts": starts, "columns": columns})


def read_kept(folder: Path) -> tuple[EventStream, dict[str, EvaluationNegatives]]:
    """What `keep` wrote, mapped; every file's checksum is compared first.

    Raises:
        DataError: a file is damaged or missing, by name.
    """
    stream = read_events(folder / _EVENTS)
    inside = folder / _NEGATIVES
    manifest = read_manifest(inside, FORM)
    negatives = {}
    for name, start in manifest["starts"].items():
        found = [map_column(inside, manifest["columns"][f"{name}_{c}"]) for c in _COLUMNS]
        negatives[name] = EvaluationNegatives(start, *found)
    return stream, negatives
