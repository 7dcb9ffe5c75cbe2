"""Every task by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ctan.errors import ProtocolError, unknown_name
from ctan.events import EventStream, GraphSplit, Split
from ctan.tasks.base import Task
from ctan.tasks.labels import EdgeClassification, EdgeRegression, NodeLabels
from ctan.tasks.link import LinkPrediction
from ctan.tasks.protocol import Protocol
from ctan.tasks.ranking import Lists, Ranking
from ctan.tasks.sequence import SequenceClassification

Parts = Split | GraphSplit
Listed = Mapping[str, Lists]
Maker = Callable[[EventStream, Parts, Protocol, Listed], Task]


def _ahead(task: type[LinkPrediction] | type[Ranking]) -> Maker:
    """A task that foretells events: it needs one stream, and answers before it observes."""

    def make(stream: EventStream, parts: Parts, protocol: Protocol, lists: Listed) -> Task:
        if not isinstance(parts, Split):
            raise ProtocolError(
                f"task {task.name!r} needs a split by time or by count, not by graph."
            )
        if protocol.order == "after":
            raise ProtocolError(
                f"task {task.name!r} asks whether an event will happen: answered after it was "
                "observed (order='after'), the answer would be known. Use order='before'."
            )
        if issubclass(task, Ranking):
            return task(stream, parts, protocol, lists)
        if protocol.negatives == "listed":
            raise ProtocolError(
                f"negatives='listed': lists of candidates are for task 'ranking', not "
                f"{task.name!r}."
            )
        return task(stream, parts, protocol)

    return make


def _classes(task: Callable[[EventStream, Parts, Protocol], Task], name: str) -> Maker:
    """A task that reads whole-numbered labels."""

    def make(stream: EventStream, parts: Parts, protocol: Protocol, lists: Listed) -> Task:
        if stream.y is None or stream.y.dtype.kind != "i":
            raise ProtocolError(
                f"task {name!r} reads whole-numbered labels at events (-1 where there is none): "
                f"the stream has {'none' if stream.y is None else 'numbers'}. Give a column of "
                "labels; numbers are told by task 'regression'."
            )
        return task(stream, parts, protocol)

    return make


def _sequence(stream: EventStream, parts: Parts, protocol: Protocol) -> Task:
    if protocol.order == "before" and protocol.readout == "dst":
        raise ProtocolError(
            "task 'sequence' reads a node that its last event reaches: before that event "
            "(order='before') it knows nothing. Use order='after', or readout='pair', which reads "
            "the event's source as well."
        )
    return SequenceClassification(observe_first=protocol.order != "before")


def _regression(stream: EventStream, parts: Parts, protocol: Protocol, lists: Listed) -> Task:
    if stream.y is None:
        raise ProtocolError(
            "task 'regression' reads a number at events (NaN where there is none): the stream has "
            "no labels. Give a column of them."
        )
    return EdgeRegression(stream, parts, protocol)


TASKS: dict[str, Maker] = {
    "link": _ahead(LinkPrediction),
    "ranking": _ahead(Ranking),
    "sequence": _classes(_sequence, "sequence"),
    "edge": _classes(EdgeClassification, "edge"),
    "node": _classes(NodeLabels, "node"),
    "regression": _regression,
}


def make_task(
    name: str,
    stream: EventStream,
    parts: Parts,
    protocol: Protocol,
    lists: Listed | None = None,
) -> Task:
    """A task by name: ``link``, ``ranking``, ``sequence``, ``edge``, ``node`` or ``regression``.

    Args:
        name: of the task.
        stream: the whole stream.
        parts: its split.
        protocol: how to ask and measure.
        lists: fixed candidates of ranking by phase, for ``negatives="listed"``.

    Example:
        >>> from ctan.datasets import path_graphs
        >>> from ctan.events import split_by_graph
        >>> stream = path_graphs(3)
        >>> make_task("sequence", stream, split_by_graph(stream), Protocol()).name
        'sequence'
    """
    if name not in TASKS:
        raise unknown_name("task", name, TASKS)
    return TASKS[name](stream, parts, protocol, lists or {})
