import pytest
import torch

from ctan.errors import CtanError
from ctan.nn import (
    ACTIVATIONS,
    AntiSymmetricStep,
    InitialCondition,
    Mean,
    Readout,
    TimeEncoding,
    activation,
)
from ctan.nn.memory import MemoryCell, Message


@pytest.fixture
def draw():
    torch.manual_seed(0)
    return torch.randn


@pytest.mark.parametrize("node_dim", [0, 3, 4])
@pytest.mark.parametrize("kind", ["add", "concat", "tanh_concat", "input_only"])
def test_initial_conditions_are_their_formulas(kind, node_dim, draw):
    psi = InitialCondition(kind, 4, node_dim)
    h, x = draw(5, 4), draw(5, node_dim) if node_dim else None
    joined = h if x is None else torch.cat([h, x], dim=1)
    if kind in ("concat", "tanh_concat"):
        joined = torch.tanh(joined) if kind == "tanh_concat" else joined
        expected = joined @ psi.encoder.weight.T + psi.encoder.bias
    else:
        expected = torch.zeros_like(h) if kind == "input_only" else h
        if x is not None:
            expected = expected + (x if node_dim == 4 else x @ psi.encoder.weight.T)
    torch.testing.assert_close(psi(h, x), expected)


def test_initial_conditions_of_another_name_are_refused():
    with pytest.raises(CtanError, match="did you mean 'concat'"):
        InitialCondition("concatt", 4, 1)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_never_fall(name):
    z = torch.linspace(-5, 5, 1001, dtype=torch.float64)
    assert (activation(name)(z).diff() >= 0).all()


@pytest.mark.parametrize("kind", ["dst", "pair"])
def test_readouts_are_their_formulas_pair_by_pair(kind, draw):
    readout = Readout(4, outputs=2, kind=kind)
    z = draw(6, 4)
    src, dst = torch.tensor([0, 0, 5]), torch.tensor([1, 2, 5])
    hidden = z[dst] @ readout.from_destination.weight.T + readout.from_destination.bias
    if kind == "pair":
        hidden = hidden + z[src] @ readout.from_source.weight.T + readout.from_source.bias
    expected = torch.relu(hidden) @ readout.final.weight.T + readout.final.bias
    torch.testing.assert_close(readout(z[src], z[dst]), expected)
    source = readout.source(z)
    once = readout.combine(None if source is None else source[src], readout.destination(z)[dst])
    torch.testing.assert_close(once, expected)


def test_time_encoding_is_a_row_of_cosines(draw):
    encode = TimeEncoding(3)
    delta = draw(2, 5)
    weight, bias = encode.linear.weight[:, 0], encode.linear.bias
    torch.testing.assert_close(encode(delta), torch.cos(delta[..., None] * weight + bias))


@pytest.mark.parametrize("cell", ["rnn", "gru"])
def test_memory_cell_is_told_everything_in_order(cell, draw):
    memory = MemoryCell(4, edge_dim=2, node_dim=3, time_dim=5, cell=cell)
    told = Message(draw(6, 4), draw(6, 4), draw(6), draw(6, 2), draw(6, 3), draw(6, 3))
    parts = [told.own, told.other, told.msg, told.x_own, told.x_other, memory.time(told.elapsed)]
    expected = memory.cell(torch.cat(parts, dim=1), told.own)
    torch.testing.assert_close(memory(memory.message(told), told.own), expected)
    if cell == "rnn":
        rnn = memory.cell
        literal = torch.tanh(
            torch.cat(parts, dim=1) @ rnn.weight_ih.T
            + rnn.bias_ih
            + told.own @ rnn.weight_hh.T
            + rnn.bias_hh
        )
        torch.testing.assert_close(expected, literal)


def test_what_is_printed():
    step = AntiSymmetricStep(4, Mean(4, edge_dim=0), epsilon=0.5, act="relu", include_self=True)
    assert repr(step).splitlines()[1].strip() == (
        "dim=4, epsilon=0.5, gamma=0.1, act='relu', include_self=True"
    )
    assert repr(TimeEncoding(3)).startswith("TimeEncoding(\n  dim=3")
    assert "'pair', dim=4, outputs=1" in repr(Readout(4))
    assert "'add', dim=2, node_dim=2" in repr(InitialCondition("add", 2, 2))
