"""Where the time of a training step goes: a few batches, played unobserved and then observed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch

from ctan.errors import ProtocolError
from ctan.events import Split
from ctan.history import Batch
from ctan.nn.kernels import folded, gates, matmul
from ctan.nn.kernels import pairs as pair_scores
from ctan.tasks import Phase
from ctan.training import loop
from ctan.training.adam import Adam
from ctan.training.loop import play
from ctan.training.stage import Stage

#: torch's operators that multiply matrices (ours are timed apart), and that move rows by index.
PRODUCTS = ("aten::addmm", "aten::mm", "aten::bmm", "aten::baddbmm")
GATHERS = (
    "aten::index_select", "aten::index", "aten::index_copy_", "aten::_index_put_impl_",
    "aten::index_add_", "aten::scatter_add_", "aten::gather",
)  # fmt: skip


@dataclass(frozen=True)
class Profile:
    """What a training step spends its time on.

    Attributes:
        batches: how many were played.
        events: how many they hold.
        threads: how many torch may use.
        seconds: of one batch, unobserved: processor time where there is one thread.
        parts: seconds of one batch by part. ``sampling`` draws negatives and looks up neighbours;
            ``neighbours`` are the compiled loops that gather, weigh and sum; ``gathers`` are
            torch's own; ``products`` are the matrix products, the floor of a step; ``optimiser``;
            and ``rest``: activations, autograd, Python.
    """

    batches: int
    events: int
    threads: int
    seconds: float
    parts: dict[str, float]

    @property
    def floor(self) -> float:
        """Share of the time spent in matrix products."""
        return self.parts["products"] / self.seconds

    @property
    def rate(self) -> float:
        """Events a second."""
        return self.events / (self.seconds * self.batches)


def profile(stage: Stage, batches: int = 100, rounds: int = 3) -> Profile:
    """Play the last batches of the training part, learning, and see where the time goes.

    They are played unobserved for the total; with the library's own functions timed; and under
    torch's profiler for its operators. Each of these takes time itself, so ``rest`` is the total
    less all other parts. The weights move, as in training.

    Args:
        stage: what is played; its predictor must have weights, on the CPU.
        batches: how many, at most.
        rounds: how often unobserved; the median counts.

    Raises:
        ProtocolError: there is nothing to learn, or the stage is not on the CPU.

    Example:
        >>> from ctan.datasets import path_graphs
        >>> from ctan.tasks import Protocol
        >>> protocol = Protocol(split="graph", through_time="all")
        >>> stage = Stage.prepare(path_graphs(3), "sequence", "ctan", {"dim": 4}, protocol)
        >>> found = profile(stage, batches=4, rounds=1)
        >>> found.batches, list(found.parts)
        (4, ['sampling', 'neighbours', 'gathers', 'products', 'optimiser', 'rest'])
    """
    weights = list(stage.predictor.parameters())
    if not weights:
        raise ProtocolError("this model learns nothing: there is no training step to profile.")
    if stage.device.type != "cpu":
        raise ProtocolError(f"a profile is of the CPU, and this stage is on {stage.device}.")
    optimiser = Adam(weights, lr=stage.protocol.lr)
    played, events = _play(stage, batches, optimiser)  # what is compiled, is compiled now
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    totals = []
    for _ in range(rounds):
        started = clock()
        _play(stage, batches, optimiser)
        totals.append((clock() - started) / played)
    total = statistics.median(totals)
    with _watched(stage, optimiser, clock) as watched:
        _play(stage, batches, optimiser)
    products, gathers = _operators(stage, batches, optimiser, total * played)
    spent = {**watched, "gathers": gathers, "products": watched["products"] + products}
    order = ("sampling", "neighbours", "gathers", "products", "optimiser")
    parts = {name: spent[name] / played for name in order}
    parts["rest"] = max(0.0, total - sum(parts.values()))
    return Profile(played, events, torch.get_num_threads(), total, parts)


def _operators(
    stage: Stage, batches: int, optimiser: torch.optim.Optimizer, total: float
) -> tuple[float, float]:
    """Seconds in matrix products and in gathers, of ``total`` seconds unobserved."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
        worked, started = time.process_time(), time.perf_counter()
        _play(stage, batches, optimiser)
        worked, passed = time.process_time() - worked, time.perf_counter() - started
    # The profiler reads the wall clock: what other work on the machine took is no operator's.
    share = min(1.0, worked / passed) if torch.get_num_threads() == 1 else 1.0
    entries = seen.key_averages()
    calls = int(sum(entry.count for entry in entries))
    # To note a call takes time, which is noted as the operator's own.
    noting = max(0.0, share * passed - total) / max(1, calls)

    def spent(names: tuple[str, ...]) -> float:
        chosen = [entry for entry in entries if entry.key in names]
        noted = float(sum(entry.self_cpu_time_total for entry in chosen)) / 1e6
        own = noting * int(sum(entry.count for entry in chosen))
        return max(0.0, share * noted - own)

    return spent(PRODUCTS), spent(GATHERS)


def _play(stage: Stage, batches: int, optimiser: torch.optim.Optimizer) -> tuple[int, int]:
    phase = Phase("train", 0)
    state, count, events = stage.predictor.model.init_state(stage.device), 0, 0
    for played in play(stage, state, _last(stage, phase, batches), phase, optimiser):
        count, events = count + 1, events + len(played.events.position)
    if not count:
        raise ProtocolError("the training part is empty: there is no step to profile.")
    return count, events


def _last(stage: Stage, phase: Phase, batches: int) -> Iterable[Iterable[Batch]]:
    """The end of the training part, where histories are full; of graphs, their first segments."""
    if not isinstance(stage.parts, Split):
        return _so_many(stage.segments(phase), batches)
    part = stage.parts.train
    first = max(part.start, part.stop - batches * stage.protocol.batch_size)
    return [islice(stage.stretch(first, part.stop), batches)]


def _so_many(segments: Iterable[Iterable[Batch]], batches: int) -> Iterator[list[Batch]]:
    for segment in segments:
        part = list(islice(segment, batches))
        batches -= len(part)
        yield part
        if batches <= 0:
            return


@contextmanager
def _watched(
    stage: Stage, optimiser: torch.optim.Optimizer, clock: Callable[[], float]
) -> Iterator[dict[str, float]]:
    """Seconds spent in functions that torch's profiler does not know, while this is open."""
    spent = {"sampling": 0.0, "neighbours": 0.0, "products": 0.0, "optimiser": 0.0}
    places: list[tuple[Any, str, str]] = [
        (loop, "look", "sampling"),
        (type(stage.task), "ask", "sampling"),
        (folded, "attend_forward", "neighbours"),
        (folded, "attend_backward", "neighbours"),
        (pair_scores, "_forward", "neighbours"),
        (pair_scores, "_backward", "neighbours"),
        (gates, "_forward_in_parts", "neighbours"),
        (gates, "_backward_in_parts", "neighbours"),
        (matmul, "multiply", "products"),
        (folded, "multiply", "products"),
        (pair_scores, "multiply", "products"),
        (optimiser, "step", "optimiser"),
        (optimiser, "zero_grad", "optimiser"),
    ]

    def timed(function: Callable[..., Any], part: str) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            started = clock()
            try:
                return function(*args, **kwargs)
            finally:
                spent[part] += clock() - started

        return run

    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    for owner, name, part in places:
        setattr(owner, name, timed(getattr(owner, name), part))
    try:
        yield spent
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)
