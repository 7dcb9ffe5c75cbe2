"""Fitting and evaluating: one loop for every model and task, and checkpoints."""

from ctan.training.adam import Adam
from ctan.training.answers import FORMS, answers
from ctan.training.checkpoint import load_tensors, save_tensors
from ctan.training.evaluate import Evaluation, Tick, Watch, by_novelty, evaluate, measured
from ctan.training.fit import fit
from ctan.training.folders import claimed, folder_for
from ctan.training.lists import read_lists
from ctan.training.load import load_run, progress_of
from ctan.training.loop import Played, play
from ctan.training.onward import go_on, newer_events, origin, start_of
from ctan.training.prequential import Step, blocks, prequential, stage_for
from ctan.training.profile import Profile, profile
from ctan.training.recipes import Recipe, recipe
from ctan.training.replay import embed, replay, staged, under
from ctan.training.results import Run, measure_test
from ctan.training.sources import open_data, reopen
from ctan.training.spec import Spec, environment, fingerprint, read_json, read_spec
from ctan.training.stage import Predictor, Stage, measure

__all__ = [
    "FORMS",
    "Adam",
    "Evaluation",
    "Played",
    "Predictor",
    "Profile",
    "Recipe",
    "Run",
    "Spec",
    "Stage",
    "Step",
    "Tick",
    "Watch",
    "answers",
    "blocks",
    "by_novelty",
    "claimed",
    "embed",
    "environment",
    "evaluate",
    "fingerprint",
    "fit",
    "folder_for",
    "go_on",
    "load_run",
    "load_tensors",
    "measure",
    "measure_test",
    "measured",
    "newer_events",
    "open_data",
    "origin",
    "play",
    "prequential",
    "profile",
    "progress_of",
    "read_json",
    "read_lists",
    "read_spec",
    "recipe",
    "reopen",
    "replay",
    "save_tensors",
    "stage_for",
    "staged",
    "start_of",
    "under",
]
