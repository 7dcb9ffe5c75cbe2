"""The kinds of event a stream can hold."""

from __future__ import annotations

from enum import IntEnum


class EventKind(IntEnum):
    """What happened: the event types of a continuous-time dynamic graph.

    Events about one node (`NODE`, `NODE_DELETED`) have `dst == src`.

    Example:
        >>> EventKind(2).name, int(EventKind.NODE)
        ('EDGE_DELETED', 1)
    """

    INTERACTION = 0  #: an edge from src to dst appears
    NODE = 1  #: a node is created, or its features are updated
    EDGE_DELETED = 2  #: the edges from src to dst are gone from here on
    NODE_DELETED = 3  #: a node and all its edges are gone from here on
