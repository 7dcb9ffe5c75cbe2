"""Negatives are part of the question: frozen, whatever the batches are."""

import numpy as np
import pytest
import torch

from ctan.datasets import path_graphs
from ctan.errors import ProtocolError
from ctan.events import EventStream, split_by_count, split_by_graph
from ctan.history import chronological
from ctan.models import Events
from ctan.tasks import LinkPrediction, Phase, Protocol, SequenceClassification

PHASES = [Phase("train", 0), Phase("train", 3), Phase("val"), Phase("test")]


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    src, dst = rng.integers(0, 12, 200), rng.integers(10, 60, 200)
    return EventStream.from_arrays(src=src, dst=dst, t=np.arange(200) // 2)


def asked(stream, phase, size, **rules):
    """(event, source, destination, label) of every question of a phase."""
    split = split_by_count(stream)
    task = LinkPrediction(stream, split, Protocol(**rules))
    part, found = getattr(split, phase.name), []
    for batch in chronological(part.start, part.stop, size):
        events = Events.of(stream, batch.events)
        pairs = task.ask(stream, batch, events, phase)
        labels = task.labels(stream, events, pairs)
        rows = zip(batch.events[pairs.event], pairs.src, pairs.dst, labels, strict=True)
        found += [tuple(int(value) for value in row) for row in rows]
    return sorted(found)


@pytest.mark.parametrize("phase", PHASES, ids=str)
def test_the_batches_do_not_matter(stream, phase):
    assert asked(stream, phase, 1) == asked(stream, phase, 7) == asked(stream, phase, 256)


def test_each_event_is_asked_about_with_one_negative_of_its_source(stream):
    split = split_by_count(stream)
    for phase in PHASES:
        part = getattr(split, phase.name)
        rows = asked(stream, phase, 9)
        assert len(rows) == 2 * (part.stop - part.start)
        for event, src, dst, label in rows:
            assert src == stream.src[event]
            assert (dst == stream.dst[event]) or not label


def test_negatives_come_from_what_the_splits_so_far_show(stream):
    """Not a destination that is yet to come, and not an edge that is known already."""
    split = split_by_count(stream)
    for phase, end in zip(PHASES, [split.train_end] * 2 + [split.val_end, split.end], strict=True):
        pool = set(stream.dst[:end].tolist())
        known = set(zip(stream.src[:end].tolist(), stream.dst[:end].tolist(), strict=True))
        drawn = [(src, dst) for _, src, dst, label in asked(stream, phase, 50) if not label]
        assert {dst for _, dst in drawn} <= pool
        assert not set(drawn) & known
        everyone = asked(stream, phase, 50, negative_pool="nodes", negatives_known=True)
        nodes = pool | set(stream.src[:end].tolist())
        assert {dst for _, _, dst, label in everyone if not label} <= nodes


def test_epochs_and_seeds_draw_anew_and_evaluation_does_not(stream):
    first, later = asked(stream, PHASES[0], 50), asked(stream, PHASES[1], 50)
    assert first != later
    assert asked(stream, Phase("val"), 50) != asked(stream, Phase("val"), 50, seed=1)
    assert asked(stream, Phase("test"), 50) == asked(stream, Phase("test"), 50)


def test_draws_by_row_are_the_same_list_in_each_batch(stream):
    """As in the paper's code, in evaluation; with known edges left out, sources would differ."""

    def lists(phase, **rules):
        part = getattr(split_by_count(stream), phase.name)
        rows = asked(stream, phase, 10, negatives_known=True, **rules)
        drawn = [dst for _, _, dst, label in rows if not label]
        whole = (part.stop - part.start) // 10 * 10
        return {tuple(drawn[low : low + 10]) for low in range(0, whole, 10)}

    for phase in (Phase("val"), Phase("test")):
        assert len(lists(phase, negative_draw="row")) == 1
        assert len(lists(phase)) == 3
    assert len(lists(Phase("train"), negative_draw="row")) == 14


@pytest.mark.parametrize("kind", ["historical", "inductive"])
def test_negatives_of_the_past_do_not_depend_on_batches(stream, kind):
    found = [asked(stream, Phase("test"), size, negatives=kind) for size in (1, 7, 256)]
    assert found[0] == found[1] == found[2]
    trained = asked(stream, Phase("train"), 9, negatives=kind)
    assert trained == asked(stream, Phase("train"), 9)  # the rule is for evaluation


def test_the_losses_are_binary_cross_entropy(stream):
    scores, labels = torch.tensor([[0.3], [-1.2], [2.0]]), torch.tensor([1, 0, 0])
    p = torch.sigmoid(scores[:, 0])
    expected = -(torch.log(p[0]) + torch.log(1 - p[1]) + torch.log(1 - p[2])) / 3
    link = LinkPrediction(stream, split_by_count(stream), Protocol())
    for task in (link, SequenceClassification()):
        torch.testing.assert_close(task.loss(scores, labels), expected)


def test_a_sequence_is_asked_about_where_it_ends():
    graphs = path_graphs(4, graphs=20)
    task, parts = SequenceClassification(), split_by_graph(graphs)
    events = Events.of(graphs, np.flatnonzero(np.isin(graphs.graph, parts.val)))
    batch = next(chronological(0, len(graphs), len(graphs)))
    pairs = task.ask(graphs, batch, events, Phase("val"))
    ends = events.position[pairs.event]
    assert graphs.t[ends].tolist() == [2] * len(parts.val)
    assert (pairs.dst == graphs.dst[ends]).all()
    assert (task.labels(graphs, events, pairs) == graphs.y[ends]).all()


@pytest.mark.parametrize(
    "rules",
    [{}, {"negatives": "historical"}, {"negatives": "inductive"}, {"negatives_known": True}],
    ids=str,
)
def test_typed_negatives_have_the_destination_s_type(rules):
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 40, 300), rng.integers(0, 40, 300)
    kind = np.arange(40) % 3
    x = np.stack([rng.normal(size=40), kind], axis=1)
    stream = EventStream.from_arrays(src=src, dst=dst, t=np.arange(300), x=x)
    for phase in PHASES:
        rows = asked(stream, phase, 20, node_type=1, negative_pool="nodes", **rules)
        own = {event: dst for event, _, dst, label in rows if label}
        assert all(kind[dst] == kind[own[event]] for event, _, dst, _ in rows)


def test_types_that_are_none_are_refused(stream):
    with pytest.raises(ProtocolError, match="have 0 features"):
        asked(stream, PHASES[-1], 9, node_type=0)
    x = np.full((stream.num_nodes, 1), 0.5)
    odd = EventStream.from_arrays(src=stream.src, dst=stream.dst, t=stream.t, x=x)
    with pytest.raises(ProtocolError, match=r"node 0 has 0\.5"):
        asked(odd, PHASES[-1], 9, node_type=0)
    with pytest.raises(ProtocolError, match="or -1 for no types"):
        Protocol(node_type=-2)
