"""Fitting and evaluating: one loop for every model and task, and checkpoints."""

from ctan.training.checkpoint import load_tensors, save_tensors
from ctan.training.evaluate import Evaluation, Tick, Watch, evaluate
from ctan.training.fit import Run, fit
from ctan.training.loop import Played, play
from ctan.training.spec import Spec, environment, fingerprint
from ctan.training.stage import Predictor, Stage, measure

__all__ = [
    "Evaluation",
    "Played",
    "Predictor",
    "Run",
    "Spec",
    "Stage",
    "Tick",
    "Watch",
    "environment",
    "evaluate",
    "fingerprint",
    "fit",
    "load_tensors",
    "measure",
    "play",
    "save_tensors",
]
