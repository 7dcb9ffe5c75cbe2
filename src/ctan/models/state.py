"""What a model remembers, as a value that is passed in and returned."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import torch
from torch import Tensor

from ctan.arrays import IntArray


class Rows:
    """A table of node states ``[N, d]`` with an overlay of the rows that gradients flow through.

    A plain tensor would have to be copied at each batch for autograd (a gigabyte on large graphs).
    Here rows without gradient are written in place, and rows with gradient are kept beside the
    table as the segments in which they were written; :meth:`detach` folds them in.

    :meth:`write` owns the table it is called on: use only what it returns.

    Args:
        base: the table, ``[N, d]``, without gradient.

    Example:
        >>> rows = Rows(torch.zeros(3, 2))
        >>> value = torch.ones(1, 2, requires_grad=True)
        >>> rows = rows.write(np.array([1]), value)
        >>> rows.read(np.array([1, 2])).sum(1).tolist()
        [2.0, 0.0]
        >>> rows.detach().base.sum().item()
        2.0
    """

    def __init__(self, base: Tensor) -> None:
        self.base = base
        self._segments: list[Tensor] = []
        # For each node the segment of its latest value (-1: the table) and the row in it.
        self._segment: IntArray | None = None
        self._row: IntArray | None = None
        self._written: list[IntArray] = []

    def read(self, nodes: IntArray) -> Tensor:
        """The states of ``nodes [M]``, ``[M, d]``."""
        if self._segment is None or self._row is None:
            return self.base.index_select(0, self._index(nodes))
        segment = self._segment[nodes]
        row = self._row[nodes]
        # Stack only what is needed: the asked rows of the table, then each segment that is read.
        in_table = segment < 0
        source = row.copy()
        source[in_table] = np.arange(np.count_nonzero(in_table))
        parts = [self.base.index_select(0, self._index(nodes[in_table]))]
        offset = len(parts[0])
        for number in np.unique(segment[~in_table]):
            source[segment == number] += offset
            parts.append(self._segments[number])
            offset += len(parts[-1])
        return torch.cat(parts).index_select(0, self._index(source))

    def write(self, nodes: IntArray, values: Tensor) -> Rows:
        """The table with ``values [M, d]`` at the distinct ``nodes [M]``."""
        if not values.requires_grad:
            self.base.index_copy_(0, self._index(nodes), values)
            if self._segment is not None:
                self._segment[nodes] = -1
            return self
        if self._segment is None or self._row is None:
            self._segment = np.full(len(self.base), -1, dtype=np.int64)
            self._row = np.zeros(len(self.base), dtype=np.int64)
        self._segment[nodes] = len(self._segments)
        self._row[nodes] = np.arange(len(nodes))
        self._segments.append(values)
        self._written.append(nodes)
        return self

    def detach(self) -> Rows:
        """The same states without gradient: the overlay is folded into the table."""
        if self._segment is not None:
            nodes = np.unique(np.concatenate(self._written))
            with torch.no_grad():
                self.base[self._index(nodes)] = self.read(nodes)
            self._segments, self._written = [], []
            self._segment = self._row = None
        return self

    def dense(self) -> Tensor:
        """All states as one tensor ``[N, d]`` without gradient."""
        return self.detach().base

    def _index(self, nodes: IntArray) -> Tensor:
        return torch.from_numpy(nodes).to(self.base.device, non_blocking=True)


@dataclass
class State:
    """Base of every model's state: a dataclass of :class:`Rows` and tensors.

    A model without memory uses this class itself: it has nothing to remember.

    Example:
        >>> State().tensors()
        {}
    """

    def detach(self) -> Self:
        """The same values without gradient."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Rows):
                value.detach()
        return self

    def forget(self, nodes: IntArray, start: Self) -> Self:
        """The state in which ``nodes [M]`` stand as in ``start``, a state before any event.

        Owns the state it is called on.

        Example:
            >>> from dataclasses import dataclass
            >>> @dataclass
            ... class Last(State):
            ...     seen: Tensor
            >>> Last(torch.tensor([5, 7])).forget(np.array([1]), Last(torch.tensor([0, 0])))
            Last(seen=tensor([5, 0]))
        """
        for field in fields(self):
            value, fresh = getattr(self, field.name), getattr(start, field.name)
            if isinstance(value, Rows):
                setattr(self, field.name, value.write(nodes, fresh.read(nodes).detach()))
            else:
                at = torch.from_numpy(nodes).to(value.device, non_blocking=True)
                value[at] = fresh[at]
        return self

    def tensors(self) -> dict[str, Tensor]:
        """All values by name, for saving and comparing; not copies."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: v.dense() if isinstance(v, Rows) else v for name, v in values}

    def load(self, tensors: dict[str, Tensor]) -> Self:
        """Take over values that :meth:`tensors` gave.

        Raises:
            ValueError: a name or a shape does not match.
        """
        own = self.tensors()
        if own.keys() != tensors.keys():
            raise ValueError(f"state holds {sorted(own)}, the saved one {sorted(tensors)}")
        for name, value in own.items():
            if value.shape != tensors[name].shape or value.dtype != tensors[name].dtype:
                raise ValueError(
                    f"state {name!r} is {tuple(value.shape)} {value.dtype}, "
                    f"the saved one {tuple(tensors[name].shape)} {tensors[name].dtype}"
                )
            value.copy_(tensors[name])
        return self
