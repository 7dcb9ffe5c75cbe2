"""What a task says: which pairs are asked, what they should answer, and which metrics count."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from ctan.events import EventStream
from ctan.history import Batch
from ctan.models import Asked, Events
from ctan.tasks.metrics import Metric

#: The parts of a split, in order.
PHASES = ("train", "val", "test")


@dataclass(frozen=True)
class Phase:
    """Where in a run a batch stands.

    Attributes:
        name: ``train``, ``val`` or ``test``.
        epoch: which epoch, for what is drawn anew in each; 0 in evaluation.

    Example:
        >>> Phase("train", 3).training
        True
    """

    name: str
    epoch: int = 0

    @property
    def training(self) -> bool:
        """Whether weights are being fitted."""
        return self.name == "train"


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept of each question.

    Attributes:
        scores: what was answered, ``[Q, outputs]``.
        labels: what should have been, ``[Q]``.
        event: which event of the batch it was about, ``[Q]``; over a whole part, which position.

    Example:
        >>> Kept(np.zeros((2, 1)), np.array([1, 0]), np.array([0, 0])).only([True, False]).labels
        array([1])
    """

    scores: NDArray[np.floating]
    labels: NDArray[Any]
    event: NDArray[np.int64]

    def only(self, chosen: ArrayLike) -> Kept:
        """Some of the questions, by a mask, a slice or places."""
        at = chosen if isinstance(chosen, slice) else np.asarray(chosen)
        return Kept(self.scores[at], self.labels[at], self.event[at])


class Task(ABC):
    """A task on a stream of events.

    Attributes:
        name: as it stands in results.
        outputs: scores per asked pair.
        observe_first: whether a batch is observed before its questions are answered (tasks that
            label what happened), or after (tasks that predict what will happen).
        metrics: what is measured; the first one selects the best epoch.
        about_interactions: whether only interactions are asked about; otherwise node events too.
        answers_with: what is kept of a question: a ``logit``, a ``number`` or a ``rank``.
    """

    name: str
    outputs: int
    observe_first: bool
    metrics: tuple[Metric, ...]
    about_interactions: bool = False
    answers_with: str = "logit"

    @abstractmethod
    def ask(self, stream: EventStream, batch: Batch, events: Events, phase: Phase) -> Asked:
        """The pairs asked about in a batch; none is a valid answer."""

    @abstractmethod
    def labels(self, stream: EventStream, events: Events, asked: Asked) -> NDArray[Any]:
        """What each asked pair should answer, ``[P]``."""

    @abstractmethod
    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Mean loss of ``scores [P, outputs]`` for ``labels [P]``."""

    def keep(self, scores: Tensor, labels: Tensor, asked: Asked) -> Kept:
        """What evaluation keeps of a batch, for the metrics: here every score and label."""
        return Kept(scores.cpu().numpy(), labels.cpu().numpy(), asked.event)

    def details(self, kept: Kept) -> dict[str, Any]:
        """What a result shows beside its metrics, such as a confusion matrix."""
        return {}
