"""Where a step's time goes: the parts add up, and nothing stays of having looked."""

import pytest
import torch

from ctan.datasets import path_graphs
from ctan.errors import ProtocolError
from ctan.events import EventStream
from ctan.nn.kernels import folded
from ctan.tasks import Protocol
from ctan.training import Stage, loop, profile


@pytest.fixture
def stage():
    stream = path_graphs(5, graphs=60)
    protocol = Protocol(split="graph", through_time="all", graph_batch=14)
    # Wide enough that its products take longer than it takes to note them.
    return Stage.prepare(stream, "sequence", "ctan", {"dim": 200}, protocol)


def test_parts_add_up(stage):
    found = profile(stage, batches=6, rounds=1)
    assert found.batches == 6  # of segments of 4: one whole, and half of the next
    assert found.events == 6 * 14
    assert all(spent >= 0 for spent in found.parts.values())
    for part in ("sampling", "neighbours", "products", "optimiser"):
        assert found.parts[part] > 0, part
    assert sum(found.parts.values()) == pytest.approx(found.seconds, rel=0.5)
    assert found.floor == found.parts["products"] / found.seconds
    assert found.rate == pytest.approx(found.events / (found.seconds * 6))


def test_functions_that_were_timed_are_themselves_again(stage):
    before = loop.look, folded.attend_forward, type(stage.task).ask
    profile(stage, batches=1, rounds=1)
    assert (loop.look, folded.attend_forward, type(stage.task).ask) == before


def test_the_end_of_the_training_part_is_played():
    stream = EventStream.from_arrays(src=[0, 1] * 100, dst=[2, 3] * 100, t=range(200))
    protocol = Protocol(batch_size=10, negatives_known=True)
    stage = Stage.prepare(stream, "link", "ctan", {"dim": 4}, protocol)
    seen = []
    stretch = stage.stretch
    object.__setattr__(stage, "stretch", lambda lo, hi: seen.append((lo, hi)) or stretch(lo, hi))
    found = profile(stage, batches=3, rounds=1)
    stop = stage.parts.train.stop
    assert set(seen) == {(stop - 30, stop)}
    assert (found.batches, found.events) == (3, 30)


def test_what_learns_nothing_has_no_step():
    stream = EventStream.from_arrays(src=[0, 1] * 10, dst=[2, 3] * 10, t=range(20))
    stage = Stage.prepare(stream, "link", "edgebank", {}, Protocol(negatives_known=True))
    with pytest.raises(ProtocolError, match="learns nothing"):
        profile(stage)


def test_weights_move_as_in_training(stage):
    before = [p.detach().clone() for p in stage.predictor.parameters()]
    profile(stage, batches=4, rounds=1)
    after = list(stage.predictor.parameters())
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
