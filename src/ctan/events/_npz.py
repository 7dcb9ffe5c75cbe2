"""NPZ files: arrays by name, never pickled ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ctan.errors import DataError
from ctan.events._frames import by_column
from ctan.events._source import Source

#: What belongs to no event.
_OF_NODES = ("x", "x_update", "names")


def open_npz(path: Path) -> Source:
    """The arrays of an NPZ file: columns of events, and what belongs to no event."""
    events: dict[str, Any] = {}
    extras: dict[str, Any] = {}
    # Opened here, as numpy leaves a file open that turns out not to be an archive.
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        for name in archive.files:
            array = _member(path, archive, name)
            (extras if name in _OF_NODES or array.ndim == 0 else events)[name] = array
    source = by_column(events, str(path))
    source.extras = extras
    if "t_unit" in extras:
        source.units = {"t": str(extras["t_unit"])}
    return source


def _member(path: Path, archive: Any, name: str) -> Any:
    try:
        array = archive[name]
    except ValueError as error:
        raise DataError(
            f"{path}: column {name!r} holds Python objects, expected numbers or text: "
            "pickled data is never loaded. To repair: save it as an array of numbers."
        ) from error
    if not isinstance(array, np.ndarray):  # numpy hands out as bytes what it cannot read
        raise DataError(
            f"{path}: {name!r} in the archive is no numpy array. The file may be damaged, or was "
            "not written by numpy.savez; export it again."
        )
    return array
