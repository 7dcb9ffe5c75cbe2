"""Run folders read back: how far a run is, and its best epoch ready to be played again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from ctan.errors import CheckpointError
from ctan.events import EventStream
from ctan.tasks import Lists
from ctan.training.checkpoint import load_tensors
from ctan.training.results import Progress, Run, results_of
from ctan.training.sources import lists_for, reopen, same_events
from ctan.training.spec import Spec, read_json, read_spec
from ctan.training.stage import Stage


def load_run(
    folder: str | PathLike[str],
    *,
    data: EventStream | str | PathLike[str] | None = None,
    lists: Mapping[str, Lists] | None = None,
    device: str = "cpu",
) -> Run:
    """A run with the weights and the state of its best epoch so far.

    Args:
        folder: the run folder.
        data: its events, or the file they are in; by default they are found by the run's record.
        lists: the fixed candidates of ranking, if ``fit`` was given some.
        device: ``cpu`` or ``cuda``.

    Returns:
        The run; its `results` have no ``test`` while it is not finished.

    Raises:
        CheckpointError: the folder is damaged, holds no run, or its events have changed.

    Example:
        >>> import tempfile
        >>> from ctan.tasks import Protocol
        >>> from ctan.training import fit, measure_test
        >>> stream = EventStream.from_arrays(src=[0, 1] * 20, dst=[2, 3] * 20, t=range(40))
        >>> folder = tempfile.mkdtemp()
        >>> run = fit(stream, options={"dim": 4}, protocol=Protocol(epochs=1), folder=folder)
        >>> again = load_run(folder, data=stream)
        >>> measure_test(again.stage, again.state)["test"] == run.results["test"]
        True
    """
    home = Path(folder)
    spec = read_spec(home)
    if not (home / "weights.safetensors").exists():
        raise CheckpointError(
            f"{home}: no epoch of this run was validated yet, so there is nothing to load. Go on "
            "with it first: the same `ctan train` command, or `fit` with the same arguments."
        )
    if isinstance(data, EventStream):
        stream = same_events(data, spec.fingerprint, "data")
    else:
        stream = reopen(spec.data, spec.fingerprint, data)
    # The weights drawn here are replaced below; the caller's generator stays as it was.
    with torch.random.fork_rng(devices=[]):
        stage = Stage.prepare(
            stream, spec.task, spec.model, spec.options, spec.protocol, device,
            lists_for(spec, lists),
        )  # fmt: skip
    weights, of_weights = load_tensors(home / "weights.safetensors")
    saved_state, of_state = load_tensors(home / "state.safetensors")
    if of_weights["epoch"] != of_state["epoch"]:
        raise CheckpointError(
            f"{home}: the weights are those of epoch {of_weights['epoch'] + 1}, the state that of "
            f"epoch {of_state['epoch'] + 1}: the run was stopped between the two. Go on with it."
        )
    try:
        stage.predictor.load_state_dict(weights)
        state = stage.predictor.model.init_state(stage.device).load(saved_state)
    except (RuntimeError, ValueError) as error:
        raise CheckpointError(
            f"{home}: the saved tensors do not fit the model of its spec.json: {error}"
        ) from error
    history, results = _record(home, spec, stage, of_weights["epoch"])
    return Run(spec, stage, state, history, results)


def progress_of(folder: Path) -> Progress | None:
    """How far the run in a folder has come; None before its first checkpoint.

    Reads the facts only, not the tensors: a checkpoint of a large graph is large.
    """
    path = folder / "checkpoint.safetensors"
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            facts = json.loads((file.metadata() or {})["facts"])
        known = {field.name for field in fields(Progress)}
        return Progress(**{k: v for k, v in facts["progress"].items() if k in known})
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise CheckpointError(
            f"{path}: damaged, or not written by this library ({error}). Restore it from a copy, "
            "or start the run anew in another folder."
        ) from error


def _record(
    home: Path, spec: Spec, stage: Stage, epoch: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """History and results of a run, as far as they are there; ``epoch`` is the best one."""
    if (home / "results.json").exists():
        return read_json(home / "history.json", list), read_json(home / "results.json")
    history = (progress_of(home) or Progress()).history
    # A run stopped just after a validation has not recorded it yet.
    val = history[epoch]["val"] if epoch < len(history) else {}
    return history, results_of(spec, stage, epoch, val)
