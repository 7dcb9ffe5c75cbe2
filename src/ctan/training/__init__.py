"""Fitting and evaluating: one loop for every model and task, and checkpoints."""

from ctan.training.checkpoint import load_tensors, save_tensors
from ctan.training.evaluate import Evaluation, Tick, Watch, by_novelty, evaluate
from ctan.training.fit import Run, fit, measure_test
from ctan.training.folders import claimed, folder_for
from ctan.training.load import load_run, progress_of
from ctan.training.loop import Played, play
from ctan.training.prequential import Step, blocks, prequential, stage_for
from ctan.training.recipes import Recipe, recipe
from ctan.training.replay import embed, replay, under
from ctan.training.sources import open_data, reopen
from ctan.training.spec import Spec, environment, fingerprint, read_json, read_spec
from ctan.training.stage import Predictor, Stage, measure

__all__ = [
    "Evaluation",
    "Played",
    "Predictor",
    "Recipe",
    "Run",
    "Spec",
    "Stage",
    "Step",
    "Tick",
    "Watch",
    "blocks",
    "by_novelty",
    "claimed",
    "embed",
    "environment",
    "evaluate",
    "fingerprint",
    "fit",
    "folder_for",
    "load_run",
    "load_tensors",
    "measure",
    "measure_test",
    "open_data",
    "play",
    "prequential",
    "progress_of",
    "read_json",
    "read_spec",
    "recipe",
    "reopen",
    "replay",
    "save_tensors",
    "stage_for",
    "under",
]
