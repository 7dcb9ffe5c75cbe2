"""Streams as other libraries have them: pandas and polars frames, PyG's `TemporalData`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ctan._optional import optional
from ctan.errors import unknown_name
from ctan.events.stream import EventStream
from ctan.events.write import events_table, needs_nodes, nodes_table

_LIBRARIES = ("pandas", "polars", "arrow")
_BESIDE = "_ctan_stream"
_PER_EVENT = ("src", "dst", "t", "msg", "y", "graph", "kind")


def to_frames(stream: EventStream, library: str = "pandas") -> tuple[Any, Any]:
    """A frame of events and one of nodes; `from_frame(events, nodes=nodes)` gives the stream back.

    The columns are those of `write_events`. A frame does not know the unit of its times: say it
    again (`from_frame(..., unit=stream.t_unit)`).

    Args:
        stream: the events.
        library: `pandas`, `polars` or `arrow`.

    Returns:
        The events, and the nodes where they have names or features, or some have no event; else
        None.

    Example:
        >>> stream = EventStream.from_arrays(src=[0, 1], dst=[1, 0], t=[3, 7], y=[1, -1])
        >>> events, nodes = to_frames(stream)
        >>> events["label"].tolist(), nodes
        ([1, -1], None)
    """
    if library not in _LIBRARIES:
        raise unknown_name("library of frames", library, _LIBRARIES)
    tables = [events_table(stream, text=False), None]
    if needs_nodes(stream):
        tables[1] = nodes_table(stream)
    if library == "pandas":
        optional("pandas", "frames")
        # Arrow's types: whole numbers with gaps stay whole, text stays text.
        import pandas

        found = [None if t is None else t.to_pandas(types_mapper=pandas.ArrowDtype) for t in tables]
        return found[0], found[1]
    if library == "polars":
        polars = optional("polars", "frames")
        found = [None if t is None else polars.from_arrow(t) for t in tables]
        return found[0], found[1]
    return tables[0], tables[1]


def to_temporal_data(stream: EventStream) -> Any:
    """A `torch_geometric.data.TemporalData` of a stream; `from_temporal_data` gives it back.

    All columns go with it, copied: `src`, `dst`, `t` (in its own type), `msg`, and where they are
    there `y`, `graph` and `kind`. PyG slices whatever has as many rows as there are events; so what
    belongs to no event (names, node features, the unit of times) travels beside the columns, out of
    the reach of slices. (A slice does not know its share of the node updates: a stream with these
    comes back from the whole only.)

    Example:
        >>> data = to_temporal_data(EventStream.from_arrays(src=[0], dst=[1], t=[2**60]))
        >>> data.t.tolist(), data.num_nodes
        ([1152921504606846976], 2)
    """
    data_module = optional("torch_geometric.data", "pyg")
    torch = optional("torch", "pyg")
    columns = {name: getattr(stream, name) for name in _PER_EVENT}
    tensors = {
        name: torch.from_numpy(np.array(column))
        for name, column in columns.items()
        if column is not None
    }
    data = data_module.TemporalData(**tensors)
    beside = ("num_nodes", "names", "t_unit", "x", "x_update")
    vars(data)[_BESIDE] = {name: getattr(stream, name) for name in beside}
    return data


def from_temporal_data(data: Any, *, sort: bool = False) -> EventStream:
    """A stream of a PyG `TemporalData`, checked as any other.

    Labels `y`, of whole numbers, are classes; node features are taken from `x`, if it has one row
    for each node, as PyG's users keep them.

    Args:
        data: the events.
        sort: sort by time, stably.

    Example:
        >>> import torch
        >>> from torch_geometric.data import TemporalData
        >>> data = TemporalData(
        ...     src=torch.tensor([0, 1]), dst=torch.tensor([1, 2]), t=torch.tensor([4, 9]),
        ...     msg=torch.ones(2, 1), y=torch.tensor([0, 1]),
        ... )
        >>> from_temporal_data(data)
        EventStream(2 events, 3 nodes, t=int64, msg=float32[1], y=int64)
    """

    def column(name: str) -> npt.NDArray[Any] | None:
        value = data[name] if name in data.keys() else None  # noqa: SIM118
        return None if value is None else np.asarray(value.detach().cpu().numpy())

    columns: dict[str, Any] = {name: column(name) for name in (*_PER_EVENT, "x")}
    return EventStream.from_arrays(**{**columns, **vars(data).get(_BESIDE, {})}, sort=sort)
