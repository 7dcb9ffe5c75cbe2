"""Every task by name."""

from __future__ import annotations

from collections.abc import Callable

from ctan.errors import ProtocolError, unknown_name
from ctan.events import EventStream, GraphSplit, Split
from ctan.tasks.base import Task
from ctan.tasks.link import LinkPrediction
from ctan.tasks.protocol import Protocol
from ctan.tasks.sequence import SequenceClassification

Parts = Split | GraphSplit


def _link(stream: EventStream, parts: Parts, protocol: Protocol) -> Task:
    if not isinstance(parts, Split):
        raise ProtocolError("link prediction needs a split by time or by count, not by graph.")
    return LinkPrediction(stream, parts, protocol)


def _sequence(stream: EventStream, parts: Parts, protocol: Protocol) -> Task:
    if stream.y is None or stream.y.dtype.kind != "i":
        raise ProtocolError(
            "sequence classification reads whole-numbered labels at the events that end a "
            "sequence (-1 elsewhere): the stream has none. Give a column of labels."
        )
    return SequenceClassification()


TASKS: dict[str, Callable[[EventStream, Parts, Protocol], Task]] = {
    "link": _link,
    "sequence": _sequence,
}


def make_task(name: str, stream: EventStream, parts: Parts, protocol: Protocol) -> Task:
    """A task by name: ``link`` or ``sequence``.

    Example:
        >>> from ctan.datasets import path_graphs
        >>> from ctan.events import split_by_graph
        >>> stream = path_graphs(3)
        >>> make_task("sequence", stream, split_by_graph(stream), Protocol()).name
        'sequence'
    """
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    return TASKS[name](stream, parts, protocol)
