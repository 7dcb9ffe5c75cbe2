"""The contract of models, as checks that every model must pass.

`make(dims)` builds a model, with the same weights each time. A check raises AssertionError where
the model breaks the contract. The checks play small streams with ties, self-loops, repeated edges
and a hub through the library's own loop; what is asked is frozen, so that a changed event changes
nothing but itself.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor

from ctan.events import EventStream, GraphSplit, Split
from ctan.history import Batch
from ctan.models import MODELS, Asked, Dims, Events, Model, NodeEncoder, State, View, look
from ctan.tasks import TASKS, Phase, Protocol, Task
from ctan.training import Predictor, Stage, load_tensors, play, save_tensors
from ctan.training.stage import SPLITS
from sample_streams import busy_graphs, busy_stream

Make = Callable[[Dims], Model]
EVERYTHING = Phase("test")
#: The key's bias cancels in the softmax of attention: no score depends on it.
WITHOUT_GRADIENT = ("key.bias",)


@dataclass(frozen=True)
class Setting:
    """A road that a model must travel without leaking."""

    name: str
    stream: EventStream
    protocol: Protocol

    @property
    def lockstep(self) -> bool:
        return self.stream.graph is not None

    def __str__(self) -> str:
        return self.name


def settings() -> dict[str, Setting]:
    """Link prediction under both visibilities, and graphs that are observed before they answer."""
    whole = {"int64": busy_stream(0), "float64": busy_stream(1, time="float64")}
    plain = busy_stream(2, node_dim=0, edge_dim=0)
    batch = Protocol(batch_size=6, graph_batch=2, negatives_known=True)
    found = [
        Setting("stale", whole["int64"], batch),
        Setting("stale, observed", whole["float64"], batch.with_(update_from="observed")),
        Setting("stale, uniform", whole["int64"], batch.with_(neighbors="uniform")),
        Setting("stale, without features", plain, batch),
        Setting("causal", whole["float64"], batch.with_(visibility="causal")),
        Setting(
            "causal, observed",
            whole["int64"],
            batch.with_(visibility="causal", update_from="observed"),
        ),
        Setting("lockstep", busy_graphs(0), batch.with_(split="graph", readout="dst")),
    ]
    return {setting.name: setting for setting in found}


def shorter(setting: Setting, events: int, protocol: dict[str, Any]) -> Setting:
    """The same road over the first events only, under a changed protocol."""
    return replace(
        setting, stream=setting.stream[:events], protocol=setting.protocol.with_(**protocol)
    )


class Frozen(Task):
    """Asks of each event what was fixed beforehand, whatever the event has become since."""

    name, outputs, metrics = "frozen", 1, ()

    def __init__(self, stream: EventStream, observe_first: bool, seed: int = 5) -> None:
        self.observe_first = observe_first
        rng = np.random.default_rng(seed)
        self.pairs: list[list[tuple[int, int]]] = []
        for e in range(len(stream)):
            u, v = int(stream.src[e]), int(stream.dst[e])
            others = [] if observe_first else rng.integers(0, stream.num_nodes, 2).tolist()
            self.pairs.append([(u, v), *((u, other) for other in others)])

    def ask(self, stream: EventStream, batch: Batch, events: Events, phase: Phase) -> Asked:
        rows = [(u, v, i) for i, e in enumerate(events.position) for u, v in self.pairs[e]]
        src, dst, event = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        return Asked(src.copy(), dst.copy(), event.copy())

    def labels(self, stream: EventStream, events: Events, asked: Asked) -> np.ndarray:
        return (asked.dst % 2).astype(np.int64)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        target = labels.to(scores.dtype)
        return torch.nn.functional.binary_cross_entropy_with_logits(scores[:, 0], target)


def prepare(make: Make, setting: Setting, stream: EventStream | None = None) -> Stage:
    """A stage on which all of the stream is the test part; the model is measured on all of it."""
    stream = setting.stream if stream is None else stream
    tested: Split | GraphSplit = Split(0, 0, len(stream), "all")
    measured: Split | GraphSplit = Split(*[len(stream)] * 3, "all")
    if stream.graph is not None:
        tested = measured = GraphSplit(*[np.unique(stream.graph)] * 3)

    torch.manual_seed(1)
    with (
        patch.dict(MODELS, {"under test": make}),
        patch.dict(TASKS, {"frozen": lambda *_: Frozen(stream, setting.lockstep)}),
        patch.dict(SPLITS, {setting.protocol.split: lambda _: measured}),
    ):
        stage = Stage.prepare(stream, "frozen", "under test", {}, setting.protocol)
    stage.predictor.to(torch.get_default_dtype()).eval()
    return replace(stage, parts=tested)


def on(stage: Stage, make: Make, setting: Setting, stream: EventStream) -> Stage:
    """The same model and the same questions on another stream."""
    return replace(prepare(make, setting, stream), predictor=stage.predictor, task=stage.task)


def fresh(stage: Stage) -> State:
    return stage.predictor.model.init_state()


def scores(stage: Stage, state: State | None = None, until: int | None = None) -> dict[int, Tensor]:
    """The scores of each event's questions, by position; of a stream, up to the time of `until`."""
    segments = [list(segment) for segment in stage.segments(EVERYTHING)]
    if until is not None and stage._lockstep is None:
        now = stage.stream.t[until]
        segments = [[b for b in part if stage.stream.t[b.events[0]] <= now] for part in segments]
    state = fresh(stage) if state is None else state
    seen: dict[int, Tensor] = {}
    batches = [batch for segment in segments for batch in segment]
    for played, batch in zip(play(stage, state, segments, EVERYTHING), batches, strict=True):
        sizes = [len(stage.task.pairs[e]) for e in batch.events]
        seen.update(zip(batch.events.tolist(), played.scores.split(sizes), strict=True))
    return seen


def states(stage: Stage) -> Iterator[tuple[State, Batch]]:
    """The state before each batch; play goes on with it."""
    state = fresh(stage)
    for segment in stage.segments(EVERYTHING):
        for batch in segment:
            yield state, batch
            for played in play(stage, state, [[batch]], EVERYTHING):
                state = played.state


def same_bits(a: dict[str, Tensor], b: dict[str, Tensor]) -> bool:
    return a.keys() == b.keys() and all(a[name].equal(b[name]) for name in a)


def copied(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in tensors.items()}


def assert_same(a: dict[int, Tensor], b: dict[int, Tensor], what: str) -> None:
    assert a.keys() == b.keys(), what
    for e in a:
        assert a[e].equal(b[e]), f"{what}: the scores of event {e} differ"


# (a) Nothing at or after the visibility limit changes a score.


def check_visibility(make: Make, setting: Setting, every: int = 1) -> None:
    """Change each later event, in turn: features and endpoints, then time. Compare scores."""
    stage = prepare(make, setting)
    before = scores(stage)
    compared = 0
    for e in range(1, len(setting.stream), every):
        for changed in (with_other_event(setting.stream, e), with_other_time(setting.stream, e)):
            if changed is None:
                continue
            after = scores(on(stage, make, setting, changed), until=e)
            for f in blind_to(setting, e, changed):
                assert_unmoved(before[f], after[f], f"event {e} changes the scores of event {f}")
                compared += 1
    assert compared > len(setting.stream)


def assert_unmoved(a: Tensor, b: Tensor, what: str) -> None:
    # The matrices of a batch may have other shapes: sums may round otherwise, and nothing more.
    limit = {torch.float64: 1e-10, torch.float32: 3e-6}[a.dtype]
    assert (a - b).abs().max() <= limit, f"{what} by {float((a - b).abs().max()):.1e}"


def with_other_event(stream: EventStream, e: int) -> EventStream:
    """Event e with other features, between other nodes (of the same graph) that are often met."""
    src, dst = stream.src.copy(), stream.dst.copy()
    nodes = stream.num_nodes
    low = 0
    if stream.graph is not None:
        ends = np.concatenate([stream.src, stream.dst])[np.tile(stream.graph, 2) == stream.graph[e]]
        low, nodes = int(ends.min()), int(ends.max()) - int(ends.min()) + 1
    src[e] = low + (src[e] - low + 1) % nodes
    dst[e] = low + (dst[e] - low + 2) % nodes
    msg = stream.msg
    if msg is not None:
        msg = msg.copy()
        msg[e] = 10 - 3 * msg[e]
    return replace(stream, src=src, dst=dst, msg=msg)


def with_other_time(stream: EventStream, e: int) -> EventStream | None:
    """Event e at another time between its neighbours', so that the order stays; None if stuck."""
    low = stream.t[e - 1]
    high = stream.t[e + 1] if e + 1 < len(stream) else stream.t[e] + 10
    choices = [t for t in (low, high, (low + high) // 2) if t != stream.t[e] and low <= t <= high]
    if not choices:
        return None
    t = stream.t.copy()
    t[e] = choices[e % len(choices)]
    return replace(stream, t=t)


def blind_to(setting: Setting, e: int, changed: EventStream) -> list[int]:
    """The events whose questions may not see event e, neither as it was nor as it is."""
    stream, size = setting.stream, setting.protocol.batch_size
    if setting.lockstep:
        return [f for f in range(len(stream)) if f < e or stream.graph[f] != stream.graph[e]]
    retimed = bool(changed.t[e] != stream.t[e])
    if setting.protocol.visibility == "stale":
        found = list(range(min(e // size * size + size, len(stream))))
    else:
        moment = min(stream.t[e], changed.t[e])
        found = [f for f in range(len(stream)) if stream.t[f] <= moment]
    # The time of an event is part of its own question.
    return [f for f in found if f != e or not retimed]


# (b) Scoring changes nothing.


def check_purity(make: Make, setting: Setting) -> None:
    """Scoring leaves State and weights bit for bit as they were, and can be repeated."""
    stage = prepare(make, setting)
    for state, batch in states(stage):
        remembered, weights = copied(state.tensors()), copied(stage.predictor.state_dict())
        first, second = (ask(stage, state, batch) for _ in "ab")
        assert first.equal(second), "asking twice gives two answers"
        assert same_bits(remembered, state.tensors()), "scoring changed the state"
        assert same_bits(weights, stage.predictor.state_dict()), "scoring changed the weights"


def see(
    stage: Stage, batch: Batch, asked: Asked | None = None, observed: bool = False
) -> tuple[Events, View]:
    """A batch's events and what can be seen for its questions (or for others)."""
    events = Events.of(stage.stream, batch.events)
    asked = asked or stage.task.ask(stage.stream, batch, events, EVERYTHING)
    view = look(
        stage.index,
        stage.features,
        stage.predictor.model.sees,
        batch,
        events,
        asked,
        observed=observed,
        strategy=stage.protocol.neighbors,
        pairs=stage.pairs,
    )
    return events, view


@torch.no_grad()
def ask(
    stage: Stage,
    state: State,
    batch: Batch,
    asked: Asked | None = None,
    observed: bool = False,
) -> Tensor:
    """The scores of a batch's questions (or of others) in a given state."""
    _, view = see(stage, batch, asked, observed)
    return stage.predictor.score(state, view, recall=observed)[0]


def check_questions(make: Make, setting: Setting) -> None:
    """What is remembered depends on what happened, never on what was asked."""
    first = prepare(make, setting)
    if setting.lockstep:
        return  # there each event is asked about itself
    second = replace(first, task=Frozen(setting.stream, False, seed=6))
    for (a, _), (b, _) in zip(states(first), states(second), strict=True):
        ours, theirs = a.tensors(), b.tensors()
        for name, value in ours.items():
            assert_unmoved(value.double(), theirs[name].double(), f"the questions change {name!r}")


@torch.no_grad()
def check_embedded(make: Make, setting: Setting) -> None:
    """Observing right after embedding, with what embedding found out, gives the same state."""
    stage = prepare(make, setting)
    model = stage.predictor.model
    for state, batch in states(stage):
        events, view = see(stage, batch)
        plain = model.observe(copy.deepcopy(state), *see(stage, batch))
        if isinstance(model, NodeEncoder):
            z = model.embed(state, view)
            told = model.observe(copy.deepcopy(state), events, view, z)
            for name, value in plain.tensors().items():
                found = told.tensors()[name].double()
                assert_unmoved(value.double(), found, f"embedding first changes {name!r}")


# (c) Reset, save and load, seeds.


def check_reset(make: Make, setting: Setting) -> None:
    """A state made anew after a run is the state before it, and gives the same scores."""
    stage = prepare(make, setting)
    start = copied(fresh(stage).tensors())
    first = scores(stage)
    assert same_bits(start, fresh(stage).tensors()), "a new state is not as the first was"
    assert_same(first, scores(stage), "after a reset")
    assert_same(first, scores(prepare(make, setting)), "built anew with the same seed")


def check_saving(make: Make, setting: Setting, folder: Path) -> None:
    """State and weights that are saved half-way and loaded elsewhere go on with the same bits."""
    stage = prepare(make, setting)
    halfway = stage.batches(EVERYTHING) // 2
    state, batch = next(islice(states(stage), halfway, None))
    save_tensors(folder / "weights.safetensors", stage.predictor.state_dict(), {})
    save_tensors(folder / "state.safetensors", state.tensors(), {})
    other = prepare(make, setting)
    with torch.no_grad():
        for parameter in other.predictor.parameters():
            parameter.zero_()
    other.predictor.load_state_dict(load_tensors(folder / "weights.safetensors")[0])
    loaded = fresh(other).load(load_tensors(folder / "state.safetensors")[0])
    assert same_bits(state.tensors(), loaded.tensors()), "the state came back changed"
    assert ask(stage, state, batch).equal(ask(other, loaded, batch)), "other scores once loaded"
    for a, b in zip(
        play(stage, state, [[batch]], EVERYTHING),
        play(other, loaded, [[batch]], EVERYTHING),
        strict=True,
    ):
        assert a.scores.equal(b.scores), "other scores once loaded"
        assert same_bits(a.state.tensors(), b.state.tensors()), "another state once loaded"


# (d) Many at once equal one at a time.


def check_one_by_one(make: Make, setting: Setting) -> None:
    """One-vs-many in one batch equals each pair by itself, before and after the events."""
    stage = prepare(make, setting)
    nodes = stage.stream.num_nodes
    for number, (state, batch) in enumerate(states(stage)):
        if number % 3 != 2:
            continue
        rows = np.unique(np.linspace(0, len(batch) - 1, 3).astype(np.int64))
        src = np.repeat(stage.stream.src[batch.events[rows]], nodes)
        dst = np.tile(np.arange(nodes), len(rows))
        many = Asked(src, dst, np.repeat(rows, nodes))
        _compare_one_by_one(stage, state, batch, many, observed=False)
        if stage.task.observe_first:
            # What a labelled event is asked about is its own pair, once it is observed.
            events, view = see(stage, batch, observed=True)
            own = stage.task.ask(stage.stream, batch, events, EVERYTHING)
            with torch.no_grad():
                after = stage.predictor.model.observe(copy.deepcopy(state), events, view)
            _compare_one_by_one(stage, after, batch, own, observed=True)


def _compare_one_by_one(
    stage: Stage, state: State, batch: Batch, asked: Asked, observed: bool
) -> None:
    together = ask(stage, state, batch, asked, observed)
    for i in range(len(asked)):
        one = Asked(asked.src[i : i + 1], asked.dst[i : i + 1], asked.event[i : i + 1])
        alone = ask(stage, state, batch, one, observed)
        assert_unmoved(together[i], alone[0], f"pair {asked.src[i]}, {asked.dst[i]} alone differs")


# (e) Gradients.


class Gradients:
    """An optimiser that only looks on."""

    def __init__(self, predictor: Predictor) -> None:
        self.named = dict(predictor.named_parameters())
        self.steps: list[dict[str, Tensor | None]] = []

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self.named.values():
            parameter.grad = None

    def step(self) -> None:
        grads = {name: p.grad for name, p in self.named.items()}
        self.steps.append({k: None if g is None else g.clone() for k, g in grads.items()})


def gradients(stage: Stage) -> list[dict[str, Tensor | None]]:
    """The gradients of each step of the optimiser over one epoch."""
    watcher: Any = Gradients(stage.predictor)
    for _ in play(stage, fresh(stage), stage.segments(EVERYTHING), EVERYTHING, watcher):
        pass
    stage.predictor.eval()
    return watcher.steps


def check_gradients(make: Make, setting: Setting) -> None:
    """With and without gradients through time: all finite, and every live weight gets one."""
    if not list(prepare(make, setting).predictor.parameters()):
        return
    for through_time in (0, 2, "all"):
        protocol = setting.protocol.with_(through_time=through_time)
        stage = prepare(make, replace(setting, protocol=protocol))
        steps = gradients(stage)
        assert steps
        for name, parameter in stage.predictor.named_parameters():
            given = [step[name] for step in steps if step[name] is not None]
            assert all(g.isfinite().all() for g in given), f"the gradient of {name} is not finite"
            if not name.endswith(WITHOUT_GRADIENT):
                assert any(g.abs().max() > 0 for g in given), f"{name} never gets a gradient"
            assert parameter.isfinite().all()
