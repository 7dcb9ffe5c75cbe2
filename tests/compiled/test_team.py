"""Compiled functions on torch's threads: each part once, the same bits, and none after a fork."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from numba import njit

from ctan.compiled import team as team_module
from ctan.compiled.team import ALONE, spread, team
from ctan.nn import AntiSymmetricStep, Attention, Incoming
from ctan.nn.kernels import gru_gates
from ctan.nn.kernels.matmul import matmul


@pytest.fixture
def threads():
    """Set how many threads torch may use, until the test is done."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@njit
def _mark(part, parts, seen, of):
    seen[part] += 1
    of[part] = parts


@njit
def _mark_all(team, seen, of):
    spread(team, _mark, (seen, of))


@pytest.mark.parametrize("count", [2, 3, 5])
def test_each_part_is_done_once(count, threads):
    threads(count)
    found = team(1e12)
    if found == ALONE:
        pytest.skip("torch has no OpenMP runtime here that can be shared")
    assert found[3] == count
    for _ in range(50):
        seen, of = np.zeros(8, np.int64), np.zeros(8, np.int64)
        _mark_all(found, seen, of)
        assert seen.tolist() == [1] * count + [0] * (8 - count)
        assert of.tolist() == [count] * count + [0] * (8 - count)


def test_little_work_stays_alone(threads):
    threads(4)
    assert team(1) == ALONE
    assert team(2 * team_module.ENOUGH)[3] <= 2


def flow():
    """Two antisymmetric steps and their gradients, large enough for several threads."""
    draw = torch.Generator().manual_seed(0)
    h = torch.randn(700, 64, generator=draw, requires_grad=True)
    shape = (500, 5)
    edges = Incoming(
        slot=torch.randint(400, shape, generator=draw),
        present=torch.rand(shape, generator=draw) < 0.8,
        count=torch.zeros(700),
        attr=torch.randn(*shape, 4, generator=draw, requires_grad=True),
        table=torch.randn(300, 40, generator=draw),
        event=torch.randint(300, shape, generator=draw),
    )
    torch.manual_seed(0)
    step = AntiSymmetricStep(64, Attention(64, 44), epsilon=0.5)
    inputs = [h, edges.attr, *step.parameters()]
    found = []
    for targets in ([500], [500, 300]):
        out = step.steps(h, edges, targets)
        # The key's bias cancels in the softmax: it has no gradient.
        grads = torch.autograd.grad(out.square().sum(), inputs, allow_unused=True)
        found += [out, *(grad for grad in grads if grad is not None)]
    return found


def gates():
    draw = torch.Generator().manual_seed(0)
    given = [torch.randn(3000, width, generator=draw, requires_grad=True) for width in (96, 96, 32)]
    out = gru_gates(*given)
    return [out, *torch.autograd.grad(out.square().sum(), given)]


@pytest.mark.parametrize("work", [flow, gates])
def test_any_number_of_threads_gives_the_same_bits(work, threads):
    threads(1)
    alone = work()
    for count in (2, 3):
        threads(count)
        for ours, wanted in zip(work(), alone, strict=True):
            assert torch.equal(ours, wanted)


def test_fewer_threads_than_wanted_do_all_parts():
    """As where the machine limits them, or a team is started within another."""
    code = """
import numpy as np, torch
torch.set_num_threads(4)
from ctan.nn.kernels.matmul import matmul
a = np.random.default_rng(0).standard_normal((500, 200)).astype(np.float32)
whole = matmul(a, a.T)
torch.set_num_threads(1)
assert np.array_equal(whole, matmul(a, a.T))
"""
    for limit in ("1", "3"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "OMP_THREAD_LIMIT": limit},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore:.*multi-threaded")
def test_a_child_goes_on_alone(threads):
    """After a fork the runtime has no threads: to wait for them would be for ever."""
    threads(2)
    a = np.random.default_rng(0).standard_normal((400, 200)).astype(np.float32)
    wanted = matmul(a, a.T)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(matmul(a, a.T), wanted) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
