"""Metrics as objects that know their name and their direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    confusion_matrix,
    f1_score,
    mean_absolute_error,
    roc_auc_score,
    root_mean_squared_error,
)

Array = NDArray[np.floating]
Labels = NDArray[Any]


@dataclass(frozen=True)
class Metric:
    """A number computed from what a task keeps of each question: scores and labels.

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
        """Whether ``new`` improves on ``old``: anything does on None, any number on NaN."""
        if old is None or math.isnan(old):
            return old is None or not math.isnan(new)
        return new > old if self.maximise else new < old


def guess(scores: Array) -> NDArray[np.integer]:
    """The class of each row: the sign of one score, or the largest of several.

    Example:
        >>> guess(np.array([[-1.0], [2.0]])).tolist()
        [0, 1]
    """
    return (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(1)


def confusion(scores: Array, labels: Labels) -> list[list[int]]:
    """How often each class (row) was taken for each (column).

    Example:
        >>> confusion(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]))
        [[1, 0], [1, 0]]
    """
    classes = max(scores.shape[1], 2)
    counts: list[list[int]] = confusion_matrix(
        labels, guess(scores), labels=np.arange(classes)
    ).tolist()
    return counts


def hits(k: int) -> Metric:
    """Hits@k of ranks: the share of questions whose answer is ranked k-th or better.

    Example:
        >>> hits(10).compute(np.array([[1.0], [10.5]]), np.array([0, 0]))
        0.5
    """
    return Metric(f"hits@{k}", lambda ranks, _: float((ranks[:, 0] <= k).mean(dtype=np.float32)))


def _one_class(labels: Labels) -> bool:
    return not len(labels) or bool((labels == labels[0]).all())


def _rank_auc(scores: Array, labels: Labels) -> float:
    return math.nan if _one_class(labels) else float(roc_auc_score(labels, scores[:, 0]))


def _ap(scores: Array, labels: Labels) -> float:
    return math.nan if _one_class(labels) else float(average_precision_score(labels, scores[:, 0]))


def _accuracy(scores: Array, labels: Labels) -> float:
    return float(accuracy_score(labels, guess(scores)))


def _macro_f1(scores: Array, labels: Labels) -> float:
    return float(f1_score(labels, guess(scores), average="macro", zero_division=0))


def _mrr(ranks: Array, _: Labels) -> float:
    # In single precision, as TGB's evaluator: the same numbers to the last digit.
    return float((1.0 / ranks[:, 0].astype(np.float32)).mean())


def _no_compute(scores: Array, labels: Labels) -> float:
    raise NotImplementedError("the loop averages the task's loss itself")


#: Area under the ROC curve; NaN where all labels are the same.
auc = Metric("auc", _rank_auc)
#: Average precision; NaN where all labels are the same.
ap = Metric("ap", _ap)
#: Share of right answers: the sign of one score, or the largest of several.
accuracy = Metric("accuracy", _accuracy)
#: Mean over the classes that occur of the F1 score.
macro_f1 = Metric("macro_f1", _macro_f1)
#: Mean reciprocal rank; its scores are ranks.
mrr = Metric("mrr", _mrr)
#: Mean absolute error.
mae = Metric("mae", lambda s, y: float(mean_absolute_error(y, s[:, 0])), maximise=False)
#: Root of the mean squared error.
rmse = Metric("rmse", lambda s, y: float(root_mean_squared_error(y, s[:, 0])), maximise=False)
#: The task's own loss, averaged over all asked pairs.
loss = Metric("loss", _no_compute, maximise=False)
