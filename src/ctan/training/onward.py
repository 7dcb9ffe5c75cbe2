"""A run goes on: newer events, from the weights that it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import torch

from ctan.errors import CheckpointError
from ctan.events import EventStream
from ctan.tasks import Protocol
from ctan.training.checkpoint import load_tensors
from ctan.training.evaluate import Watch
from ctan.training.fit import _Fitting
from ctan.training.results import Run
from ctan.training.sources import lists_for
from ctan.training.spec import Spec, fingerprint, read_spec
from ctan.training.stage import Stage


def go_on(
    start: str | PathLike[str],
    stream: EventStream,
    *,
    protocol: Protocol | None = None,
    folder: str | Path | None = None,
    data: dict[str, Any] | None = None,
    device: str = "cpu",
    checkpoint_seconds: float = 30.0,
    watch: Watch | None = None,
    on_epoch: Callable[[dict[str, Any]], None] | None = None,
) -> Run:
    """Train on from the weights of a run's best epoch, on its events and newer ones.

    It is a run of its own: the stream is split anew, states are built from its first event, and
    only the weights are taken over. Task, model and options are those of the run.

    Args:
        start: the folder of the run to go on from; it stays as it is.
        stream: the events, the old ones first; without them the model starts with no history.
        protocol: how to train and measure; by default as that run.
        folder: where to keep the new run.
        data: where the stream came from, for the record.
        device: ``cpu`` or ``cuda``.
        checkpoint_seconds: at most this long between two checkpoints.
        watch: called after each batch.
        on_epoch: called with the record of each finished epoch.

    Raises:
        CheckpointError: the weights do not fit these events.

    Example:
        >>> import tempfile
        >>> from ctan.training import fit
        >>> stream = EventStream.from_arrays(src=[0, 1] * 40, dst=[2, 3] * 40, t=range(80))
        >>> few, folder = Protocol(epochs=2), tempfile.mkdtemp()
        >>> run = fit(stream[:40], options={"dim": 4}, protocol=few, folder=folder)
        >>> len(go_on(folder, stream).history)
        2
    """
    old, weights = start_of(start)
    protocol = protocol or old.protocol
    record = {**(data or {}), "from": origin(start)}
    spec = Spec(old.task, old.model, old.options, protocol, record, fingerprint(stream))
    home = None if folder is None else Path(folder)
    devices = [torch.device(device)] if device != "cpu" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(protocol.seed)
        lists = lists_for(spec)
        stage = Stage.prepare(stream, spec.task, spec.model, spec.options, protocol, device, lists)
        try:
            stage.predictor.load_state_dict(weights)
        except RuntimeError as error:
            raise CheckpointError(
                f"the weights of {start} do not fit these events (the same features of events and "
                f"nodes are needed, and the same readout): {error}"
            ) from error
        fitting = _Fitting(spec, stage, home, checkpoint_seconds, watch)
        fitting.open()
        fitting.train(on_epoch)
        return fitting.conclude()


def start_of(folder: str | PathLike[str]) -> tuple[Spec, dict[str, torch.Tensor]]:
    """What a run was, and the weights of its best epoch; its events are not needed."""
    home = Path(folder)
    spec = read_spec(home)
    if not (home / "weights.safetensors").exists():
        raise CheckpointError(
            f"{home}: no epoch of this run was validated yet, so there is nothing to go on from."
        )
    weights, _ = load_tensors(home / "weights.safetensors")
    return spec, weights


def origin(folder: str | PathLike[str]) -> dict[str, Any]:
    """The run that another one went on from, for the record of the other."""
    _, facts = load_tensors(Path(folder) / "weights.safetensors")
    return {
        "run": str(Path(folder).resolve()),
        "data": read_spec(Path(folder)).fingerprint,
        "epoch": facts["epoch"],
    }


def newer_events(folder: str | PathLike[str], stream: EventStream) -> int | None:
    """How many events of a stream come after those of a run; None if it does not begin with them.

    Example:
        >>> import tempfile
        >>> from ctan.training import fit
        >>> stream = EventStream.from_arrays(src=[0, 1] * 40, dst=[2, 3] * 40, t=range(80))
        >>> few, folder = Protocol(epochs=1), tempfile.mkdtemp()
        >>> run = fit(stream[:50], options={"dim": 4}, protocol=few, folder=folder)
        >>> newer_events(folder, stream), newer_events(folder, stream[1:])
        (30, None)
    """
    expected = read_spec(Path(folder)).fingerprint
    counts = expected.split(", ")
    events, nodes = int(counts[0].split()[0]), int(counts[1].split()[0])
    if len(stream) < events or stream.num_nodes < nodes:
        return None
    head = stream[:events]
    x = None if head.x is None else head.x[:nodes]
    same = fingerprint(replace(head, x=x, num_nodes=nodes)) == expected
    return len(stream) - events if same else None
