"""`EventStream`: the immutable columns every other room reads."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ctan.events._card import card
from ctan.events._problems import Problems
from ctan.events._validate import sort_by_time, validate
from ctan.events.kinds import EventKind
from ctan.events.names import NodeNames

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Times = npt.NDArray[np.int64] | npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class EventStream:
    """Events of a continuous-time dynamic graph, in order of time.

    The *position* of an event is its row. This constructor trusts what it is given; use
    `from_arrays` for arrays of unknown quality. Columns are read-only views of the arrays given.

    Args:
        src: source of each event, `[E]`.
        dst: destination of each event, `[E]`.
        t: time of each event, never decreasing, int64 or float64 and never narrowed, `[E]`.
        msg: features of each event, `[E, de]`.
        x: features of each node at the start, `[N, dn]`.
        y: label of each event, `[E]`: int64 with -1 for none, or float64 with NaN for none.
        graph: which of several disjoint graphs an event belongs to, `[E]`.
        kind: an `EventKind` per event, uint8 `[E]`; None where all are interactions.
        num_nodes: N; by default the largest id plus one, and at least the rows of `x`.
        names: the name of each node.
        t_unit: "s", "ms", "us" or "ns", where known.
        x_update: the new features of each `EventKind.NODE` event, in order of those events,
            `[number of NODE events, dn]`.

    Example:
        >>> stream = EventStream.from_arrays(src=[0, 1, 0], dst=[1, 2, 2], t=[10, 20, 30])
        >>> len(stream), stream.num_nodes, stream[1:].src.tolist()
        (3, 3, [1, 0])
        >>> stream
        EventStream(3 events, 3 nodes, t=int64)
    """

    src: Ints
    dst: Ints
    t: Times
    msg: Floats | None = None
    x: Floats | None = None
    y: Ints | npt.NDArray[np.float64] | None = None
    graph: Ints | None = None
    kind: npt.NDArray[np.uint8] | None = None
    num_nodes: int = -1
    names: NodeNames | None = None
    t_unit: str | None = None
    x_update: Floats | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            column = getattr(self, field.name)
            if isinstance(column, np.ndarray):
                view = column.view(np.ndarray)
                view.flags.writeable = False  # of this view only, not of the caller's array
                object.__setattr__(self, field.name, view)
        if self.num_nodes < 0:
            ids = (int(column.max()) + 1 for column in (self.src, self.dst) if len(column))
            rows = 0 if self.x is None else len(self.x)
            object.__setattr__(self, "num_nodes", max(*ids, rows, 0, 0))

    @classmethod
    def from_arrays(
        cls,
        *,
        src: npt.ArrayLike,
        dst: npt.ArrayLike,
        t: npt.ArrayLike,
        msg: npt.ArrayLike | None = None,
        x: npt.ArrayLike | None = None,
        y: npt.ArrayLike | None = None,
        graph: npt.ArrayLike | None = None,
        kind: npt.ArrayLike | None = None,
        num_nodes: int | None = None,
        names: NodeNames | None = None,
        t_unit: str | None = None,
        x_update: npt.ArrayLike | None = None,
        sort: bool = False,
    ) -> EventStream:
        """Make a stream of arrays, lists or CPU tensors, and check everything about them once.

        The columns are those of the class; arrays that have the right type already are used, not
        copied. `sort=True` sorts events by time, stably (events of one time keep their order);
        without it, times that decrease are an error.

        Raises:
            DataError: a list of every problem, each with column, first bad row, what was given,
                what was expected and how to repair it.

        Example:
            >>> EventStream.from_arrays(src=[0, 1], dst=[1, -2], t=[2.5, 1.0])
            Traceback (most recent call last):
            ...
            ctan.errors.DataError: arrays: 2 problems (rows count from 0)
              - column 'dst', row 1: got -2, expected ids of 0 or more. To repair: ...
              - column 't', row 1: got 1.0 after 2.5, expected times that never decrease. To repair:
                sort=True (--sort) sorts events by time, stably.
        """
        events = {"src": src, "dst": dst, "t": t, "msg": msg, "y": y, "graph": graph, "kind": kind}
        nodes = {"x": x, "x_update": x_update, "num_nodes": num_nodes, "names": names}
        columns = {**events, **nodes, "t_unit": t_unit}
        return cls._validated(columns, Problems("arrays"), sort)

    @classmethod
    def _validated(cls, columns: dict[str, Any], problems: Problems, sort: bool) -> EventStream:
        """A stream of columns of unknown quality; `problems` may hold some already."""
        checked = validate(columns, problems, sorted_later=sort)
        problems.raise_if_any()
        return cls(**(sort_by_time(checked) if sort else checked))

    def __len__(self) -> int:
        return len(self.src)

    def __getitem__(self, part: slice) -> EventStream:
        """Events `lo` to `hi`: a stream that shares memory, with the same nodes and `x`."""
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise TypeError(
                f"an EventStream takes slices of step 1, such as stream[10:20], not {part!r}; "
                "index its columns for anything else, such as stream.src[positions]"
            )
        lo, hi, _ = part.indices(len(self))
        hi = max(lo, hi)
        cut = {name: getattr(self, name) for name in ("msg", "y", "graph", "kind")}
        cut = {name: None if column is None else column[lo:hi] for name, column in cut.items()}
        x_update = self.x_update
        if x_update is not None and self.kind is not None:
            first = int(np.count_nonzero(self.kind[:lo] == EventKind.NODE))
            count = int(np.count_nonzero(self.kind[lo:hi] == EventKind.NODE))
            x_update = x_update[first : first + count]
        return EventStream(
            self.src[lo:hi],
            self.dst[lo:hi],
            self.t[lo:hi],
            x=self.x,
            num_nodes=self.num_nodes,
            names=self.names,
            t_unit=self.t_unit,
            x_update=x_update,
            **cut,
        )

    @property
    def edge_dim(self) -> int:
        """Number of features of an event, 0 without."""
        return 0 if self.msg is None else self.msg.shape[1]

    @property
    def node_dim(self) -> int:
        """Number of features of a node, 0 without."""
        features = self.x_update if self.x is None else self.x
        return 0 if features is None else features.shape[1]

    def card(self) -> str:
        """What the stream holds, for people: `print(stream)` shows it.

        Example:
            >>> print(EventStream.from_arrays(src=[0, 1, 0], dst=[1, 1, 1], t=[10, 20, 30]))
            3 events, 2 nodes
              time            10 to 30 (int64), 3 distinct
              endpoints       2 distinct sources, 1 distinct destinations
              edges           2 distinct, 1 repeated, 1 self-loop
              event features  none
              node features   none
              labels          none
        """
        return card(self)

    def __str__(self) -> str:
        return self.card()

    def __repr__(self) -> str:
        parts = [f"{len(self)} events", f"{self.num_nodes} nodes", f"t={self.t.dtype}"]
        for name in ("msg", "x", "y", "graph", "kind"):
            column = getattr(self, name)
            if column is not None:
                parts.append(f"{name}={column.dtype}{list(column.shape[1:]) or ''}")
        return f"EventStream({', '.join(parts)})"
