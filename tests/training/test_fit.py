"""When a run slows down, stops, and what it keeps."""

import itertools
import math
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
import runs
import torch

from ctan.datasets import path_graphs
from ctan.errors import ProtocolError
from ctan.events import EventStream
from ctan.tasks import Phase, Protocol
from ctan.training import Adam, evaluate, fit

training = import_module("ctan.training.fit")  # the module; the package shows its function
PROTOCOL = Protocol(split="graph", readout="dst", graph_batch=20, lr=0.01, epochs=12)


@pytest.fixture
def scripted(monkeypatch):
    """Let validation say what the script says; epochs whose metric is not read are skipped."""

    def run(script, task="sequence", **changes):
        values, metric = iter(script), {"sequence": "loss", "link": "auc"}[task]

        def instead(stage, state, phase, watch=None):
            found = evaluate(stage, state, phase, watch)
            if phase.name != "val":
                return found
            return replace(found, metrics=found.metrics | {metric: next(values)})

        monkeypatch.setattr(training, "evaluate", instead)
        if task == "link":
            protocol = Protocol(batch_size=50, negatives_known=True, lr=0.01, epochs=12)
            stream = runs.link_stream()
        else:
            protocol, stream = PROTOCOL, path_graphs(3, graphs=20)
        run = fit(stream, task=task, options={"dim": 4}, protocol=protocol.with_(**changes))
        return run, [round(record["lr"] / 0.01, 6) for record in run.history]

    return run


def test_patience_counts_epochs_without_improvement(scripted):
    run, _ = scripted([5, 4, 4, 4.5, 4.2, 1], patience=3)
    assert len(run.history) == 5  # the best is epoch 1: epochs 2, 3 and 4 do not improve on it
    assert run.results["best_epoch"] == 1
    assert run.results["val"]["loss"] == 4


def test_an_improvement_starts_the_count_anew(scripted):
    run, _ = scripted([5, 6, 6, 4, 5, 5, 5, 1], patience=3)
    assert len(run.history) == 7
    assert run.results["best_epoch"] == 3


def test_no_patience_means_all_epochs(scripted):
    run, _ = scripted(itertools.repeat(1.0))
    assert len(run.history) == 12
    assert run.results["best_epoch"] == 0


def test_metrics_to_maximise_are_maximised(scripted):
    run, _ = scripted([0.5, 0.7, 0.6, 0.65, 0.99], task="link", patience=2)
    assert len(run.history) == 4
    assert run.results["best_epoch"] == 1


def test_a_plateau_halves_the_learning_rate_after_so_many_epochs(scripted):
    #            best      bad bad     bad bad    best    bad bad
    script = [5, 4, 4.0, 4.1, 4.2, 4.3, 3, 3.5, 3.5, 3.5, 3.5, 3.5]
    _, rates = scripted(script, plateau=2)
    assert rates == [1, 1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125, 0.0625]


def test_plateau_and_patience_agree_on_what_improves(scripted):
    """By ever so little: neither waits for a threshold of its own."""
    run, rates = scripted([5 - 1e-9 * epoch for epoch in range(12)], plateau=1, patience=1)
    assert len(run.history) == 12
    assert set(rates) == {1}
    run, rates = scripted(itertools.repeat(5.0), plateau=1, patience=4)
    assert rates == [1, 1, 0.5, 0.25, 0.125]


def test_between_validations_nothing_is_decided(scripted):
    run, rates = scripted([5, 5, 4], validate_every=5, patience=2, plateau=2)
    assert [record["epoch"] for record in run.history if "val" in record] == [4, 9]
    assert len(run.history) == 10
    assert run.results["best_epoch"] == 4  # epochs count, also those that were not validated
    assert set(rates) == {1}


def test_the_last_epoch_is_always_validated(scripted):
    run, _ = scripted([5, 4], validate_every=8)
    assert [record["epoch"] for record in run.history if "val" in record] == [7, 11]
    assert run.results["best_epoch"] == 11


def test_a_run_that_diverges_keeps_its_best_epoch(scripted):
    run, _ = scripted([math.nan, 5, math.nan, 4, math.nan, math.nan], patience=2)
    assert run.results["best_epoch"] == 3
    assert len(run.history) == 6


def test_scores_that_are_no_numbers_have_metrics_that_are_none():
    stream = runs.link_stream()
    protocol = Protocol(batch_size=50, negatives_known=True, epochs=2, lr=1e38)
    run = fit(stream, model="jodie", options={"dim": 4}, protocol=protocol)
    assert math.isnan(run.results["val"]["auc"])


def test_the_best_epoch_is_kept_with_its_state():
    """Not the last one: its weights and its state give the results again."""
    protocol = Protocol(batch_size=20, negatives_known=True, lr=0.3, epochs=6)
    run = fit(runs.link_stream(), options={"dim": 4}, protocol=protocol)
    values = [record["val"]["auc"] for record in run.history]
    assert run.results["best_epoch"] == int(np.argmax(values)) < 5
    again = evaluate(run.stage, run.state, Phase("test"))
    assert again.metrics == run.results["test"]
    val_start = run.stage.predictor.model.init_state()
    replayed = evaluate(run.stage, val_start, Phase("train"))
    assert evaluate(run.stage, replayed.state, Phase("val")).labels.sum() > 0


def test_the_same_seed_gives_the_same_numbers():
    first, second, other = (
        fit(
            runs.link_stream(),
            model="tgat",
            options={"dim": 4},
            protocol=Protocol(batch_size=30, negatives_known=True, epochs=2, lr=0.01, seed=seed),
        )
        for seed in (1, 1, 2)
    )
    assert first.history == second.history
    assert first.results == second.results
    assert first.history != other.history


def test_each_epoch_is_told_of():
    told = []
    run = fit(
        path_graphs(3, graphs=20),
        task="sequence",
        options={"dim": 4},
        protocol=PROTOCOL.with_(epochs=3),
        on_epoch=told.append,
    )
    assert told == run.history
    assert [record["epoch"] for record in told] == [0, 1, 2]


def test_a_part_without_questions_is_named():
    graphs = path_graphs(3, graphs=20)
    y = graphs.y.copy()
    y[graphs.graph >= 14] = -1
    with pytest.raises(ProtocolError, match="'sequence' has no questions in the val part"):
        fit(replace(graphs, y=y), task="sequence", options={"dim": 4}, protocol=PROTOCOL)


def test_gradients_are_clipped(monkeypatch):
    largest = []
    step = Adam.step

    def watched(self, *args):
        grads = [p.grad.flatten() for group in self.param_groups for p in group["params"]
                 if p.grad is not None]  # fmt: skip
        largest.append(float(torch.cat(grads).norm()))
        return step(self, *args)

    monkeypatch.setattr(Adam, "step", watched)
    for clip in (0.0, 0.01):
        largest.clear()
        protocol = Protocol(batch_size=30, negatives_known=True, epochs=1, clip=clip)
        fit(runs.link_stream(), options={"dim": 4}, protocol=protocol)
        assert (max(largest) <= 0.01 + 1e-6) == bool(clip)


def test_an_empty_training_part_is_refused():
    stream = EventStream.from_arrays(src=[0] * 3, dst=[1] * 3, t=[0, 0, 0])
    with pytest.raises(Exception, match="no events are left"):
        fit(stream)
