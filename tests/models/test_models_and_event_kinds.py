"""Node events and deletions through the loop, for every model."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
import torch

from ctan.events import EventKind, EventStream, Split
from ctan.models import MODELS, Events
from ctan.tasks import Phase, Protocol
from ctan.training import Stage, fit, play
from ctan.training.stage import SPLITS

NODE, DELETED = int(EventKind.NODE), int(EventKind.NODE_DELETED)


def lively(events=120, nodes=12, seed=0):
    """Interactions of all nodes, and node events, deletions of edges and of nodes among them."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(4, events, p=[0.7, 0.14, 0.08, 0.08])
    src, dst = rng.integers(0, nodes, (2, events))
    alone = (kind == NODE) | (kind == DELETED)
    return EventStream.from_arrays(
        src=src,
        dst=np.where(alone, src, dst),
        t=np.cumsum(rng.integers(0, 3, events)),
        msg=rng.normal(size=(events, 2)),
        x=rng.normal(size=(nodes, 3)),
        kind=kind,
        x_update=rng.normal(size=(int((kind == NODE).sum()), 3)),
    )


def staged(stream, model, options, protocol):
    """A stage whose every part is the whole stream, however short that is."""
    with patch.dict(SPLITS, {"time": lambda _: Split(*[len(stream)] * 3, "all")}):
        return Stage.prepare(stream, "link", model, options, protocol)


def states(stream, model="ctan", options=None, batch_size=200, **protocol):
    """The state after each batch of a whole stream."""
    torch.manual_seed(0)
    options = {"dim": 6, **(options or {})}
    rules = Protocol(batch_size=batch_size, negatives_known=True, **protocol)
    stage = staged(stream, model, options, rules)
    batches = [stage.stretch(0, len(stream))]
    state = stage.predictor.model.init_state()
    for played in play(stage, state, batches, Phase("test")):
        yield played, {k: v.clone() for k, v in played.state.tensors().items()}


@pytest.mark.parametrize("model", sorted(MODELS))
@pytest.mark.parametrize("visibility", ["stale", "causal"])
@pytest.mark.parametrize("update_from", ["scored", "observed"])
def test_every_model_lives_through_such_a_stream(model, visibility, update_from):
    trains = sum(p.numel() for p in _built(model).parameters()) > 0
    run = fit(
        lively(),
        model=model,
        options={"dim": 12} if trains else {},
        protocol=Protocol(
            visibility=visibility,
            update_from=update_from,
            negatives_known=True,
            epochs=1,
            batch_size=16,
        ),
    )
    assert np.isfinite(run.results["test"]["auc"])


def _built(model):
    from ctan.models import Dims, build

    return build(model, Dims(nodes=12, edge_dim=2, node_dim=3))


def test_only_interactions_are_asked_about():
    stream = lively()
    for played, _ in states(stream, batch_size=10):
        kinds = stream.kind[played.events.position]
        assert (kinds == EventKind.INTERACTION).all()
        assert len(played.asked) == 2 * len(kinds)


@pytest.mark.parametrize("model", ["ctan", "tgn", "jodie", "dyrep"])
def test_a_deleted_node_starts_anew(model):
    #   0 ─ 1, then 0 is deleted, then 0 ─ 2: of which the last alone counts
    stream = EventStream.from_arrays(
        src=[0, 1, 0, 0, 0], dst=[1, 2, 0, 2, 2], t=[0, 1, 2, 3, 9], kind=[0, 0, DELETED, 0, 0],
        num_nodes=3,
    )  # fmt: skip
    played = states(stream, model, batch_size=1)
    before, deleted = [state for _, state in played][1:3]
    fresh = staged(stream, model, {"dim": 6}, Protocol()).predictor.model.init_state().tensors()
    for key in ("h", "memory", "last_update", "count"):
        if key in fresh:
            assert torch.equal(deleted[key][0], fresh[key][0]), key
            assert torch.equal(deleted[key][1:], before[key][1:]), key


def test_a_batch_ends_where_a_deleted_node_comes_back():
    stream = EventStream.from_arrays(
        src=[0, 0, 1, 0], dst=[1, 0, 2, 2], t=[0, 1, 2, 3], kind=[0, DELETED, 0, 0], num_nodes=3
    )
    whole = [state for _, state in states(stream, batch_size=4)]
    one_by_one = [state for _, state in states(stream, batch_size=1)]
    assert len(whole) == 2
    # 0 and 2 meet when both batches have forgotten 0's first life.
    assert torch.allclose(whole[-1]["h"][0], one_by_one[-1]["h"][0])


def test_a_node_event_injects_and_touches_its_node_alone():
    stream = EventStream.from_arrays(
        src=[0, 1, 1], dst=[1, 2, 1], t=[0, 1, 2], kind=[0, 0, NODE],
        x=np.zeros((3, 2)), x_update=[[3.0, -2.0]],
    )  # fmt: skip
    plain = replace(stream, x_update=np.zeros((1, 2), np.float32))
    (_, before), (_, after) = list(states(stream, batch_size=2))
    _, (_, without) = list(states(plain, batch_size=2))
    assert torch.equal(before["h"][[0, 2]], after["h"][[0, 2]])
    assert not torch.equal(before["h"][1], after["h"][1])
    assert not torch.allclose(after["h"][1], without["h"][1])  # the new features went in
    assert after["last_update"].tolist() == [0, 2, 1]


def test_features_of_a_later_node_event_do_not_leak_into_scores():
    stream = lively()
    updates = np.flatnonzero(stream.kind == NODE)
    last = int(updates[len(updates) // 2])
    x_update = stream.x_update.copy()
    x_update[len(updates) // 2] += 9
    changed = replace(stream, x_update=x_update)
    pairs = zip(states(stream, batch_size=7), states(changed, batch_size=7), strict=True)
    differ = False
    for (played, _), (other, _) in pairs:
        position = played.events.position
        if len(position) and position[-1] < last:
            assert torch.equal(played.scores, other.scores)
        elif len(position) and position[0] <= last:
            assert torch.equal(played.scores, other.scores)  # the batch is blind to itself
        else:
            differ |= not torch.equal(played.scores, other.scores)
    assert differ


def test_the_parts_of_a_batch():
    events = Events.of(lively(events=40), np.arange(40))
    kind = lively(events=40).kind
    assert events.within.tolist() == np.flatnonzero(kind <= NODE).tolist()
    assert set(events.forgotten) == set(lively(events=40).src[kind == DELETED].tolist())
    asked = events.interactions()
    assert (kind[asked.within] == EventKind.INTERACTION).all()
    assert asked.position.tolist() == asked.within.tolist()
    renewed = set(events.touched[events.renewed].tolist())
    assert renewed == set(lively(events=40).src[kind == NODE].tolist())


@pytest.mark.parametrize("update", ["endpoints", "ball"])
@pytest.mark.parametrize("inject", ["endpoints", "frontier"])
def test_both_updates_of_ctan_store_the_same_at_endpoints(update, inject):
    options = {"update": update, "inject": inject, "steps": 2}
    for _, state in states(lively(), options=options, batch_size=9):
        assert torch.isfinite(state["h"]).all()
