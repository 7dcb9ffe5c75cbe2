"""A finished run under another protocol, at a time, and prediction before learning."""

import itertools
import math

import numpy as np
import pytest
from runs import link_stream
from sklearn.metrics import roc_auc_score

from ctan.errors import ProtocolError
from ctan.events import EventStream
from ctan.tasks import Phase, Protocol
from ctan.training import (
    blocks,
    embed,
    evaluate,
    fit,
    play,
    prequential,
    read_lists,
    replay,
    stage_for,
    under,
)

SMALL = {"dim": 6, "time_dim": 3}
STILL = Protocol(batch_size=12, negatives_known=True, lr=0.0, weight_decay=0.0, epochs=1)
LINK = STILL.with_(lr=0.05)


@pytest.mark.parametrize("model", ["ctan", "tgn", "jodie"])
def test_where_weights_stood_still_the_past_observed_anew_is_the_stored_state(model):
    run = fit(link_stream(), model=model, options=SMALL, protocol=STILL)
    stored, anew = under(run, STILL), under(run, STILL, anew=True)
    assert (stored["state"], anew["state"]) == ("stored", "replayed")
    assert stored["test"] == anew["test"] == run.results["test"]
    moved = fit(link_stream(), model=model, options=SMALL, protocol=LINK)
    assert under(moved, LINK)["test"] == moved.results["test"]
    assert under(moved, LINK, anew=True)["test"] != moved.results["test"]


def test_what_the_state_depends_on_is_observed_anew_and_the_rest_is_not():
    run = fit(link_stream(), options=SMALL, protocol=LINK)
    for field, value, state in (
        ("batch_size", 5, "replayed"),
        ("visibility", "causal", "replayed"),
        ("neighbors", "uniform", "replayed"),
        ("update_from", "observed", "replayed"),
        ("negatives", "historical", "stored"),
        ("averaging", "batch", "stored"),
        ("seed", 3, "stored"),
    ):
        assert under(run, LINK.with_(**{field: value}))["state"] == state, field


def changed_from(stream, moment, before=False):
    """The same stream with other destinations from a moment on, or before it."""
    other = (stream.t < moment) if before else (stream.t >= moment)
    dst = np.where(other, 8 + (stream.dst - 7) % 8, stream.dst)
    return EventStream.from_arrays(src=stream.src, dst=dst, t=stream.t, msg=stream.msg)


@pytest.mark.parametrize("model", ["ctan", "tgat", "graphmixer"])
def test_an_embedding_at_a_time_knows_what_is_earlier_and_nothing_else(model):
    stream = link_stream()
    moment = int(stream.t[80])  # after training: elapsed times are standardised alike

    def at_that_time(stream):
        return embed(fit(stream, model=model, options=SMALL, protocol=STILL), moment)

    nodes, z = at_that_time(stream)
    earlier = stream.t < moment
    assert nodes.tolist() == sorted({*stream.src[earlier], *stream.dst[earlier]})
    same_nodes, same = at_that_time(changed_from(stream, moment))
    assert (same_nodes == nodes).all()
    assert (same == z).all()
    *_, other = at_that_time(changed_from(stream, moment, before=True))
    assert other.shape != z.shape or (other != z).any()


def test_times_above_what_a_float_holds_are_told_apart():
    start = 2**60
    stream = link_stream()
    late = EventStream.from_arrays(src=stream.src, dst=stream.dst, t=start + np.arange(90))
    run = fit(late, options=SMALL, protocol=STILL.with_(split="count"))
    few, more = (embed(run, at=start + n)[0].tolist() for n in (1, 3))
    assert few == sorted({late.src[0], late.dst[0]})
    assert more == sorted({*late.src[:3], *late.dst[:3]})


def states_of(labels):
    """One source and one destination for each event's state, batches of ten."""
    stream = EventStream.from_arrays(
        src=np.arange(40) % 4, dst=4 + np.arange(40) % 3, t=np.arange(40), y=labels
    )
    protocol = Protocol(batch_size=10, lr=0.05)
    return stage_for(stream, "node", "ctan", SMALL, protocol)


def test_a_batch_is_answered_before_it_is_learned_from():
    labels = np.arange(40) % 2
    other = labels.copy()
    other[20:30] = 1
    first, second = (list(prequential(states_of(y))) for y in (labels, other))
    still = list(prequential(states_of(labels), learn=False))
    scores = [[step.kept.scores for step in steps] for steps in (first, second, still)]
    equal = [bool((a == b).all()) for a, b in zip(*scores[:2], strict=True)]
    assert equal == [True, True, True, False]  # labels of the third batch move the fourth
    learned = [bool((a == b).all()) for a, b in zip(scores[0], scores[2], strict=True)]
    assert learned == [True, False, False, False]
    assert [step.events for step in first] == [10, 20, 30, 40]


def test_a_caller_may_stop_and_go_on():
    whole = list(prequential(states_of(np.arange(40) % 2), learn=False))
    stage = states_of(np.arange(40) % 2)
    steps = prequential(stage, learn=False)
    for _ in range(2):
        last = next(steps)
    rest = list(prequential(stage, start=20, state=last.state, learn=False))
    assert [step.events for step in rest] == [10, 20]
    for a, b in zip(whole[2:], rest, strict=True):
        assert (a.kept.scores == b.kept.scores).all()
        assert (a.kept.event == b.kept.event).all()


def test_means_so_far_pass_over_blocks_in_which_a_metric_has_no_meaning():
    labels = np.r_[np.zeros(20, int), np.arange(20) % 2]  # nothing to tell apart in the first half
    stage = states_of(labels)
    found = list(blocks(prequential(stage), stage.task.metrics, size=10))
    assert [math.isnan(block["auc"]) for block in found] == [True, True, False, False]
    assert math.isnan(found[1]["so_far"]["auc"])
    assert found[3]["so_far"]["auc"] == pytest.approx((found[2]["auc"] + found[3]["auc"]) / 2)
    with pytest.raises(ProtocolError, match="a block of 0 events: expected at least 1"):
        next(blocks(prequential(stage), stage.task.metrics, size=0))


def test_a_validation_part_of_one_class_chooses_nothing():
    labels = np.r_[np.arange(28) % 2, np.zeros(12, int)]
    stream = states_of(labels).stream
    with pytest.raises(ProtocolError, match="every label of the validation part is 0: auc"):
        fit(stream, task="node", options=SMALL, protocol=Protocol(epochs=1))


def test_metrics_are_over_the_split_or_means_over_its_batches():
    protocol = Protocol(batch_size=5, negatives_known=True)
    stage = stage_for(link_stream(), "link", "ctan", SMALL, protocol)
    phase, model = Phase("test"), stage.predictor.model
    played = list(play(stage, model.init_state(), stage.segments(phase), phase))
    assert len(played) > 2
    each = [(batch.labels.numpy(), batch.scores[:, 0].numpy()) for batch in played]
    of_all = roc_auc_score(*(np.concatenate(column) for column in zip(*each, strict=True)))
    means = np.mean([roc_auc_score(*batch) for batch in each])
    assert evaluate(stage, model.init_state(), phase).metrics["auc"] == of_all
    batchwise = stage_for(link_stream(), "link", "ctan", SMALL, protocol.with_(averaging="batch"))
    found = evaluate(batchwise, batchwise.predictor.model.init_state(), phase).metrics["auc"]
    assert found == pytest.approx(means, abs=1e-12)
    assert found != of_all


def test_the_views_of_a_run_are_its_questions_by_novelty():
    stream = link_stream()
    # Nodes 20 and 21 appear after training.
    src, dst = stream.src.copy(), stream.dst.copy()
    src[80], dst[85] = 20, 21
    late = EventStream.from_arrays(src=src, dst=dst, t=stream.t, msg=stream.msg)
    run = fit(late, options=SMALL, protocol=STILL.with_(split="count"))
    kept = evaluate(run.stage, replay(run.stage, run.stage.parts.val_end), Phase("test")).kept
    new = np.isin(kept.event, [80, 85])
    views = run.results["views"]
    for name, part in (("inductive", kept.only(new)), ("transductive", kept.only(~new))):
        assert views[name]["questions"] == len(part.labels)
        assert views[name]["auc"] == roc_auc_score(part.labels, part.scores[:, 0])
    assert views["inductive"]["questions"] == 4


def test_lists_of_different_lengths_are_read(tmp_path):
    stream = link_stream()
    start = fit(stream, options=SMALL, protocol=STILL).stage.parts.val_end
    rows = [
        [v for v in range(8, 16) if v != own][: 1 + i % 3]
        for i, own in enumerate(stream.dst[start:])
    ]
    ptr = np.cumsum([0, *map(len, rows)])
    np.savez(tmp_path / "lists.npz", node=np.concatenate(rows), ptr=ptr)
    lists = read_lists(tmp_path / "lists.npz", stream, STILL)
    found_ptr, found = lists.of(np.arange(start + 1, start + 4))
    assert found_ptr.tolist() == (ptr[1:5] - ptr[1]).tolist()
    assert found.tolist() == list(itertools.chain(*rows[1:4]))
