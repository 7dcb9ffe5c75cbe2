"""The features of events and nodes, as tables on one device."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ctan.arrays import IntArray
from ctan.events import EventStream
from ctan.history import NodeHistory


@dataclass(frozen=True)
class Features:
    """The feature tables of a stream on one device, read by event and by node.

    Attributes:
        t: event times, ``[E]``, int64 or float64.
        msg: event features, ``[E, de]``, or None.
        x: node features, ``[N, dn]``, and a row for each node event after them, or None.
        nodes: which row holds for a node when, and which nodes are gone; None where nothing of
            that ever changes.

    Example:
        >>> stream = EventStream.from_arrays(src=[0, 1], dst=[1, 2], t=[5, 7])
        >>> Features.of(stream).t
        tensor([5, 7])
    """

    t: Tensor
    msg: Tensor | None
    x: Tensor | None
    nodes: NodeHistory | None = None

    @classmethod
    def of(cls, stream: EventStream, device: torch.device | str = "cpu") -> Features:
        """The tables of a stream; on the CPU they share its memory."""
        x = stream.x
        if stream.x_update is not None:
            start = np.zeros((stream.num_nodes, stream.node_dim), np.float32) if x is None else x
            x = np.concatenate([start, stream.x_update])
        nodes = NodeHistory.build(stream)
        return cls(
            t=_tensor(stream.t, device),
            msg=None if stream.msg is None else _tensor(stream.msg, device),
            x=None if x is None else _tensor(x, device),
            nodes=nodes if nodes.changes else None,
        )

    def rows(self, nodes: IntArray, cut: IntArray | int) -> IntArray:
        """The rows of ``x`` that hold for ``nodes [M]`` at their cuts, ``[M]``."""
        return nodes if self.nodes is None else self.nodes.feature_row(nodes, cut)

    @property
    def forgets(self) -> bool:
        """Whether any node is ever deleted."""
        return self.nodes is not None and not bool(self.nodes.there.all())

    @property
    def device(self) -> torch.device:
        """Where the tables are."""
        return self.t.device


def _tensor(array: np.ndarray, device: torch.device | str) -> Tensor:
    with warnings.catch_warnings():
        # The columns are read-only; torch has no such notion and warns. Nothing writes to them.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writ")
        return torch.from_numpy(np.asarray(array)).to(device)
