"""JODIE equals PyG's memory with an RNN in it, and its projection the formula."""

import torch
from memory_oracle import (
    assert_same_gradients,
    dims_of,
    memory_twins,
    pyg_memory,
    stream,
    tell,
    walk,
)
from torch_geometric.nn.models.tgn import LastAggregator

from ctan.models import JODIE, TGN

DIM, TIME_DIM = 5, 3


def test_equals_pyg_with_an_rnn(float64):
    """PyG has no JODIE; its memory takes any cell, as the paper's code has it."""
    torch.manual_seed(0)
    events = stream(8, ties=False)
    model = JODIE(dims_of(events), dim=DIM, time_dim=TIME_DIM)
    memory = pyg_memory(events, DIM, TIME_DIM, LastAggregator())
    memory.gru = torch.nn.RNNCell(memory.gru.input_size, DIM)
    twins = memory_twins(model.memory, memory)
    state = model.init_state()
    for batch, view in walk(events, model, size=11):
        # A node is asked about at several times: one entry each.
        s, last = (known[view.node] for known in memory(torch.arange(events.num_nodes)))
        elapsed = (view.time - last).double().unsqueeze(1)
        weight, bias = model.project.weight[:, 0], model.project.bias
        reference = (1 + elapsed * weight + bias) * s
        z = model.embed(state, view)
        torch.testing.assert_close(z, reference)
        if z.requires_grad:
            own = [(model.project.weight,) * 2, (model.project.bias,) * 2]
            assert_same_gradients(z, reference, twins + own)
        state = model.observe(state, batch, view).detach()
        tell(memory, events, batch)
        memory.detach()


def test_is_a_tgn():
    """One memory, one message: what is JODIE's own is the cell and the projection."""
    events = stream(9, node_dim=2)
    torch.manual_seed(0)
    jodie = JODIE(dims_of(events), dim=DIM)
    torch.manual_seed(0)
    tgn = TGN(dims_of(events), dim=DIM, cell="rnn", embedding="time")
    assert jodie.sees == tgn.sees
    assert all(a.equal(b) for a, b in zip(jodie.parameters(), tgn.parameters(), strict=True))


def test_the_projection_starts_small():
    """A memory is still itself after ten standard deviations of absence."""
    torch.manual_seed(0)
    weight = JODIE(dims_of(stream(9)), dim=100).project.weight.detach()
    assert 0.05 < weight.std().item() < 0.15
