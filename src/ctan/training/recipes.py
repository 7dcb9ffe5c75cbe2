"""For each task a protocol and options that train well: where to start, not what to report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ctan.errors import unknown_name
from ctan.models import MODELS
from ctan.tasks import TASKS, Protocol


@dataclass(frozen=True)
class Recipe:
    """A starting point.

    Attributes:
        protocol: how to train and measure.
        options: options of the model.

    Example:
        >>> Recipe().protocol == Protocol()
        True
    """

    protocol: Protocol = field(default_factory=Protocol)
    options: dict[str, Any] = field(default_factory=dict)


_PROTOCOLS = {
    # A log of interactions, this afternoon: a larger learning rate than the paper's, and an end
    # once validation has not improved for five epochs (it often dips before it rises).
    "link": Protocol(lr=1e-3, epochs=20, patience=5),
    # Gradients through time are what makes long paths learnable.
    "sequence": Protocol(
        split="graph", through_time="all", readout="dst", lr=1e-3, epochs=60, weight_decay=1e-7
    ),
}
_OPTIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("link", "ctan"): {"init": "isometric"},
    ("sequence", "ctan"): {
        "dim": 50,
        "epsilon": 1.0,
        "gamma": 0.1,
        "time_dim": 1,
        "psi": "concat",
    },
    ("sequence", "jodie"): {"dim": 50, "time_dim": 1},
    ("sequence", "tgat"): {"dim": 16, "time_dim": 1, "layers": 5},
}


def recipe(task: str, model: str = "ctan") -> Recipe:
    """The protocol and the options to start from.

    Args:
        task: name of the task.
        model: name of the model.

    Example:
        >>> start = recipe("sequence")
        >>> start.protocol.through_time, start.options["dim"]
        ('all', 50)
    """
    if task not in TASKS:
        raise unknown_name("task", task, TASKS)
    if model not in MODELS:
        raise unknown_name("model", model, MODELS)
    return Recipe(_PROTOCOLS.get(task, Protocol()), dict(_OPTIONS.get((task, model), {})))
