"""DyRep equals a literal reading of its memory, the partner's embedding computed by PyG."""

import pytest
import torch
from memory_oracle import (
    LiteralMemory,
    assert_same_gradients,
    conv_twins,
    dims_of,
    stream,
    walk,
)
from torch_geometric.nn import TransformerConv

from ctan.models import DyRep
from ctan.models.state import Rows

DIM = 4


class LiteralDyRep(LiteralMemory):
    """Messages say how PyG's convolution sees the partner among those it had met by then."""

    def __init__(self, memory, stream, conv, neighbors):
        super().__init__(memory, stream, self.embedding)
        self.conv, self.neighbors = conv, neighbors
        self.met = {node: [] for node in range(stream.num_nodes)}
        self.noted = {}

    def embedding(self, node, partner, event):
        near = self.noted[node]
        h = torch.stack([self.memory[n] for n in [partner, *(n for n, _ in near)]])
        index = torch.tensor([[1 + j, 0] for j in range(len(near))], dtype=torch.int64)
        told = None
        if self.stream.msg is not None:
            told = torch.tensor(self.stream.msg[[e for _, e in near]].astype(float))
        return self.conv(h, index.view(-1, 2).T, told)[0]

    def observe(self, events):
        super().observe(events)
        # Whom the partner of each node's last event had met before this batch.
        partners = {node: self.waiting[node][-1][0] for node in events.touched.tolist()}
        self.noted |= {n: self.met[v][-self.neighbors :] for n, v in partners.items()}
        for event, u, v in zip(events.position, events.src, events.dst, strict=True):
            for node, partner in {int(u): int(v), int(v): int(u)}.items():
                self.met[node].append((partner, int(event)))


@pytest.mark.parametrize(("edge_dim", "node_dim"), [(3, 0), (3, 2), (0, 1)])
@pytest.mark.parametrize("horizon", [1, 3])
def test_equals_a_literal_reading(edge_dim, node_dim, horizon, float64):
    torch.manual_seed(0)
    events = stream(6, edge_dim=edge_dim, node_dim=node_dim, events=80)
    model = DyRep(dims_of(events), dim=DIM, neighbors=3)
    conv = TransformerConv(DIM, DIM, edge_dim=edge_dim or None)
    twins = conv_twins(model.memory.phi, model.memory.partner, conv)
    cell = [(p, p) for p in model.memory.cell.parameters()]
    assert {id(a) for a, _ in twins + cell} == {id(p) for p in model.parameters()}
    oracle, state = LiteralDyRep(model.memory, events, conv, neighbors=3), model.init_state()
    z, reference = [], []
    for number, (batch, view) in enumerate(walk(events, model, size=13), 1):
        z.append(model.embed(state, view)[:, :DIM])
        nodes = view.nodes[: view.asked].tolist()
        reference.append(torch.stack([oracle.read(node)[0] for node in nodes]))
        torch.testing.assert_close(z[-1], reference[-1])
        state = model.observe(state, batch, view)
        oracle.observe(batch)
        if number % horizon == 0 and reference[-1].requires_grad:
            assert_same_gradients(torch.cat(z), torch.cat(reference), twins + cell)
            state, z, reference = state.detach(), [], []
            oracle.detach()


def test_a_node_hears_of_its_partner_s_friends(float64):
    """0 has met 1; when 2 meets 0, what 1's memory holds changes 2's, and 3 knows nothing of it."""
    torch.manual_seed(0)
    events = stream(7, events=2, edge_dim=0)
    events = type(events).from_arrays(src=[0, 2], dst=[1, 0], t=[1, 2], num_nodes=4)
    model = DyRep(dims_of(events), dim=DIM)

    def answers(value):
        state = model.init_state()
        table = state.memory.base.clone()
        table[1] = value
        state.memory = Rows(table)
        for batch, view in walk(events, model, size=1):
            state = model.observe(state, batch, view)
        return [model.memory.read(state, view.nodes[[n]], view.features)[0] for n in (2, 3)]

    (two, three), (two_changed, three_changed) = answers(0.0), answers(1.0)
    assert (two - two_changed).abs().max() > 1e-3
    assert three.equal(three_changed)
