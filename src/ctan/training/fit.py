"""Fit a model to a stream: epochs, validation, early stopping, checkpoints."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from ctan.errors import CheckpointError
from ctan.events import EventStream
from ctan.tasks import Lists, Phase, Protocol
from ctan.training.adam import Adam
from ctan.training.checkpoint import (
    generators,
    load_tensors,
    pack_optimiser,
    prefixed,
    save_tensors,
    set_generators,
    under,
    unpack_optimiser,
    write_whole,
)
from ctan.training.evaluate import Tick, Watch, evaluate
from ctan.training.loop import play
from ctan.training.results import Progress, Run, measure_test, results_of
from ctan.training.sources import lists_for
from ctan.training.spec import Spec, differences, environment, fingerprint, read_spec
from ctan.training.stage import Stage


def fit(
    stream: EventStream,
    *,
    task: str = "link",
    model: str = "ctan",
    options: dict[str, Any] | None = None,
    protocol: Protocol | None = None,
    folder: str | Path | None = None,
    data: dict[str, Any] | None = None,
    lists: Mapping[str, Lists] | None = None,
    device: str = "cpu",
    checkpoint_seconds: float = 30.0,
    watch: Watch | None = None,
    on_epoch: Callable[[dict[str, Any]], None] | None = None,
) -> Run:
    """Train a model on a stream and measure it on the test part at its best epoch.

    With a ``folder``, the run is saved as it goes; called again with the same arguments it goes on
    where it stopped, to the same bits.

    Args:
        stream: the events.
        task: name of the task.
        model: name of the model.
        options: options of the model.
        protocol: how to train and measure.
        folder: where to keep the run; nothing is written without one.
        data: where the stream came from, for the record.
        lists: fixed candidates of ranking by phase, for ``negatives="listed"``; by default those
            that the data set of the record publishes.
        device: ``cpu`` or ``cuda``.
        checkpoint_seconds: at most this long between two checkpoints (0: after every batch).
        watch: called after each batch.
        on_epoch: called with the record of each finished epoch, as it stands in the history.

    Returns:
        The finished run.

    Example:
        >>> from ctan.datasets import path_graphs
        >>> run = fit(
        ...     path_graphs(3, graphs=40), task="sequence", options={"dim": 8},
        ...     protocol=Protocol(split="graph", through_time="all", epochs=2, lr=1e-2),
        ... )
        >>> sorted(run.results["test"])
        ['accuracy', 'loss']
    """
    protocol = protocol or Protocol()
    spec = Spec(task, model, options or {}, protocol, data or {}, fingerprint(stream))
    home = None if folder is None else Path(folder)
    devices = [torch.device(device)] if device != "cpu" else []
    # The run draws from torch's generator; whoever calls it gets theirs back untouched.
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(protocol.seed)
        lists = lists_for(spec, lists)
        stage = Stage.prepare(stream, task, model, spec.options, protocol, device, lists)
        fitting = _Fitting(spec, stage, home, checkpoint_seconds, watch)
        fitting.open()
        fitting.train(on_epoch)
        return fitting.conclude()


class _Fitting:
    """The moving parts of a run, kept together so that they can be saved and restored together."""

    def __init__(
        self, spec: Spec, stage: Stage, home: Path | None, seconds: float, watch: Watch | None
    ) -> None:
        protocol = spec.protocol
        self.spec, self.stage, self.home, self.seconds = spec, stage, home, seconds
        self.watch = watch
        weights = list(stage.predictor.parameters())
        # A model without weights has nothing to train: it is validated once, and measured.
        self.optimiser = (
            Adam(weights, lr=protocol.lr, weight_decay=protocol.weight_decay) if weights else None
        )
        self.metric = stage.task.metrics[0]
        self.progress = Progress()
        self.state = stage.predictor.model.init_state(stage.device)
        # Sum of losses and number of pairs of the epoch, exact enough to resume to the bit.
        self.loss = torch.zeros(2, dtype=torch.float64, device=stage.device)
        self.best: dict[str, torch.Tensor] = {}
        self.saved_at = time.monotonic()

    def open(self) -> None:
        """Make the run folder, or go on from what it holds."""
        if self.home is None:
            return
        described = {**self.spec.to_dict(), "environment": environment()}
        written = self.home / "spec.json"
        if written.exists():
            changed = differences(read_spec(self.home), self.spec)
            if changed:
                raise CheckpointError(
                    f"{self.home} holds another run: {'; '.join(changed)}. "
                    "Choose another folder, or the same settings to go on with it."
                )
        else:
            write_whole(written, _pretty(described))
        if (self.home / "checkpoint.safetensors").exists():
            self._restore()

    def train(self, on_epoch: Callable[[dict[str, Any]], None] | None = None) -> None:
        """Play epochs until the last, or until nothing improves any more."""
        progress, protocol = self.progress, self.spec.protocol
        while not progress.finished:
            started = time.perf_counter()
            if self.optimiser is not None and not progress.trained:
                self._train_epoch()
            trained = time.perf_counter()
            record: dict[str, Any] = {
                "epoch": progress.epoch,
                "loss": float(self.loss[0] / self.loss[1].clamp(min=1)),
            }
            if self.optimiser is not None:
                record["lr"] = self.optimiser.param_groups[0]["lr"]
            last = self.optimiser is None or progress.epoch + 1 >= protocol.epochs
            if last or (progress.epoch + 1) % protocol.validate_every == 0:
                self._validate(record)
                self._slow_down_or_stop()
            progress.history.append(record)
            progress.finished |= last
            progress.epoch += 1
            progress.batches, progress.trained = 0, False
            self.loss.zero_()
            self.state = self.stage.predictor.model.init_state(self.stage.device)
            self._note_time(record["epoch"], trained - started, time.perf_counter() - trained)
            self._save()
            if on_epoch:
                on_epoch(record)

    def conclude(self) -> Run:
        """Measure the best epoch on the test part."""
        stage, progress = self.stage, self.progress
        stage.predictor.load_state_dict(under("weights", self.best))
        model = stage.predictor.model
        kept = model.init_state(stage.device).load(under("state", self.best))
        moving = model.init_state(stage.device).load(under("state", self.best))
        val = progress.history[progress.best_epoch]["val"]
        results = results_of(self.spec, stage, progress.best_epoch, val)
        results |= measure_test(stage, moving, self.watch)
        if self.home is not None:
            write_whole(self.home / "history.json", _pretty(progress.history))
            write_whole(self.home / "results.json", _pretty(results))
        return Run(self.spec, stage, kept, progress.history, results)

    def _train_epoch(self) -> None:
        progress, stage = self.progress, self.stage
        phase = Phase("train", progress.epoch)
        total = stage.batches(phase) if self.watch else 0
        played_before = progress.batches
        segments = _without_first(stage.segments(phase), played_before)
        for played in play(stage, self.state, segments, phase, self.optimiser):
            self.state = played.state
            progress.batches += 1
            if played.loss is not None:
                pairs = len(played.labels)
                self.loss += torch.stack(
                    [played.loss.double() * pairs, self.loss.new_tensor(pairs)]
                )
            if self.watch:
                note = f"epoch {progress.epoch + 1}/{self.spec.protocol.epochs}"
                self.watch(Tick(phase, progress.batches, total, note))
            if played.settled and time.monotonic() - self.saved_at >= self.seconds:
                self._save()
        progress.trained = True
        if time.monotonic() - self.saved_at >= self.seconds:
            self._save()

    def _validate(self, record: dict[str, Any]) -> None:
        progress, stage = self.progress, self.stage
        result = evaluate(stage, self.state, Phase("val"), self.watch)
        record["val"] = result.metrics
        value = result.metrics[self.metric.name]
        if self.metric.better(value, progress.best):
            progress.best, progress.best_epoch = value, progress.epoch
            weights = {k: v.clone() for k, v in stage.predictor.state_dict().items()}
            state = {k: v.clone() for k, v in result.state.tensors().items()}
            self.best = {**prefixed("weights", weights), **prefixed("state", state)}
            if self.home is not None:
                facts = {"epoch": progress.epoch, self.metric.name: value}
                save_tensors(self.home / "weights.safetensors", weights, facts)
                save_tensors(self.home / "state.safetensors", state, facts)

    def _slow_down_or_stop(self) -> None:
        """After so many epochs without improvement, halve the learning rate; after more, stop."""
        progress, protocol = self.progress, self.spec.protocol
        stale = progress.epoch - progress.best_epoch
        progress.finished = bool(protocol.patience and stale >= protocol.patience)
        since = progress.epoch - max(progress.best_epoch, progress.halved)
        if self.optimiser is not None and protocol.plateau and since >= protocol.plateau:
            progress.halved = progress.epoch
            for group in self.optimiser.param_groups:
                group["lr"] /= 2

    def _save(self) -> None:
        if self.home is None or self.optimiser is None:
            return
        optimiser, groups = pack_optimiser(self.optimiser)
        tensors = {
            **prefixed("weights", self.stage.predictor.state_dict()),
            **prefixed("optimiser", optimiser),
            **prefixed("state", self.state.tensors()),
            **prefixed("best", self.best),
            **prefixed("rng", generators(self.stage.device)),
            "loss": self.loss,
        }
        facts = {"progress": asdict(self.progress), "groups": groups}
        save_tensors(self.home / "checkpoint.safetensors", tensors, facts)
        self.saved_at = time.monotonic()

    def _restore(self) -> None:
        assert self.home is not None
        assert self.optimiser is not None
        path = self.home / "checkpoint.safetensors"
        tensors, facts = load_tensors(path)
        try:
            self.progress = Progress(**facts["progress"])
            self.stage.predictor.load_state_dict(under("weights", tensors))
            unpack_optimiser(self.optimiser, under("optimiser", tensors), facts["groups"])
            self.state.load(under("state", tensors))
            self.best = under("best", tensors)
            self.loss.copy_(tensors["loss"])
            set_generators(self.stage.device, under("rng", tensors))
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"{path}: does not fit this model or this version of the library ({error}). "
                "Start the run anew in another folder."
            ) from error

    def _note_time(self, epoch: int, train: float, validate: float) -> None:
        # Apart from the history: wall-clock differs between runs whose numbers are the same.
        if self.home is not None:
            with open(self.home / "timings.jsonl", "a") as file:
                line = {"epoch": epoch, "train_s": round(train, 4), "val_s": round(validate, 4)}
                file.write(json.dumps(line) + "\n")


def _without_first(segments: Any, skip: int) -> Any:
    """The same batches without the first ``skip``."""
    for segment in segments:
        batches = iter(segment)
        while skip and next(batches, None) is not None:
            skip -= 1
        yield batches


def _pretty(value: Any) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()
