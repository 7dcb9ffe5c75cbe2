"""Tasks: which nodes are asked, what the loss is, which metrics count, and under what protocol."""

from ctan.tasks.base import PHASES, Phase, Task
from ctan.tasks.link import LinkPrediction
from ctan.tasks.metrics import Metric, accuracy, ap, auc, loss
from ctan.tasks.protocol import Protocol
from ctan.tasks.registry import TASKS, make_task
from ctan.tasks.sequence import SequenceClassification

__all__ = [
    "PHASES",
    "TASKS",
    "LinkPrediction",
    "Metric",
    "Phase",
    "Protocol",
    "SequenceClassification",
    "Task",
    "accuracy",
    "ap",
    "auc",
    "loss",
    "make_task",
]
