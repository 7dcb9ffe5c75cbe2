"""Solvers against closed-form linear problems: order, norms, stability; and where each stops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ctan.errors import CtanError
from ctan.nn import SOLVERS, AntiSymmetricStep, Incoming, Mean, solver
from ctan.nn.solvers import phi1

pytestmark = pytest.mark.usefixtures("float64")

NORM_PRESERVING = ("cayley", "exponential")


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def rotation(dim=4, gamma=0.0):
    """A generator W - W^T - gamma I, and a constant input."""
    w = torch.randn(dim, dim)
    return w - w.T - gamma * torch.eye(dim), torch.randn(dim)


def solve(name, generator, constant, h, time, steps, act=lambda z: z):
    for _ in range(steps):
        h = SOLVERS[name].step(
            lambda s: act(s @ generator.T + constant), h, time / steps, generator
        )
    return h


def exact(generator, constant, h, time):
    """h(t) = e^{tA} h + A^{-1} (e^{tA} - I) c."""
    flow = torch.linalg.matrix_exp(time * generator)
    moved = torch.linalg.solve(generator, (flow - torch.eye(len(h[0]))) @ constant)
    return h @ flow.T + moved


@pytest.mark.parametrize("name", SOLVERS)
def test_converges_to_the_linear_solution_at_its_order(name):
    generator, constant = rotation()
    h = torch.randn(3, 4)
    truth = exact(generator, constant, h, time=1.0)
    coarse, fine = (
        float((solve(name, generator, constant, h, 1.0, steps) - truth).abs().max())
        for steps in (64, 128)
    )
    if SOLVERS[name].order == math.inf:
        assert coarse < 1e-12
    else:
        assert math.log2(coarse / fine) == pytest.approx(SOLVERS[name].order, abs=0.1)


@pytest.mark.parametrize("name", SOLVERS)
def test_converges_with_tanh(name):
    """Consistency with an activation; the reference is RK4 with a hundred times smaller steps."""
    generator, constant = rotation(gamma=0.1)
    h = torch.randn(3, 4)
    truth = solve("rk4", generator, constant, h, 1.0, 5000, torch.tanh)
    coarse, fine = (
        float((solve(name, generator, constant, h, 1.0, n, torch.tanh) - truth).abs().max())
        for n in (50, 100)
    )
    # Implicit only in the linear part, Cayley and exponential are first order here, and say so.
    order = {"euler": 1, "heun": 2, "rk4": 4, "cayley": 1, "exponential": 1}[name]
    assert math.log2(coarse / fine) == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize("name", NORM_PRESERVING)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_undamped_states_keep_their_norm(name, epsilon):
    generator, _ = rotation(dim=8)
    h = torch.randn(5, 8)
    after = solve(name, generator, torch.zeros(8), h, 100 * epsilon, 100)
    torch.testing.assert_close(after.norm(dim=1), h.norm(dim=1))
    assert not torch.allclose(after, h)


def test_euler_makes_undamped_states_grow_by_the_known_factor():
    generator = torch.tensor([[0.0, 2.0], [-2.0, 0.0]])
    h = torch.randn(1, 2)
    after = solve("euler", generator, torch.zeros(2), h, 5.0, 10)
    assert float(after.norm() / h.norm()) == pytest.approx((1 + 0.5**2 * 2**2) ** (10 / 2))


@pytest.mark.parametrize("name", SOLVERS)
@given(real=st.floats(-3, 1), imaginary=st.floats(-3, 3))
def test_one_step_multiplies_by_the_stability_function(name, real, imaginary):
    """On a 2 x 2 rotation with damping the step is multiplication by R(epsilon lambda)."""
    generator = torch.tensor([[real, -imaginary], [imaginary, real]], dtype=torch.float64)
    h = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    got = SOLVERS[name].step(lambda s: s @ generator.T, h, 0.5, generator)
    factor = SOLVERS[name].stability(np.array(0.5 * (real + 1j * imaginary)))
    np.testing.assert_allclose(got[0].numpy(), [factor.real, factor.imag], atol=1e-9)


@given(gamma=st.floats(0.001, 1.5), epsilon=st.floats(0.05, 1.0))
def test_eulers_bound_is_the_closed_form(gamma, epsilon):
    """|1 + eps (-gamma + i w)| <= 1 exactly where w^2 <= 2 gamma / eps - gamma^2."""
    omega = solver("euler").bound(gamma, epsilon)
    assert omega**2 == pytest.approx(2 * gamma / epsilon - gamma**2)
    grow = solver("euler").growth
    assert grow([-gamma + 0.999j * omega], epsilon)[0] < 1
    assert grow([-gamma + 1.001j * omega], epsilon)[0] > 1


@given(gamma=st.floats(0.001, 1.5), epsilon=st.floats(0.05, 1.0))
def test_heuns_bound_is_the_closed_form(gamma, epsilon):
    """With Euler's bound e: w^2 = e^2 + 2 e / eps, and nothing slower grows either."""
    eulers, omega = solver("euler").bound(gamma, epsilon), solver("heun").bound(gamma, epsilon)
    assert omega**2 == pytest.approx(eulers**2 + 2 * eulers / epsilon)
    slower = np.linspace(0, 0.999, 50) * omega
    assert solver("heun").growth(-gamma + 1j * slower, epsilon).max() < 1
    assert solver("heun").growth([-gamma + 1.001j * omega], epsilon)[0] > 1


@given(y=st.floats(0, 3.2))
def test_factors_without_damping_are_the_polynomials_of_the_page(y):
    """docs/solvers.md, on the imaginary axis; Cayley turns by 2 arctan(y / 2) instead of y."""
    z = np.array(1j * y)
    square = {name: abs(SOLVERS[name].stability(z)) ** 2 for name in SOLVERS}
    assert square["euler"] == pytest.approx(1 + y**2)
    assert square["heun"] == pytest.approx(1 + y**4 / 4)
    assert square["rk4"] == pytest.approx(1 - y**6 / 72 + y**8 / 576)
    assert square["cayley"] == pytest.approx(1)
    assert square["exponential"] == pytest.approx(1)
    assert np.angle(SOLVERS["cayley"].stability(z)) == pytest.approx(2 * math.atan(y / 2))


def test_without_damping_euler_and_heun_bear_no_rotation_rk4_bears_some_and_cayley_any():
    assert solver("euler").bound(0.0, 1.0) == 0
    assert solver("heun").bound(0.0, 1.0) == 0
    assert solver("rk4").bound(0.0, 0.5) == pytest.approx(2 * math.sqrt(8), abs=1e-3)
    for name in NORM_PRESERVING:
        assert solver(name).bound(0.0, 1.0) == math.inf


@pytest.mark.parametrize("name", ["euler", "heun", "rk4"])
@pytest.mark.parametrize("gamma", [0.05, 0.5])
def test_a_frequency_beyond_the_bound_explodes_and_one_within_does_not(name, gamma):
    bound = solver(name).bound(gamma, 1.0)
    norms = []
    for omega in (0.98 * bound, 1.02 * bound):
        generator = torch.tensor([[-gamma, -omega], [omega, -gamma]])
        norms.append(
            float(solve(name, generator, torch.zeros(2), torch.ones(1, 2), 2000.0, 2000).norm())
        )
    assert norms[0] < 1.0
    assert norms[1] > 10


def test_phi1_is_the_integral_of_the_exponential_also_where_it_is_singular():
    generator, _ = rotation(3)  # odd and antisymmetric: singular
    assert abs(float(torch.linalg.det(generator))) < 1e-12
    times = torch.linspace(0, 1, 2001)
    values = torch.linalg.matrix_exp(times[:, None, None] * generator)
    torch.testing.assert_close(
        phi1(generator), torch.trapezoid(values, times, dim=0), atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("name", SOLVERS)
def test_a_layer_takes_its_step_with_its_solver(name):
    """With identity act and no neighbours, L steps are L times the linear map R(eps A)."""
    layer = AntiSymmetricStep(
        4, Mean(4, edge_dim=0), epsilon=0.5, gamma=0.2, act="identity", solver=name
    )
    alone = Incoming(
        slot=torch.zeros(3, 1, dtype=torch.long),
        present=torch.zeros(3, 1, dtype=torch.bool),
        count=torch.zeros(3, dtype=torch.long),
        attr=torch.zeros(3, 1, 0),
    )
    h = torch.randn(3, 4)
    values, vectors = torch.linalg.eig(layer.generator())
    factors = torch.from_numpy(SOLVERS[name].stability(0.5 * values.detach().numpy()))
    power = (vectors @ torch.diag(factors) @ torch.linalg.inv(vectors)).real
    torch.testing.assert_close(layer(h, alone), h @ power.T)


@pytest.mark.parametrize("name", SOLVERS)
def test_gradients_reach_the_weights_through_every_solver(name):
    w = torch.randn(3, 3, requires_grad=True)
    h = torch.randn(2, 3, requires_grad=True)

    def after(w, h):
        generator = w - w.T - 0.1 * torch.eye(3)
        return SOLVERS[name].step(lambda s: torch.tanh(s @ generator.T), h, 0.7, generator)

    assert torch.autograd.gradcheck(after, (w, h))


def test_an_unknown_solver_is_named_with_those_that_exist():
    with pytest.raises(CtanError, match="euler"):
        solver("eulr")
