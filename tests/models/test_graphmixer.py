"""GraphMixer against PyTorch Geometric's encoders: equal outputs for equal weights."""

import math

import numpy as np
import pytest
import torch
from asking import history, view_of
from path_runs import accuracy_on_paths

from ctan.errors import ProtocolError
from ctan.events import EventStream
from ctan.models import Dims, GraphMixer, build

NODES, EVENTS = 7, 60
PAIRS = [(u, v) for u in range(NODES) for v in (0, 3)]


@pytest.fixture
def stream():
    """Distinct times: where links share a time, the reference reads them in another order."""
    rng = np.random.default_rng(0)
    src, dst = rng.integers(0, NODES - 1, (2, EVENTS))  # the last node meets no one
    return EventStream.from_arrays(
        src=src,
        dst=np.where(dst == src, (dst + 1) % (NODES - 1), dst),
        t=np.cumsum(rng.integers(1, 5, EVENTS)),
        msg=rng.normal(size=(EVENTS, 3)).astype(np.float32),
        x=rng.normal(size=(NODES, 2)).astype(np.float32),
        num_nodes=NODES,
    )


def made(**options):
    torch.manual_seed(1)
    dims = Dims(nodes=NODES, edge_dim=3, node_dim=2)
    return GraphMixer(dims, dim=6, time_dim=4, **options).eval()


def both_ways(stream, at):
    """Every event before position `at` as two edges, towards either end, for the reference."""
    src, dst = (torch.from_numpy(np.array(end[:at])) for end in (stream.src, stream.dst))
    edges = torch.stack([torch.cat([src, dst]), torch.cat([dst, src])])
    t = torch.from_numpy(np.array(stream.t[:at])).repeat(2)
    msg = torch.from_numpy(np.array(stream.msg[:at])).double().repeat(2, 1)
    return edges, t, msg


@pytest.mark.parametrize("neighbors", [2, 4, 40])  # 40: more than any node has
@pytest.mark.parametrize("at", [0, 9, EVENTS - 1])
def test_links_equal_those_of_pyg(stream, neighbors, at, float64):
    pyg = pytest.importorskip("torch_geometric.nn.models.graph_mixer")
    model = made(layers=1, neighbors=neighbors)
    reference = pyg.LinkEncoder(neighbors, 3, 6, 6, 4).eval()
    reference.temporal_encoder.weight = model.time.frequencies[None]
    reference.temporal_head = model.project
    block, mixer = model.mixer.blocks[0], reference.mlp_mixer
    mixer.token_norm, mixer.channel_norm = block.token_norm, block.channel_norm
    mixer.token_lin1, mixer.token_lin2 = block.mix_tokens[0], block.mix_tokens[3]
    mixer.channel_lin1, mixer.channel_lin2 = block.mix_channels[0], block.mix_channels[3]
    mixer.head_norm, mixer.head_lin = model.mixer.norm, model.head

    view = view_of(model, stream, PAIRS, at)
    own = model.head(model.mixer(model.links(view, 0, view.asked)))
    edges, t, msg = both_ways(stream, at)
    now = torch.full((NODES,), float(stream.t[at]))
    expected = reference(edges, msg, t.double(), now)
    torch.testing.assert_close(own, expected[view.node[: view.asked]])


@pytest.mark.parametrize("window", [1, 12, math.inf])
@pytest.mark.parametrize("at", [0, 9, EVENTS - 1])
def test_neighbours_equal_those_of_pyg(stream, window, at, float64):
    pyg = pytest.importorskip("torch_geometric.nn.models.graph_mixer")
    model = made(window=window)
    view = view_of(model, stream, PAIRS, at)
    edges, t, _ = both_ways(stream, at)
    x, now = torch.from_numpy(np.array(stream.x)).double(), torch.full((NODES,), stream.t[at])
    expected = pyg.NodeEncoder(window)(x, edges, t, now)[view.node[: view.asked]]
    # The features' own precision: they are averaged before they are widened.
    torch.testing.assert_close(model.neighborhood(view), expected, rtol=1e-6, atol=1e-6)


def test_the_embedding_adds_both_encoders(stream, float64):
    model = made()
    view = view_of(model, stream, PAIRS, 50)
    links = model.head(model.mixer(model.links(view, 0, view.asked)))
    expected = links + model.neighborhood(view) @ model.node_head.weight.T
    torch.testing.assert_close(model.embed(model.init_state(), view), expected)


def test_the_window_keeps_the_latest_links_of_a_hub(stream, float64):
    model = made(window_links=2)
    view = view_of(model, stream, PAIRS, 50)
    for row, node in enumerate(view.nodes[: view.asked]):
        met = [v for v, _ in history(stream, int(node), 50, 2)]
        near = stream.x[met].mean(0) if met else 0
        np.testing.assert_allclose(
            model.neighborhood(view)[row].numpy(), stream.x[node] + near, atol=1e-6
        )


def test_without_node_features_there_is_no_window():
    model = build("graphmixer", Dims(nodes=3, edge_dim=1))
    assert model.sees.window is None
    assert model.node_head is None


@pytest.mark.parametrize("node_dim", [0, 1])
def test_a_window_without_length_is_refused(node_dim):
    with pytest.raises(ProtocolError, match="span is 0"):
        GraphMixer(Dims(nodes=3, node_dim=node_dim), window=0)


def test_it_sees_one_hop_and_no_more():
    assert accuracy_on_paths("graphmixer", 2, "dst") > 0.9
    assert accuracy_on_paths("graphmixer", 3, "pair") > 0.9
    assert accuracy_on_paths("graphmixer", 3, "dst") < 0.75
    assert accuracy_on_paths("graphmixer", 4, "pair") < 0.75
