"""Labelled tasks: what is asked, when it is answered, and what is learned from it."""

import numpy as np
import pytest
import torch

from ctan.errors import ProtocolError
from ctan.events import EventStream, split_by_graph
from ctan.tasks import EdgeClassification, EdgeRegression, NodeLabels, Protocol
from ctan.tasks.labels import class_weights
from ctan.training import fit


def labelled(y, graphs=300, seed=0):
    """Graphs of one event each: only the event itself can tell its label."""
    rng = np.random.default_rng(seed)
    msg = rng.normal(size=(graphs, 3)).astype(np.float32)
    src = 2 * np.arange(graphs)
    return EventStream.from_arrays(
        src=src, dst=src + 1, t=np.arange(graphs), msg=msg, y=y(msg), graph=np.arange(graphs)
    )


FAST = Protocol(split="graph", epochs=15, lr=1e-2, graph_batch=32)


def test_edge_classes_that_the_event_tells_are_learned_after_it():
    stream = labelled(lambda msg: msg.argmax(1))
    run = fit(stream, task="edge", options={"dim": 16}, protocol=FAST)
    assert run.results["test"]["accuracy"] > 0.8
    assert run.results["test"]["macro_f1"] > 0.8
    assert np.sum(run.results["confusion"]) == 45
    assert np.trace(run.results["confusion"]) / 45 == run.results["test"]["accuracy"]
    before = fit(stream, task="edge", options={"dim": 16}, protocol=FAST.with_(order="before"))
    assert before.results["test"]["accuracy"] < 0.6


def test_node_labels_are_asked_of_sources():
    stream = labelled(lambda msg: (msg[:, 0] > 0).astype(int))
    run = fit(stream, task="node", options={"dim": 16}, protocol=FAST)
    assert run.results["test"]["auc"] > 0.9
    assert run.stage.task.observe_first


def test_numbers_are_measured_in_their_own_unit():
    stream = labelled(lambda msg: 1000.0 + 10.0 * msg[:, 0])
    protocol = FAST.with_(order="after")
    run = fit(stream, task="regression", options={"dim": 16}, protocol=protocol)
    # Better than the mean, whose error is the deviation of 10.
    assert run.results["test"]["rmse"] < 6
    assert run.results["test"]["mae"] <= run.results["test"]["rmse"]


def test_events_without_a_label_are_not_asked_about():
    def some(msg):
        y = msg.argmax(1)
        y[::2] = -1
        return y

    run = fit(labelled(some), task="edge", options={"dim": 4}, protocol=FAST.with_(epochs=1))
    assert np.sum(run.results["confusion"]) == 23  # the odd ones of graphs 255 to 299

    def gaps(msg):
        y = msg[:, 0].astype(np.float64)
        y[::3] = np.nan
        return y

    stream = labelled(gaps)
    task = EdgeRegression(stream, split_by_graph(stream), Protocol())
    known = stream.y[:210][~np.isnan(stream.y[:210])]
    assert (task.mean, task.std) == (known.mean(), known.std())


def test_weights_of_classes_come_from_training_alone():
    y = np.r_[np.zeros(150, int), np.ones(60, int), np.full(90, 2)]  # 2 only after training
    stream = labelled(lambda *_: y)
    split = split_by_graph(stream)
    task = EdgeClassification(stream, split, Protocol(class_weights="balanced"))
    assert task.weight.tolist() == pytest.approx([210 / 300, 210 / 120, 1.0])
    assert NodeLabels(stream, split, Protocol()).weight.tolist() == [1.0, 1.0]
    assert class_weights(np.array([0, 1]), 2, "balanced").tolist() == [1.0, 1.0]


def test_the_loss_weighs_classes():
    y = np.r_[np.zeros(150, int), np.ones(150, int)]  # 150 and 60 of training
    stream = labelled(lambda *_: y)
    split = split_by_graph(stream)
    edge = EdgeClassification(stream, split, Protocol(class_weights="balanced"))
    a, b = edge.weight.double().tolist()
    assert (a, b) == pytest.approx((210 / 300, 210 / 120))
    scores, labels = torch.tensor([[2.0, 0.0], [0.0, 0.0], [1.0, 0.0]]), torch.tensor([0, 1, 1])
    each = -torch.log_softmax(scores, 1)[torch.arange(3), labels]
    expected = (a * each[0] + b * each[1] + b * each[2]) / (a + 2 * b)
    torch.testing.assert_close(edge.loss(scores, labels), expected)
    node = NodeLabels(stream, split, Protocol(class_weights="balanced"))
    logits = torch.tensor([[0.5], [-1.0]])
    p = torch.sigmoid(logits[:, 0])
    expected = -(a * torch.log(1 - p[0]) + b * torch.log(p[1])) / 2
    torch.testing.assert_close(node.loss(logits, torch.tensor([0, 1])), expected)


def test_what_a_batch_would_show_of_its_later_events_is_refused():
    stream = EventStream.from_arrays(src=[0] * 20, dst=[1] * 20, t=range(20), y=[0, 1] * 10)
    for task in ("edge", "node", "regression"):
        with pytest.raises(ProtocolError, match="visibility='causal'"):
            fit(stream, task=task, protocol=Protocol(order="after"))
        run = fit(stream, task=task, options={"dim": 4}, protocol=Protocol(epochs=1))
        assert not run.stage.task.observe_first
        causal = Protocol(order="after", visibility="causal", epochs=1)
        assert fit(stream, task=task, options={"dim": 4}, protocol=causal).stage.task.observe_first


def test_mistakes_are_named():
    bare = labelled(lambda *_: None)
    for task in ("edge", "node", "sequence"):
        with pytest.raises(ProtocolError, match="the stream has none"):
            fit(bare, task=task)
    with pytest.raises(ProtocolError, match="no labels"):
        fit(bare, task="regression")
    numbers = labelled(lambda msg: msg[:, 0].astype(np.float64))
    with pytest.raises(ProtocolError, match="the stream has numbers"):
        fit(numbers, task="edge")
