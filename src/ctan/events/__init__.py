"""Events: files and arrays become one validated, time-ordered, immutable `EventStream`."""

from ctan.events.interchange import from_temporal_data, to_frames, to_temporal_data
from ctan.events.kinds import EventKind
from ctan.events.names import NodeNames
from ctan.events.read import from_frame, read_events
from ctan.events.splits import GraphSplit, Split, split_by_count, split_by_graph, split_by_time
from ctan.events.store import store_of, write_store
from ctan.events.store_import import import_events
from ctan.events.stream import EventStream
from ctan.events.surprise import SURPRISES, surprise
from ctan.events.write import write_events

__all__ = [
    "SURPRISES",
    "EventKind",
    "EventStream",
    "GraphSplit",
    "NodeNames",
    "Split",
    "from_frame",
    "from_temporal_data",
    "import_events",
    "read_events",
    "split_by_count",
    "split_by_graph",
    "split_by_time",
    "store_of",
    "surprise",
    "to_frames",
    "to_temporal_data",
    "write_events",
    "write_store",
]
