from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ctan.models import Rows, State

N, D = 5, 2

nodes = st.lists(st.integers(0, N - 1), max_size=4)
moves = st.one_of(
    st.tuples(st.just("read"), nodes),  # with repeats
    st.tuples(st.just("write"), nodes.map(lambda listed: list(dict.fromkeys(listed)))),
    st.tuples(st.just("write plain"), nodes.map(lambda listed: list(dict.fromkeys(listed)))),
    st.tuples(st.just("detach"), st.just([])),
)


@settings(deadline=None)
@given(st.lists(moves, max_size=14), st.randoms(use_true_random=False))
def test_rows_are_a_plain_tensor_with_gradients(script, random):
    """Writes depend on what was read before, so that gradients take every way through the table."""
    draw = torch.Generator().manual_seed(random.randrange(2**31))
    start = torch.randn(N, D, generator=draw, dtype=torch.float64)
    weight = torch.randn(D, D, generator=draw, dtype=torch.float64)

    def play(table, weight, read, write, detach):
        seen, carried = [], torch.ones(D, dtype=torch.float64)
        values = torch.Generator().manual_seed(7)
        for move, listed in script:
            at = np.array(listed, dtype=np.int64)
            if move == "read":
                seen.append(read(table, at))
                carried = carried + (seen[-1] ** 2).sum(0)
            elif move == "detach":
                table, carried = detach(table), carried.detach()
            else:
                fresh = torch.randn(len(listed), D, generator=values, dtype=torch.float64)
                value = torch.tanh((fresh + carried) @ weight)
                table = write(table, at, value.detach() if move == "write plain" else value)
        return table, seen

    def plain_write(table, at, value):
        after = table.clone()
        for node, row in zip(at.tolist(), value, strict=True):
            after[node] = row
        return after

    def gradient(seen, weight):
        total = sum(((i + 1) * rows).sum() for i, rows in enumerate(seen))
        if not isinstance(total, Tensor) or not total.requires_grad:
            return torch.zeros_like(weight)
        (grad,) = torch.autograd.grad(total, weight, allow_unused=True, materialize_grads=True)
        return grad

    ours, theirs = weight.clone().requires_grad_(), weight.clone().requires_grad_()
    rows, rows_seen = play(
        Rows(start.clone()),
        ours,
        lambda table, at: table.read(at),
        lambda table, at, value: table.write(at, value),
        lambda table: table.detach(),
    )
    plain, plain_seen = play(
        start.clone(),
        theirs,
        lambda table, at: table[torch.from_numpy(at)],
        plain_write,
        lambda table: table.detach(),
    )
    for a, b in zip(rows_seen, plain_seen, strict=True):
        assert a.equal(b)
    torch.testing.assert_close(gradient(rows_seen, ours), gradient(plain_seen, theirs))
    assert rows.read(np.arange(N)).equal(plain)
    assert rows.dense().equal(plain)
    assert not rows.dense().requires_grad


def test_reading_is_a_copy():
    rows = Rows(torch.zeros(N, D))
    before = rows.read(np.array([1]))
    rows = rows.write(np.array([1]), torch.ones(1, D))
    assert before.sum() == 0
    assert rows.read(np.array([1])).sum() == D


@dataclass
class Small(State):
    h: Rows
    last: Tensor


def small(value=0.0):
    return Small(Rows(torch.full((N, D), value)), torch.zeros(N, dtype=torch.int64))


def test_a_state_is_saved_and_loaded_by_name():
    state = small()
    state.h = state.h.write(np.array([2]), torch.ones(1, D, requires_grad=True))
    state.last[2] = 9
    other = small(5.0).load({name: value.clone() for name, value in state.tensors().items()})
    assert other.h.dense().sum() == D
    assert other.last.tolist() == [0, 0, 9, 0, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: tensors.pop("last"), r"holds \['h', 'last'\], the saved one \['h'\]"),
        (lambda tensors: tensors.update(last=torch.zeros(N)), "float32"),
        (lambda tensors: tensors.update(h=torch.zeros(N + 1, D)), r"\(6, 2\)"),
    ],
)
def test_a_state_of_another_shape_is_refused(change, message):
    tensors = dict(small().tensors())
    change(tensors)
    with pytest.raises(ValueError, match=message):
        small().load(tensors)


def test_detach_ends_the_gradient_everywhere():
    state = small()
    state.h = state.h.write(np.array([0]), torch.ones(1, D, requires_grad=True))
    assert state.h.read(np.array([0])).requires_grad
    state = state.detach()
    assert not state.h.read(np.array([0])).requires_grad
