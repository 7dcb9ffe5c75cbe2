"""The index of a store, beside its columns: mapped instead of built anew."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctan.errors import DataError
from ctan.events import read_events, store_of
from ctan.history._build import IndexColumns, index_columns
from ctan.stored import (
    file_record,
    map_column,
    new_folder,
    new_mapped,
    read_manifest,
    write_manifest,
)

if TYPE_CHECKING:
    from ctan.events import EventStream

FORM = "ctan temporal index, version 1"
_FOLDER = "index"


def store_index(store: str | PathLike[str]) -> Path:
    """Build the temporal index of a store and keep it there; `TemporalIndex.build` then maps it.

    It is written to mapped files as it is built, so that memory does not have to hold it.

    Example:
        >>> import tempfile
        >>> from ctan.events import EventStream, write_store
        >>> from ctan.history import TemporalIndex
        >>> store = Path(tempfile.mkdtemp()) / "calls"
        >>> _ = write_store(EventStream.from_arrays(src=[0, 1], dst=[1, 2], t=[3, 7]), store)
        >>> _ = store_index(store)
        >>> index = TemporalIndex.build(read_events(store))
        >>> type(index.neighbor.base).__name__, index.recent([1], cut=2, k=2).node
        ('memmap', array([[2, 0]]))
    """
    folder = Path(store)
    stream = read_events(folder)
    with new_folder(folder / _FOLDER) as part:

        def mapped(name: str, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
            return new_mapped(part / f"{name}.npy", dtype, count)

        made = index_columns(stream, mapped)
        records = {}
        for name, column in made._asdict().items():
            path = part / f"{name}.npy"
            if isinstance(column.base, np.memmap):
                column.base.flush()
            else:
                np.save(path, column)
            records[name] = file_record(path, array=column)
        write_manifest(part, FORM, {"of": _edges(stream), "columns": records})
    return folder / _FOLDER


def stored_index(stream: EventStream) -> IndexColumns | None:
    """The index that was stored with a stream's edges; None if there is none.

    Raises:
        DataError: it is damaged, or belongs to other edges.
    """
    store = store_of(stream)
    if store is None or not (store / _FOLDER).is_dir():
        return None
    folder = store / _FOLDER
    manifest = read_manifest(folder, FORM)
    if manifest["of"] != _edges(stream):
        raise DataError(
            f"{folder}: is the index of other edges than those of {store}. To repair: delete it, "
            "and make it again with store_index."
        )
    return IndexColumns(**{name: map_column(folder, r) for name, r in manifest["columns"].items()})


def _edges(stream: EventStream) -> dict[str, Any]:
    """What tells these edges from others: the checksums of the store's columns."""
    store = store_of(stream)
    assert store is not None
    records = read_manifest(store, "ctan events, version 1")["columns"]
    names = ("src", "dst", "kind") if stream.kind is not None else ("src", "dst")
    return {"nodes": stream.num_nodes, **{name: records[name]["sha256"] for name in names}}
