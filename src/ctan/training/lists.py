"""Fixed lists of candidates for ranking, from a file."""

from __future__ import annotations

from os import PathLike
from zipfile import BadZipFile

import numpy as np

from ctan.datasets import EvaluationNegatives
from ctan.errors import CtanError, DataError
from ctan.events import EventStream, Split
from ctan.tasks import Protocol
from ctan.training.stage import SPLITS


def read_lists(
    path: str | PathLike[str], stream: EventStream, protocol: Protocol
) -> EvaluationNegatives:
    """The candidates of each event of the test part.

    Args:
        path: a .npz file: ``node`` with a row for each event of the test part, ``[n, K]``, or with
            all rows in one, ``[S]``, and ``ptr [n + 1]``, where each begins.
        stream: the events.
        protocol: says where the test part begins.

    Raises:
        DataError: the file is no such file, or a list holds its event's own destination.

    Example:
        >>> import tempfile
        >>> stream = EventStream.from_arrays(src=[0, 1] * 20, dst=[2, 3] * 20, t=range(40))
        >>> path = tempfile.mkdtemp() + "/lists.npz"
        >>> np.savez(path, node=np.tile([[3], [2]], (3, 1)))
        >>> print(read_lists(path, stream, Protocol()))
        1 for each of 6 events
    """
    parts = SPLITS[protocol.split](stream)
    if not isinstance(parts, Split):
        raise CtanError("lists of candidates: a union of graphs has no events to rank.")
    try:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, BadZipFile) as error:
        raise DataError(f"{path}: not a .npz file of arrays ({error}).") from error
    node, events = arrays.get("node"), parts.end - parts.val_end
    if node is None or node.dtype.kind not in "iu" or node.ndim not in (1, 2):
        raise DataError(f"{path}: expected an array 'node' of node numbers, a row for each event.")
    ptr = arrays.get("ptr") if node.ndim == 1 else np.arange(len(node) + 1) * node.shape[1]
    if ptr is None or ptr.dtype.kind not in "iu" or ptr.ndim != 1 or len(ptr) != events + 1:
        rows = "no 'ptr'" if ptr is None else f"{len(ptr) - 1:,} rows"
        raise DataError(
            f"{path}: {rows}, but the test part has {events:,} events: give each a row, in order."
        )
    node, ptr = node.reshape(-1), ptr.astype(np.int64)
    if ptr[0] != 0 or ptr[-1] != len(node) or (np.diff(ptr) < 1).any():
        raise DataError(f"{path}: 'ptr' must rise from 0 to {len(node)}, each row with a node.")
    if len(node) and not 0 <= node.min() <= node.max() < stream.num_nodes:
        raise DataError(
            f"{path}: nodes {node.min()} to {node.max()}, but the stream has 0 to "
            f"{stream.num_nodes - 1}."
        )
    own = np.flatnonzero(node == np.repeat(stream.dst[parts.test], np.diff(ptr)))
    if len(own):
        row = int(np.searchsorted(ptr, own[0], side="right")) - 1
        raise DataError(
            f"{path}: row {row} holds {node[own[0]]}, the destination of its own event "
            f"(position {parts.val_end + row}): what happened is no negative."
        )
    return EvaluationNegatives(parts.val_end, ptr, node)
