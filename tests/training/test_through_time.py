"""How far back gradients flow: equal to a literal computation, unrolled and cut by hand."""

import contract
import pytest
import torch

from ctan.models import build
from slow_ctan import SlowCTAN

SETTINGS = contract.settings()
SHAPES = {
    "attention": {},
    "two steps, endpoints, unshared": {
        "steps": 2,
        "inject": "endpoints",
        "psi": "add",
        "share_weights": False,
    },
    "ball": {"update": "ball", "phi": "mean"},
}


def literal_gradients(stage, slow, horizon):
    """Batch by batch with plain tensors; a window's loss is the mean over all that it asked."""
    names = dict(stage.predictor.named_parameters())
    window, steps = max(1, horizon), []
    for segment in stage.segments(contract.EVERYTHING):
        slow.reset()
        losses, batches = [], list(segment)
        for number, batch in enumerate(batches, start=1):
            asked = [stage.task.pairs[e] for e in batch.events]
            carried = torch.enable_grad() if horizon else torch.no_grad()
            scores = slow.play(
                batch,
                asked,
                stage.task.observe_first,
                stage.protocol.update_from == "observed",
                storing=torch.enable_grad() if stage.task.observe_first else carried,
            )
            labels = torch.tensor([v % 2.0 for pairs in asked for _, v in pairs])
            losses += [
                torch.nn.functional.binary_cross_entropy_with_logits(score[0], label)
                for score, label in zip(scores, labels, strict=True)
            ]
            if number % window == 0 or number == len(batches):
                grads = torch.autograd.grad(
                    torch.stack(losses).mean(),
                    list(names.values()),
                    allow_unused=True,
                    materialize_grads=True,
                )
                steps.append(dict(zip(names, grads, strict=True)))
                slow.detach()
                losses = []
    return steps


@pytest.mark.parametrize("through_time", [0, 1, 3, "all"])
@pytest.mark.parametrize("road", ["stale", "stale, observed", "lockstep"])
@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_equal_a_literal_unrolled_computation(shape, road, through_time, float64):
    setting = SETTINGS[road]
    short = contract.shorter(setting, events=24, protocol={"through_time": through_time})

    def make(dims):
        torch.manual_seed(3)
        return build("ctan", dims, dim=4, time_dim=2, neighbors=3, **SHAPES[shape])

    stage = contract.prepare(make, short)
    slow = SlowCTAN(stage.predictor.model, stage.predictor.readout, stage.stream)
    horizon = stage.protocol.horizon
    expected = literal_gradients(stage, slow, int(min(horizon, 1000)))
    found = contract.gradients(stage)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        for name, value in theirs.items():
            given = torch.zeros_like(value) if ours[name] is None else ours[name]
            torch.testing.assert_close(given, value, atol=1e-10, rtol=1e-8)


@pytest.mark.parametrize("horizon", [1, 2])
def test_gradients_reach_further_with_a_wider_window(horizon, float64):
    """What is remembered carries a gradient within a window, and none across its end."""
    setting = contract.shorter(SETTINGS["stale"], events=24, protocol={"through_time": "all"})
    whole = contract.gradients(contract.prepare(_ctan, setting))
    cut = contract.gradients(
        contract.prepare(
            _ctan, contract.shorter(setting, events=24, protocol={"through_time": horizon})
        )
    )
    assert len(whole) == 1
    assert len(cut) == -(-4 // horizon)


def _ctan(dims):
    torch.manual_seed(3)
    return build("ctan", dims, dim=4, time_dim=2)
