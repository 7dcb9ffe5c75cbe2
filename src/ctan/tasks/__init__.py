"""Tasks: which nodes are asked, what the loss is, which metrics count, and under what protocol."""

from ctan.tasks.base import PHASES, Kept, Phase, Task
from ctan.tasks.labels import EdgeClassification, EdgeRegression, NodeLabels
from ctan.tasks.link import LinkPrediction
from ctan.tasks.metrics import (
    Metric,
    accuracy,
    ap,
    auc,
    confusion,
    hits,
    loss,
    macro_f1,
    mae,
    mrr,
    rmse,
)
from ctan.tasks.presets import PRESETS, Preset, preset
from ctan.tasks.protocol import Protocol
from ctan.tasks.ranking import Lists, Ranking, ranks
from ctan.tasks.registry import TASKS, make_task
from ctan.tasks.sequence import SequenceClassification

__all__ = [
    "PHASES",
    "PRESETS",
    "TASKS",
    "EdgeClassification",
    "EdgeRegression",
    "Kept",
    "LinkPrediction",
    "Lists",
    "Metric",
    "NodeLabels",
    "Phase",
    "Preset",
    "Protocol",
    "Ranking",
    "SequenceClassification",
    "Task",
    "accuracy",
    "ap",
    "auc",
    "confusion",
    "hits",
    "loss",
    "macro_f1",
    "mae",
    "make_task",
    "mrr",
    "preset",
    "ranks",
    "rmse",
]
