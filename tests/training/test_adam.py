"""Our Adam moves weights as torch's does, and the two take over each other's state."""

import pytest
import torch

from ctan.training import Adam

SHAPES = [(7, 5), (5,), (1, 3), (), (300,)]


def weights(dtype):
    draw = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=draw, dtype=dtype).requires_grad_() for shape in SHAPES]


def give_gradients(number, *sides, by_columns=False):
    draw = torch.Generator().manual_seed(number)
    for of_each in zip(*sides, strict=True):
        grad = torch.randn(of_each[0].shape, generator=draw, dtype=of_each[0].dtype)
        # Some weights have no gradient now and then.
        absent = grad.dim() == 1 and number % 3 == 0
        for weight in of_each:
            turned = by_columns and grad.dim() == 2
            laid_out = grad.T.contiguous().T if turned else grad.clone()
            weight.grad = None if absent else laid_out


def assert_close(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_the_same_steps_as_torch(dtype, decay):
    ours, theirs = weights(dtype), weights(dtype)
    mine = Adam(ours, lr=0.01, weight_decay=decay)
    other = torch.optim.Adam(theirs, lr=0.01, weight_decay=decay)
    for number in range(20):
        give_gradients(number, ours, theirs, by_columns=True)
        mine.step()
        other.step()
        if number == 10:
            mine.param_groups[0]["lr"] = other.param_groups[0]["lr"] = 0.002
    assert_close(ours, theirs)
    mine.zero_grad()
    assert all(weight.grad is None for weight in ours)


def test_state_goes_from_one_to_the_other_and_back():
    ours, theirs = weights(torch.float32), weights(torch.float32)
    mine, other = Adam(ours, lr=0.01), torch.optim.Adam(theirs, lr=0.01)
    for number in range(9):
        give_gradients(number, ours, theirs)
        mine.step()
        other.step()
        if number % 3 == 2:
            states = mine.state_dict(), other.state_dict()
            mine.load_state_dict(states[1])
            other.load_state_dict(states[0])
    assert_close(ours, theirs)


def test_what_is_not_served_takes_torchs_road():
    weight = torch.ones(3, dtype=torch.bfloat16, requires_grad=True)
    optimiser = Adam([weight], lr=0.5)
    weight.sum().backward()
    optimiser.step()
    assert weight.tolist() == [0.5, 0.5, 0.5]
    assert optimiser.step(lambda: torch.tensor(2.0)) == 2.0
