"""TGAT equals a stack of PyG's convolutions; its clocks and encodings do what they say."""

import contract
import numpy as np
import pytest
import torch
from memory_oracle import assert_same_gradients, conv_twins, dims_of, edges_of, stream, walk
from path_runs import accuracy_on_paths
from torch_geometric.nn import TransformerConv
from torch_geometric.nn.models.tgn import TimeEncoder

from ctan.errors import CtanError
from ctan.models import TGAT, Dims
from ctan.models.tgat import Clock

DIM, TIME_DIM = 3, 2


@pytest.mark.parametrize("query_time", [True, False])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("node_dim", [0, 2])
def test_equals_a_stack_of_transformer_convs(query_time, layers, node_dim, float64):
    """Three units in each of two heads: an odd width, as in the paper's grids."""
    torch.manual_seed(0)
    events = stream(10, node_dim=node_dim)
    model = TGAT(
        dims_of(events),
        dim=DIM,
        layers=layers,
        dropout=0.0,
        time_dim=TIME_DIM,
        query_time=query_time,
    )
    time, convolutions, width = TimeEncoder(TIME_DIM), [], max(1, node_dim)
    twins = [(model.time.linear.weight, time.lin.weight), (model.time.linear.bias, time.lin.bias)]
    with torch.no_grad():
        for ours, theirs in twins:
            ours.copy_(theirs)
    for layer in model.stack.layers:
        conv = TransformerConv(width, DIM, heads=2, edge_dim=3 + TIME_DIM)
        twins += conv_twins(layer.phi, layer.own, conv)
        convolutions.append(conv)
        width = 2 * DIM
    assert {id(a) for a, _ in twins} == {id(p) for p in model.parameters()}

    t = torch.from_numpy(events.t)
    last = torch.zeros(events.num_nodes, dtype=torch.int64)
    state = model.init_state()
    for batch, view in walk(events, model, size=17):
        index, (target, column) = edges_of(view)
        event = view.event[target, column]
        reference = view.time[index[1]] if query_time else last[view.node][index[0]]
        elapsed = (reference - t[event]).abs().double()
        attr = torch.cat([torch.from_numpy(events.msg)[event], time(elapsed)], dim=1)
        h = view.x if node_dim else torch.zeros(len(view.nodes), 1)
        for conv in convolutions:
            h = torch.tanh(conv(h, index, attr))
        z = model.embed(state, view)
        torch.testing.assert_close(z, h[: view.asked])
        assert_same_gradients(z, h[: view.asked], twins)
        state = model.observe(state, batch, view)
        for e in batch.position:
            last[[events.src[e], events.dst[e]]] = t[e]


def test_its_own_time_is_no_memory():
    with_clock, without = (
        TGAT(Dims(nodes=4, start=7), dim=2, query_time=query_time) for query_time in (False, True)
    )
    assert (with_clock.stateful, without.stateful) == (True, False)
    state = with_clock.init_state()
    assert isinstance(state, Clock)
    assert state.last_update.tolist() == [7] * 4
    assert without.init_state().tensors() == {}


def test_fixed_frequencies_read_plain_times_exactly(float64):
    """cos(10^-9i/(d-1) * elapsed): whatever the statistics of the stream, and never trained."""
    events = stream(11)
    model = TGAT(
        Dims(nodes=14, edge_dim=3, elapsed_mean=5.0, elapsed_std=9.0),
        dim=DIM,
        time="fixed",
        time_dim=4,
    )
    assert not [name for name, _ in model.named_parameters() if name.startswith("time")]
    seconds = torch.tensor([0, 1, 1_600_000_001])
    frequency = 10.0 ** -np.array([0, 3, 6, 9])
    expected = np.cos(seconds.numpy()[:, None] * frequency)
    torch.testing.assert_close(model.time(seconds), torch.from_numpy(expected))
    seen = []
    model.time.register_forward_hook(lambda module, given, out: seen.append(given[0]))
    _, view = list(walk(events, model, size=20))[1]
    model.embed(model.init_state(), view)
    assert seen[0][view.present].equal(
        (view.time[: len(view.slot), None] - view.edge_time)[view.present]
    )


@pytest.mark.parametrize(
    "variant", [{"query_time": False}, {"time": "fixed"}, {"heads": 1, "dim": 5}], ids=str
)
@pytest.mark.parametrize("name", ["stale", "stale, observed", "causal", "lockstep"])
def test_variants_keep_the_contract(variant, name, float64, tmp_path):
    def make(dims):
        torch.manual_seed(0)
        return TGAT(dims, **{"dim": 3, "layers": 2, "dropout": 0.0, "time_dim": 3, **variant})

    setting = contract.settings()[name]
    contract.check_visibility(make, setting, every=5)
    contract.check_purity(make, setting)
    contract.check_saving(make, setting, tmp_path)
    contract.check_gradients(make, setting)


def test_unknown_time_encoding_is_named():
    with pytest.raises(CtanError, match="did you mean 'fixed'"):
        TGAT(Dims(nodes=3), time="fixd")


@pytest.mark.parametrize("layers", [1, 2])
def test_it_sees_as_far_as_its_layers(layers):
    """Of a path of n nodes the start is n - 1 hops from the destination, n - 2 from the source."""
    for readout, far in (("dst", layers + 1), ("pair", layers + 2)):
        assert accuracy_on_paths("tgat", far, readout, layers=layers) > 0.9
        assert accuracy_on_paths("tgat", far + 1, readout, layers=layers) < 0.75
