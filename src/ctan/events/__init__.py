"""Events: files and arrays become one validated, time-ordered, immutable `EventStream`."""

from ctan.events.kinds import EventKind
from ctan.events.names import NodeNames
from ctan.events.splits import GraphSplit, Split, split_by_count, split_by_graph, split_by_time
from ctan.events.stream import EventStream

__all__ = [
    "EventKind",
    "EventStream",
    "GraphSplit",
    "NodeNames",
    "Split",
    "split_by_count",
    "split_by_graph",
    "split_by_time",
]
