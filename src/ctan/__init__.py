"""Learning on continuous-time dynamic graphs: streams of events between nodes.

The names below are the ones most programs need; each room (`ctan.events`, `ctan.history`,
`ctan.nn`, `ctan.models`, `ctan.tasks`, `ctan.training`, `ctan.datasets`, `ctan.report`) has more.
They are imported when they are first used: reading events does not import torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ctan.errors import CtanError
    from ctan.events import EventStream, from_frame, read_events, write_events
    from ctan.models import build
    from ctan.tasks import Protocol
    from ctan.training.evaluate import evaluate
    from ctan.training.fit import fit
    from ctan.training.load import load_run
    from ctan.training.recipes import recipe
    from ctan.training.results import Run

_ROOMS = {
    "CtanError": "errors",
    "EventStream": "events",
    "Protocol": "tasks",
    "Run": "training",
    "build": "models",
    "evaluate": "training",
    "fit": "training",
    "from_frame": "events",
    "load_run": "training",
    "read_events": "events",
    "recipe": "training",
    "write_events": "events",
}

__all__ = [
    "CtanError",
    "EventStream",
    "Protocol",
    "Run",
    "build",
    "evaluate",
    "fit",
    "from_frame",
    "load_run",
    "read_events",
    "recipe",
    "write_events",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'ctan' has no attribute {name!r}")
    return getattr(import_module(f"ctan.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
