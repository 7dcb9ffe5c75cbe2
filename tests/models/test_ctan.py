"""CTAN against a version of it that is slow and obvious, batch by batch."""

import contract
import pytest
import torch

from ctan.errors import CtanError
from ctan.models import CTAN, Dims, build
from ctan.training import play
from slow_ctan import SlowCTAN

SETTINGS = contract.settings()
ROADS = ["stale", "stale, observed", "causal", "causal, observed", "lockstep"]
SHAPES = {
    "as it comes": {},
    "attention, add, endpoints": {"psi": "add", "inject": "endpoints", "steps": 2},
    "mean, concat, endpoints": {"phi": "mean", "psi": "concat", "inject": "endpoints", "steps": 3},
    "gcn": {"phi": "gcn", "steps": 2},
    "input_only": {"psi": "input_only", "steps": 2},
    "self, two heads": {"include_self": True, "heads": 2, "steps": 2},
    "self, endpoints, gcn": {"include_self": True, "inject": "endpoints", "phi": "gcn"},
    "query time": {"query_time": True, "steps": 2, "final_act": True},
    "query time, self, endpoints": {
        "query_time": True,
        "include_self": True,
        "inject": "endpoints",
    },
    "unshared, relu": {"share_weights": False, "steps": 3, "act": "relu"},
    "ball": {"update": "ball", "steps": 2},
    "ball, endpoints": {"update": "ball", "steps": 2, "inject": "endpoints", "psi": "add"},
    "ball, query time": {"update": "ball", "steps": 1, "query_time": True, "inject": "endpoints"},
    "ball, self, mean": {"update": "ball", "include_self": True, "phi": "mean"},
}


def stages(road, shape):
    given = {"dim": 4, "time_dim": 2, "neighbors": 3, **SHAPES[shape]}

    def make(dims):
        torch.manual_seed(3)
        return build("ctan", dims, **given)

    stage = contract.prepare(make, SETTINGS[road])
    return stage, SlowCTAN(stage.predictor.model, stage.predictor.readout, stage.stream)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("shape", SHAPES)
@torch.no_grad()
def test_play_equals_the_slow_version(road, shape, float64):
    """Scores, stored states and update times, after each of the first batches."""
    stage, slow = stages(road, shape)
    observe_first, observed = stage.task.observe_first, stage.protocol.update_from == "observed"
    state, batches = (
        contract.fresh(stage),
        [b for s in stage.segments(contract.EVERYTHING) for b in s],
    )
    for batch in batches[:6]:
        for played in play(stage, state, [[batch]], contract.EVERYTHING):
            state = played.state
        asked = [stage.task.pairs[e] for e in batch.events]
        expected = slow.play(batch, asked, observe_first, observed)
        assert_close(played.scores, torch.stack(expected))
        assert_close(state.h.dense(), torch.stack(list(slow.h.values())))
        assert state.last_update.tolist() == list(slow.last.values())


def assert_close(a, b):
    torch.testing.assert_close(a, b, atol=1e-10, rtol=0)


@torch.no_grad()
def test_a_ball_updates_its_nodes_and_no_other(float64):
    """Of a ball, all states change and only the endpoints' times; outside of it, nothing does."""
    stage, slow = stages("stale", "ball")
    whole = 0
    for state, batch in contract.states(stage):
        h, last = state.h.dense().clone(), state.last_update.clone()
        for played in play(stage, state, [[batch]], contract.EVERYTHING):
            moved = (played.state.h.dense() != h).any(1).nonzero().flatten().tolist()
            retimed = (played.state.last_update != last).nonzero().flatten().tolist()
        ends = {
            int(u) for column in ("src", "dst") for u in getattr(stage.stream, column)[batch.events]
        }
        assert set(moved) == set.union(*(slow.ball(u, batch.cut) for u in ends))
        assert set(retimed) <= ends
        whole += set(moved) == ends
    assert whole < 4  # most balls are more than their endpoints


def test_isometric_weights_keep_a_state_from_node_to_node(float64):
    torch.manual_seed(0)
    model = CTAN(Dims(nodes=2, node_dim=1), dim=8, psi="concat", epsilon=1.0, init="isometric")
    (layer,) = model.layers
    value = layer.phi.value.weight
    torch.testing.assert_close(value @ value.T, torch.eye(8))
    assert model.initial.encoder.weight[:, :8].equal(torch.eye(8))


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ({"inject": "endpoint"}, "did you mean 'endpoints'"),
        ({"update": "bal"}, "did you mean 'ball'"),
        ({"psi": "tanh_conct"}, "did you mean 'tanh_concat'"),
        ({"phi": "means"}, "did you mean 'mean'"),
        ({"act": "tahn"}, "did you mean 'tanh'"),
        ({"stepps": 2}, "unknown option of ctan 'stepps': did you mean 'steps'"),
    ],
)
def test_unknown_names_are_refused(option, hint):
    with pytest.raises(CtanError, match=hint):
        build("ctan", Dims(nodes=2), **option)
