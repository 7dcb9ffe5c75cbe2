"""On a CUDA device everything gives what it gives on the CPU, and no batch waits for the device."""

import pytest
import torch

from ctan.models import MODELS
from ctan.tasks import Phase, Protocol
from ctan.training import Adam, Stage, fit, play
from sample_streams import busy_graphs, busy_stream

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")

BATCHES = {"batch_size": 6, "graph_batch": 2, "negatives_known": True, "lr": 1e-2}
LINK = Protocol(**BATCHES)
ROADS = {
    "stale": ("link", busy_stream(0), LINK),
    "stale, observed": ("link", busy_stream(1, time="float64"), LINK.with_(update_from="observed")),
    "causal": ("link", busy_stream(2), LINK.with_(visibility="causal")),
    "ranking": ("ranking", busy_stream(3), LINK),
    "lockstep": (
        "edge",
        busy_graphs(0, graphs=10, events=24),
        LINK.with_(split="graph", readout="dst", through_time="all"),
    ),
}
TRAINED = [name for name in MODELS if name not in ("blend", "edgebank", "popularity", "recency")]


def stage_of(road, name, device):
    task, stream, protocol = ROADS[road]
    torch.manual_seed(0)
    return Stage.prepare(stream, task, name, {}, protocol, device)


def played(stage, phase, optimiser=None):
    state = stage.predictor.model.init_state(stage.device)
    return list(play(stage, state, stage.segments(phase), phase, optimiser))


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_the_cpu(name, road):
    if name not in TRAINED and road == "lockstep":
        pytest.skip("it scores pairs, not classes")
    on_cpu, on_gpu = (
        torch.cat([batch.scores.cpu() for batch in played(stage, Phase("train"))])
        for stage in (stage_of(road, name, "cpu"), stage_of(road, name, "cuda"))
    )
    torch.testing.assert_close(on_gpu, on_cpu, rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("name", TRAINED)
def test_training_waits_for_nothing(name, road):
    stage = stage_of(road, name, "cuda")
    optimiser = Adam(stage.predictor.parameters(), lr=1e-3)
    played(stage, Phase("train"), optimiser)  # libraries are loaded by now
    torch.cuda.set_sync_debug_mode("error")
    try:
        played(stage, Phase("train", 1), optimiser)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("road", ["stale", "lockstep"])
def test_a_run_ends_near_that_of_the_cpu(road):
    task, stream, protocol = ROADS[road]
    runs = [
        fit(stream, task=task, protocol=protocol.with_(epochs=2), device=device)
        for device in ("cpu", "cuda")
    ]
    losses = [[epoch["loss"] for epoch in run.history] for run in runs]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
