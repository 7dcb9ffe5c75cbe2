"""Sequence classification: what stood at the start, once the last event was seen?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ctan.events import EventStream
from ctan.history import Batch
from ctan.models import Asked, Events
from ctan.tasks.base import Phase, Task
from ctan.tasks.metrics import accuracy, loss


class SequenceClassification(Task):
    """Classify at the labelled events, after they were observed.

    In T-PathGraph the last event of each graph carries the graph's label. The event is observed
    first and the updated embedding is read: otherwise the last node would have no neighbour, and
    nothing to answer from. The paper's code reads before, where the source still has an answer.

    Args:
        observe_first: whether the labelled event is observed before it is read.

    Example:
        >>> SequenceClassification().observe_first
        True
    """

    name = "sequence"
    outputs = 1
    metrics = (loss, accuracy)

    def __init__(self, observe_first: bool = True) -> None:
        self.observe_first = observe_first

    def ask(self, stream: EventStream, batch: Batch, events: Events, phase: Phase) -> Asked:
        """The pairs of the labelled events."""
        assert stream.y is not None
        row = np.flatnonzero(stream.y[events.position] >= 0)
        return Asked(src=events.src[row], dst=events.dst[row], event=row)

    def labels(self, stream: EventStream, events: Events, asked: Asked) -> NDArray[np.int64]:
        """The labels of those events."""
        assert stream.y is not None
        return stream.y[events.position[asked.event]].astype(np.int64)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Binary cross-entropy over two classes."""
        return F.binary_cross_entropy_with_logits(scores[:, 0], labels.to(scores.dtype))
