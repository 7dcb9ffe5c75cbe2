"""Tasks on labelled events: classes of edges, states of nodes, and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ctan.errors import ProtocolError
from ctan.events import EventStream, GraphSplit, Split
from ctan.history import Batch
from ctan.models import Asked, Events
from ctan.tasks.base import Kept, Phase, Task
from ctan.tasks.metrics import accuracy, ap, auc, confusion, loss, macro_f1, mae, rmse
from ctan.tasks.protocol import Protocol

Parts = Split | GraphSplit


class EdgeClassification(Task):
    """Classify the labelled events.

    In a union of graphs each event is observed first, then read. In one stream the class is
    predicted before, or after with ``order="after"``, which needs causal visibility.

    Args:
        stream: the whole stream, with whole-numbered labels, -1 for none.
        parts: its split; class weights are those of the training labels.
        protocol: whether classes are weighted, and in which order a batch is played.

    Example:
        >>> from ctan.events import split_by_count
        >>> stream = EventStream.from_arrays(src=[0] * 20, dst=[1] * 20, t=range(20), y=[0, 2] * 10)
        >>> EdgeClassification(stream, split_by_count(stream), Protocol()).outputs
        3
    """

    name = "edge"
    metrics = (macro_f1, accuracy, loss)

    def __init__(self, stream: EventStream, parts: Parts, protocol: Protocol) -> None:
        assert stream.y is not None
        self.outputs = max(int(stream.y.max(initial=0)) + 1, 2)
        self.observe_first = observes_first(parts, protocol)
        trained = stream.y[training_events(stream, parts)].astype(np.int64)
        self.weight = class_weights(trained, self.outputs, protocol.class_weights)

    def ask(self, stream: EventStream, batch: Batch, events: Events, phase: Phase) -> Asked:
        """The pairs of the labelled events."""
        row = labelled(stream, events)
        return Asked(src=events.src[row], dst=events.dst[row], event=row)

    def labels(self, stream: EventStream, events: Events, asked: Asked) -> NDArray[Any]:
        """The labels of those events."""
        assert stream.y is not None
        return stream.y[events.position[asked.event]].astype(np.int64)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Cross-entropy."""
        return F.cross_entropy(scores, labels, self.weight.to(scores, non_blocking=True))

    def details(self, kept: Kept) -> dict[str, Any]:
        """Which class was taken for which."""
        return {"confusion": confusion(kept.scores, kept.labels)}


class NodeLabels(Task):
    """Tell the label of an event's source: whether its state changes, as JODIE has it.

    The label is predicted from what came before the event, as TGN and DyGLib do; with
    ``order="after"`` the source is read once the event was observed, as JODIE does.

    Args:
        stream: the whole stream, with labels 0 and 1, -1 for none.
        parts: its split; class weights are those of the training labels.
        protocol: whether classes are weighted, and in which order a batch is played.

    Example:
        >>> from ctan.events import split_by_count
        >>> stream = EventStream.from_arrays(src=[0] * 20, dst=[1] * 20, t=range(20), y=[0, 1] * 10)
        >>> NodeLabels(stream, split_by_count(stream), Protocol()).observe_first
        False
    """

    name = "node"
    outputs = 1
    metrics = (auc, ap, loss)

    def __init__(self, stream: EventStream, parts: Parts, protocol: Protocol) -> None:
        assert stream.y is not None
        self.observe_first = observes_first(parts, protocol)
        trained = stream.y[training_events(stream, parts)].astype(np.int64)
        self.weight = class_weights(trained, 2, protocol.class_weights)

    def ask(self, stream: EventStream, batch: Batch, events: Events, phase: Phase) -> Asked:
        """The sources of the labelled events; a node is asked about as a pair with itself."""
        row = labelled(stream, events)
        return Asked(src=events.src[row], dst=events.src[row], event=row)

    def labels(self, stream: EventStream, events: Events, asked: Asked) -> NDArray[Any]:
        """The labels of those events."""
        assert stream.y is not None
        return stream.y[events.position[asked.event]].astype(np.int64)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Binary cross-entropy."""
        return F.binary_cross_entropy_with_logits(
            scores[:, 0], labels.to(scores.dtype), self.weight.to(scores, non_blocking=True)[labels]
        )


class EdgeRegression(Task):
    """Tell a number of each event, such as a rating.

    In a union of graphs each event is observed first; in one stream the number is predicted before.
    The network answers in units of the training labels' deviation from their mean; metrics are in
    the labels' own unit.

    Args:
        stream: the whole stream, with labels; NaN (or -1, if labels are whole numbers) for none.
        parts: its split.
        protocol: in which order a batch is played.

    Example:
        >>> from ctan.events import split_by_count
        >>> y = [1.0, 3.0] * 10
        >>> stream = EventStream.from_arrays(src=[0] * 20, dst=[1] * 20, t=range(20), y=y)
        >>> task = EdgeRegression(stream, split_by_count(stream), Protocol())
        >>> task.mean, task.std
        (2.0, 1.0)
    """

    name = "regression"
    outputs = 1
    answers_with = "number"
    metrics = (mae, rmse, loss)

    def __init__(self, stream: EventStream, parts: Parts, protocol: Protocol) -> None:
        assert stream.y is not None
        self.observe_first = observes_first(parts, protocol)
        trained = stream.y[training_events(stream, parts)].astype(np.float64)
        self.mean, self.std = float(trained.mean()), float(trained.std()) or 1.0

    def ask(self, stream: EventStream, batch: Batch, events: Events, phase: Phase) -> Asked:
        """The pairs of the labelled events."""
        row = labelled(stream, events)
        return Asked(src=events.src[row], dst=events.dst[row], event=row)

    def labels(self, stream: EventStream, events: Events, asked: Asked) -> NDArray[Any]:
        """The labels of those events, in units of their deviation."""
        assert stream.y is not None
        return (stream.y[events.position[asked.event]] - self.mean) / self.std

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Mean squared error, of standardised labels."""
        return F.mse_loss(scores[:, 0], labels.to(scores.dtype))

    def keep(self, scores: Tensor, labels: Tensor, asked: Asked) -> Kept:
        """Answers and labels in the labels' own unit."""
        answers, wanted = scores.double().cpu().numpy(), labels.double().cpu().numpy()
        return Kept(answers * self.std + self.mean, wanted * self.std + self.mean, asked.event)


def observes_first(parts: Parts, protocol: Protocol) -> bool:
    """Whether a batch is observed before its labels are asked for.

    Raises:
        ProtocolError: a stale batch would be observed whole, later events of a node included.
    """
    if isinstance(parts, GraphSplit):
        return protocol.order != "before"
    if protocol.order == "after" and protocol.visibility == "stale":
        raise ProtocolError(
            "order='after' with visibility='stale' observes a whole batch before any of its events "
            "is answered: it would show what comes later. Use visibility='causal'."
        )
    return protocol.order == "after"


def labelled(stream: EventStream, events: Events) -> NDArray[np.int64]:
    """Which events of a batch have a label: not -1, or not NaN."""
    assert stream.y is not None
    y = stream.y[events.position]
    return np.flatnonzero(y >= 0 if y.dtype.kind == "i" else ~np.isnan(y))


def training_events(stream: EventStream, parts: Parts) -> NDArray[np.int64]:
    """Positions of the labelled events of training."""
    assert stream.y is not None
    y = stream.y
    known = y >= 0 if y.dtype.kind == "i" else ~np.isnan(y)
    if isinstance(parts, Split):
        return np.flatnonzero(known[parts.train])
    assert stream.graph is not None
    return np.flatnonzero(known & np.isin(stream.graph, parts.train))


def class_weights(labels: NDArray[np.int64], classes: int, rule: str) -> Tensor:
    """Weights of classes ``[C]``: ones, or inverse to their frequency with a mean of 1 per label.

    Example:
        >>> class_weights(np.array([0, 0, 0, 1]), 2, "balanced")
        tensor([0.6667, 2.0000])
    """
    if rule == "none":
        return torch.ones(classes)
    count = np.bincount(labels, minlength=classes)
    weight = len(labels) / (np.count_nonzero(count) * np.maximum(count, 1))
    return torch.from_numpy(np.where(count > 0, weight, 1.0)).float()
