"""Metrics as objects that know their name and their direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

Array = NDArray[np.floating]
Labels = NDArray[np.integer]


@dataclass(frozen=True)
class Metric:
    """A number computed from scores and labels.

    Early stopping and schedules ask the metric which way is better, so they cannot disagree.

    Attributes:
        name: as it stands in results.
        compute: ``compute(scores [P, outputs], labels [P])``.
        maximise: whether more is better.

    Example:
        >>> accuracy.better(0.9, 0.8), loss.better(0.9, 0.8)
        (True, False)
    """

    name: str
    compute: Callable[[Array, Labels], float]
    maximise: bool = True

    def better(self, new: float, old: float | None) -> bool:
        """Whether ``new`` improves on ``old`` (anything improves on None)."""
        if old is None:
            return True
        return new > old if self.maximise else new < old


def _positive(scores: Array) -> Array:
    return scores[:, 0]


def _hits(scores: Array, labels: Labels) -> float:
    guess = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(1)
    return float((guess == labels).mean())


def _no_compute(scores: Array, labels: Labels) -> float:
    raise NotImplementedError("the loop averages the task's loss itself")


#: Area under the ROC curve, over all scores of the split.
auc = Metric("auc", lambda s, y: float(roc_auc_score(y, _positive(s))))
#: Average precision, over all scores of the split.
ap = Metric("ap", lambda s, y: float(average_precision_score(y, _positive(s))))
#: Share of right answers: the sign of one score, or the largest of several.
accuracy = Metric("accuracy", _hits)
#: The task's own loss, averaged over all asked pairs.
loss = Metric("loss", _no_compute, maximise=False)
