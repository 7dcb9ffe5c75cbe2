"""One checked file per image: what SLIC took seconds to find is read back in a millisecond."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
import zlib
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctan.datasets.superpixels import SuperpixelGraph

_FORMAT = 1
# What numpy and zipfile raise for files with any byte changed or missing.
_UNREADABLE = (
    *(OSError, ValueError, EOFError, KeyError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
_ARRAYS = tuple(field.name for field in fields(SuperpixelGraph))


class DamagedError(Exception):
    """A cache file that is not what was written."""


def cache_key(image: Path, mask: Path, **options: Any) -> str:
    """All that a graph depends on: both files' contents, the options, and who computed it.

    Raises:
        OSError: one of the files cannot be read.
    """
    return json.dumps(
        {
            "format": _FORMAT,
            "image": hashlib.sha256(image.read_bytes()).hexdigest(),
            "mask": hashlib.sha256(mask.read_bytes()).hexdigest(),
            "scikit-image": version("scikit-image"),  # SLIC differs from version to version
            "pillow": version("pillow"),  # and so may a decoded JPEG
            **options,
        },
        sort_keys=True,
    )


def write_graph(path: Path, graph: SuperpixelGraph, key: str) -> None:
    """Write a graph, its key and a checksum of both; the file is there whole or not at all.

    Example:
        >>> import tempfile
        >>> from ctan.datasets.superpixels import superpixel_graph
        >>> black = np.zeros((20, 20, 3), np.uint8)
        >>> graph = superpixel_graph(black, black[..., 0], compactness=10, most=4)
        >>> path = Path(tempfile.mkdtemp()) / "black.npz"
        >>> write_graph(path, graph, key="of my choice")
        >>> read_graph(path, key="another") is None
        True
        >>> read_graph(path, key="of my choice").edges.tolist() == graph.edges.tolist()
        True
    """
    columns = {name: np.asarray(getattr(graph, name)) for name in _ARRAYS}
    columns["key"] = np.array(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("wb") as file:
        np.savez(file, sha256=np.array(_digest(columns)), **columns)  # type: ignore[arg-type]
    os.replace(part, path)


def read_graph(path: Path, key: str) -> SuperpixelGraph | None:
    """The graph in a cache file; None if there is no file, or it was made from something else.

    Raises:
        DamagedError: the file's content does not agree with its checksum.
    """
    if not path.exists():
        return None
    try:
        # Of bytes in memory: numpy leaves a damaged file open.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            columns = {name: file[name] for name in file.files}
        recorded = columns.pop("sha256").item()
    except _UNREADABLE as error:
        raise DamagedError(str(error)) from error
    if recorded != _digest(columns):
        raise DamagedError("its checksum does not agree with its content")
    if columns.pop("key").item() != key:
        return None
    return SuperpixelGraph(**{**columns, "foreground": int(columns["foreground"])})


def _digest(columns: dict[str, NDArray[Any]]) -> str:
    """SHA-256 over names, types, shapes and contents."""
    digest = hashlib.sha256()
    for name in sorted(columns):
        column = np.ascontiguousarray(columns[name])
        digest.update(f"{name} {column.dtype.str} {column.shape} ".encode())
        digest.update(column.tobytes())
    return digest.hexdigest()
