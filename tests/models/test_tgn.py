"""TGN equals PyG's memory and convolution, and a literal reading, in outputs and gradients."""

import contract
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_oracle import (
    LiteralMemory,
    assert_same_gradients,
    conv_twins,
    dims_of,
    edges_of,
    memory_twins,
    pyg_memory,
    stream,
    tell,
    walk,
)
from torch_geometric.nn import TransformerConv
from torch_geometric.nn.models.tgn import LastAggregator, MeanAggregator, TGNMemory

from ctan.errors import CtanError
from ctan.events import EventStream
from ctan.models import TGN, Dims
from ctan.models.memory import spans

DIM, TIME_DIM = 4, 3
AGGREGATORS = {"last": LastAggregator, "mean": MeanAggregator}


@pytest.mark.parametrize("horizon", [1, 3])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("aggregator", AGGREGATORS)
def test_equals_pyg(aggregator, layers, horizon, float64):
    """Memory and attention layers, batches in which nodes repeat, gradients through 1 or 3.

    Where two events of a node have one time, PyG's `last` takes the message in the role of
    destination and ours the later one; a self-loop is one message to us and two to PyG's `mean`:
    neither occurs here, both do against the literal memory below. The neighbours are those of our
    view: PyG's `LastNeighborLoader` sorts unstably and misses some of the latest.
    """
    torch.manual_seed(0)
    events = stream(1, ties=False, loops=False)
    ours = TGN(
        dims_of(events),
        dim=DIM,
        layers=layers,
        aggregator=aggregator,
        dropout=0.0,
        time_dim=TIME_DIM,
    )
    memory = pyg_memory(events, DIM, TIME_DIM, AGGREGATORS[aggregator]())
    twins = memory_twins(ours.memory, memory)
    convolutions, width = [], DIM
    for layer in ours.stack.layers:
        conv = TransformerConv(width, DIM, heads=2, edge_dim=3 + TIME_DIM)
        twins += conv_twins(layer.phi, layer.own, conv)
        convolutions.append(conv)
        width = 2 * DIM
    assert {id(a) for a, _ in twins} == {id(p) for p in ours.parameters()}

    def theirs(view):
        h, last = memory(view.node)
        index, (target, column) = edges_of(view)
        event = view.event[target, column]
        elapsed = (last[index[0]] - torch.from_numpy(events.t)[event]).abs().double()
        told = torch.from_numpy(events.msg)[event].double()
        attr = torch.cat([told, memory.time_enc(elapsed)], dim=1)
        for conv in convolutions:
            h = torch.tanh(conv(h, index, attr))
        return h[: view.asked]

    state, z, reference = ours.init_state(), [], []
    for number, (batch, view) in enumerate(walk(events, ours, size=11), 1):
        z.append(ours.embed(state, view))
        reference.append(theirs(view))
        torch.testing.assert_close(z[-1], reference[-1])
        state = ours.observe(state, batch, view)
        tell(memory, events, batch)
        if number % horizon == 0:
            assert_same_gradients(torch.cat(z), torch.cat(reference), twins)
            state, z, reference = state.detach(), [], []
            memory.detach()
    assert number == 6


def test_pyg_unmended_differs(float64):
    """Why the reference above is mended: two things that ours does not do."""
    torch.manual_seed(0)
    events = EventStream.from_arrays(
        src=[0, 2], dst=[1, 0], t=[1, 5], msg=np.ones((2, 3)), num_nodes=4
    )
    memory = pyg_memory(events, DIM, TIME_DIM, MeanAggregator(), kind=TGNMemory)
    ours = TGN(dims_of(events), dim=DIM, embedding="identity", time_dim=TIME_DIM)
    state = ours.init_state()
    for batch, view in walk(events, ours, size=1):
        state = ours.observe(state, batch, view)
        tell(memory, events, batch)
    # Node 3 met no one and has a state all the same, made of the cell's biases. Every node stores
    # such a state when it is first met.
    assert memory(torch.tensor([3]))[0].abs().max() > 0.01
    assert ours.embed(state, view)[3].abs().max() == 0
    # Node 0 was a source, then a destination: it will be told of the first event a second time.
    assert memory.msg_s_store[0][2].tolist() == [1]
    assert memory.msg_d_store[0][2].tolist() == [5]
    assert state.waiting(np.array([0]))[0].tolist() == [1]


VARIANTS = {
    "last": {},
    "mean": {"aggregator": "mean"},
    "mlp, mean, rnn": {"message": "mlp", "aggregator": "mean", "cell": "rnn"},
    "mlp": {"message": "mlp"},
}


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("node_dim", [0, 2])
def test_memory_equals_a_literal_one(variant, node_dim, float64):
    """With ties, self-loops, nodes that change roles, and node features in the messages."""
    check_literal(stream(2, node_dim=node_dim, nodes=8), variant, size=13, horizon=2)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    events=st.integers(1, 40),
    nodes=st.integers(3, 12),
    size=st.integers(1, 20),
    mean=st.booleans(),
)
def test_memory_equals_a_literal_one_on_any_stream(seed, events, nodes, size, mean):
    torch.set_default_dtype(torch.float64)
    try:
        variant = {"aggregator": "mean" if mean else "last"}
        check_literal(stream(seed, events=events, nodes=nodes), variant, size, horizon=1)
    finally:
        torch.set_default_dtype(torch.float32)


def check_literal(events, variant, size, horizon):
    torch.manual_seed(0)
    model = TGN(dims_of(events), dim=DIM, embedding="identity", time_dim=TIME_DIM, **variant)
    oracle, state = LiteralMemory(model.memory, events), model.init_state()
    weights, z, reference = list(model.parameters()), [], []
    for number, (batch, view) in enumerate(walk(events, model, size), 1):
        z.append(model.embed(state, view)[:, :DIM])
        read = [oracle.read(node) for node in view.nodes[: view.asked].tolist()]
        reference.append(torch.stack([memory for memory, _ in read]))
        torch.testing.assert_close(z[-1], reference[-1])
        _, last = model.memory.read(state, view.nodes, view.features)
        assert last.tolist() == [t for _, t in read]
        state = model.observe(state, batch, view)
        oracle.observe(batch)
        if number % horizon == 0 and reference[-1].requires_grad:
            assert_same_gradients(torch.cat(z), torch.cat(reference), [(w, w) for w in weights])
            state, z, reference = state.detach(), [], []
            oracle.detach()


def test_node_features_stand_beside_the_memory(float64):
    events = stream(3, node_dim=2)
    model = TGN(dims_of(events), dim=DIM, embedding="identity")
    _, view = next(walk(events, model, size=10))
    assert model.dim == DIM + 2
    torch.testing.assert_close(model.embed(model.init_state(), view)[:, DIM:], view.x)


def test_sum_embedding_equals_the_formula(float64):
    """h' = W2 [h ; relu(sum_v W1 [h_v ; e ; time])], neighbour by neighbour."""
    torch.manual_seed(0)
    events = stream(4, node_dim=1)
    model = TGN(dims_of(events), dim=DIM, embedding="sum", time_dim=TIME_DIM, query_time=True)
    layer, time = model.stack.layers[0], model.memory.cell.time
    state = model.init_state()
    for batch, view in walk(events, model, size=12):
        s, _ = model.memory.read(state, view.nodes, view.features)
        h = torch.cat([s, view.x], dim=1)
        z = model.embed(state, view)
        for u in range(view.asked):
            total = torch.zeros(DIM)
            for j in range(int(view.count[u])):
                event = view.event[u, j]
                elapsed = time((view.time[u] - events.t[event]).double())
                msg = torch.from_numpy(events.msg)[event].double()
                total = total + layer.gather(torch.cat([h[view.slot[u, j]], msg, elapsed]))
            expected = layer.merge(torch.cat([h[u], torch.relu(total)]))
            torch.testing.assert_close(z[u], expected)
        state = model.observe(state, batch, view).detach()


def test_the_box_of_waiting_messages_stays_small(float64):
    """Answered messages make room: the box does not grow with the stream."""
    events = stream(5, events=2000, nodes=30)
    model = TGN(dims_of(events), dim=2, embedding="identity", aggregator="mean", time_dim=1)
    state = model.init_state()
    with torch.no_grad():
        for batch, view in walk(events, model, size=50):
            state = model.observe(state, batch, view)
    assert len(state.event) < 1000
    waiting = spans(state.start.numpy(), state.count.numpy())
    assert state.event.numpy()[waiting].min() >= 1000


@pytest.mark.parametrize(
    "variant",
    [
        {"aggregator": "mean", "message": "mlp", "embedding": "identity"},
        {"embedding": "sum", "layers": 2, "cell": "rnn"},
        {"query_time": True, "aggregator": "mean"},
        {"embedding": "time"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["stale", "stale, observed", "causal", "lockstep"])
def test_variants_keep_the_contract(variant, name, float64, tmp_path):
    def make(dims):
        torch.manual_seed(0)
        return TGN(dims, dim=6, time_dim=2, dropout=0.0, neighbors=3, **variant)

    setting = contract.settings()[name]
    contract.check_visibility(make, setting, every=5)
    contract.check_purity(make, setting)
    contract.check_reset(make, setting)
    contract.check_saving(make, setting, tmp_path)
    contract.check_gradients(make, setting)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"embedding": "atention"}, "did you mean 'attention'"),
        ({"aggregator": "max"}, "Known: last, mean"),
        ({"cell": "lstm"}, "Known: gru, rnn"),
        ({"message": "idenity"}, "did you mean 'identity'"),
    ],
)
def test_unknown_choices_are_named(option, message):
    with pytest.raises(CtanError, match=message):
        TGN(Dims(nodes=3), **option)
