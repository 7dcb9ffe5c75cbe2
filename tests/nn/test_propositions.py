"""The propositions of the paper, as they are true, on the field of the ODE (not on its Euler map).

With a Phi that does not read h_u and the neighbours held fixed, the Jacobian of the field is
D (W - W^T - gamma I), with D the positive diagonal act' (times 1 - tanh^2 where psi is
tanh_concat). For an eigenpair v* D^-1 v is real and positive, and v* (W - W^T) v imaginary, so
Re(lambda) = -gamma |v|^2 / (v* D^-1 v), between -gamma max D and -gamma min D.
"""

import itertools

import pytest
import torch
from torch.autograd.functional import jacobian

from ctan.nn import AntiSymmetricStep, Incoming, InitialCondition, aggregation

DIM, NODE_DIM, EDGE_DIM, NEIGHBOURS = 8, 3, 2, 4
STRICTLY_INCREASING = ("tanh", "identity", "sigmoid", "softplus", "elu")
ROUNDING = {torch.float32: 2e-5, torch.float64: 2e-13}


class Point:
    """A node u with fixed neighbours, one of them met twice, somewhere in a random system."""

    def __init__(self, phi, psi, act, gamma, dtype, seed=0, learned=False, include_self=False):
        torch.manual_seed(seed)
        aggregate = aggregation(phi, DIM, EDGE_DIM)
        self.step = AntiSymmetricStep(
            DIM, aggregate, gamma=gamma, act=act, include_self=include_self
        ).to(dtype)
        torch.nn.init.normal_(self.step.bias)
        self.psi = InitialCondition(psi, DIM, NODE_DIM).to(dtype)
        if psi != "add" and not learned:
            with torch.no_grad():
                self.psi.encoder.weight[:, :DIM] = torch.eye(DIM)
        self.x = torch.randn(1, NODE_DIM, dtype=dtype)
        self.others = torch.randn(NEIGHBOURS, DIM, dtype=dtype)
        slot = torch.tensor([[*range(1, NEIGHBOURS + 1), 1]])
        self.edges = Incoming(
            slot,
            torch.ones_like(slot, dtype=torch.bool),
            torch.full((1 + NEIGHBOURS,), 5),
            torch.randn(1, NEIGHBOURS + 1, EDGE_DIM, dtype=dtype),
            torch.randn(1, EDGE_DIM, dtype=dtype),
        )
        if include_self:
            self.edges = self.edges.with_self()
        self.h = torch.randn(DIM, dtype=dtype)

    def field(self, h):
        """dh_u/dt as a function of the stored h_u alone."""
        own = self.psi(h.unsqueeze(0), self.x)
        rows = torch.cat([own, self.others])
        return self.step.field(own, self.step.phi(rows, self.edges))[0]

    def jacobian(self):
        return jacobian(self.field, self.h)

    def eigenvalues(self):
        return torch.linalg.eigvals(self.jacobian())

    def slopes(self):
        """The diagonal D at this point, by the derivative of each activation's formula."""
        own = self.psi(self.h.unsqueeze(0), self.x)
        aggregate = self.step.phi(torch.cat([own, self.others]), self.edges)
        z = (own @ self.step.generator().T + aggregate + self.step.bias)[0].detach()
        slope = {
            "identity": torch.ones_like(z),
            "tanh": 1 - torch.tanh(z) ** 2,
            "sigmoid": torch.sigmoid(z) * (1 - torch.sigmoid(z)),
            "softplus": torch.sigmoid(z),
            "elu": torch.where(z > 0, torch.ones_like(z), torch.exp(z)),
        }[self.step.act_name]
        inner = 1 - torch.tanh(self.h) ** 2 if self.psi.kind == "tanh_concat" else 1.0
        return slope * inner

    def tolerance(self):
        """Rounding of an eigenvalue: D S is not normal, but similar to a normal matrix."""
        slopes = self.slopes()
        condition = float((slopes.max() / slopes.min()).sqrt())
        size = float(torch.linalg.matrix_norm(self.jacobian(), 2))
        return ROUNDING[self.h.dtype] * max(1.0, size) * condition


CASES = list(
    itertools.product(["mean", "gcn"], ["add", "concat", "tanh_concat"], STRICTLY_INCREASING)
)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize(("phi", "psi", "act"), CASES)
def test_without_damping_all_eigenvalues_are_imaginary(phi, psi, act, dtype):
    for seed in range(3):
        point = Point(phi, psi, act, gamma=0.0, dtype=dtype, seed=seed)
        eigenvalues = point.eigenvalues()
        assert eigenvalues.real.abs().max() <= point.tolerance()
        assert eigenvalues.imag.abs().max() > 0.01  # there is something to rotate


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("gamma", [0.1, 1.5])
@pytest.mark.parametrize(("phi", "psi", "act"), CASES)
def test_damping_puts_the_real_parts_in_a_band(phi, psi, act, gamma, dtype):
    for seed in range(3):
        point = Point(phi, psi, act, gamma, dtype, seed=seed)
        real, slopes, rounding = point.eigenvalues().real, point.slopes(), point.tolerance()
        assert real.min() >= -gamma * slopes.max() - rounding
        assert real.max() <= -gamma * slopes.min() + rounding
        if act == "identity" and psi != "tanh_concat":
            torch.testing.assert_close(real, torch.full_like(real, -gamma), atol=rounding, rtol=0)


def test_the_jacobian_of_tanh_concat_is_a_w_b():
    point = Point("mean", "tanh_concat", "elu", gamma=0.3, dtype=torch.float64)
    own = point.psi(point.h.unsqueeze(0), point.x)
    aggregate = point.step.phi(torch.cat([own, point.others]), point.edges)
    z = own @ point.step.generator().T + aggregate + point.step.bias
    outer = torch.diag(torch.where(z[0] > 0, torch.ones_like(z[0]), torch.exp(z[0])))
    inner = torch.diag(1 - torch.tanh(point.h) ** 2)
    expected = outer @ point.step.generator() @ inner
    torch.testing.assert_close(point.jacobian(), expected)


def test_input_only_forgets_what_was_stored():
    psi = InitialCondition("input_only", DIM, NODE_DIM)
    h, x = torch.randn(2, DIM, requires_grad=True), torch.randn(2, NODE_DIM)
    assert psi(h, x).equal(psi(torch.zeros_like(h), x))
    assert torch.autograd.grad(psi(h, x).sum(), h, allow_unused=True)[0] is None


def largest_real_part(**settings):
    """Over 200 random systems, without damping: (largest, median) of max Re(lambda)."""
    real = [
        Point(gamma=0.0, dtype=torch.float64, seed=seed, **settings).eigenvalues().real.max()
        for seed in range(200)
    ]
    return float(max(real)), float(torch.stack(real).median())


@pytest.mark.parametrize(
    ("what", "settings"),
    [
        ("attention, psi add", {"phi": "attention", "psi": "add"}),
        (
            "attention with u itself, psi add",
            {"phi": "attention", "psi": "add", "include_self": True},
        ),
        ("mean with u itself, psi add", {"phi": "mean", "psi": "add", "include_self": True}),
        (
            "mean, psi concat with a learned encoder",
            {"phi": "mean", "psi": "concat", "learned": True},
        ),
    ],
)
def test_deviations_are_measured(what, settings, capsys):
    """Where Phi reads h_u, or an encoder mixes it, the proposition does not hold: how far from it?

    Nothing is asserted of the size, only that these systems do leave the imaginary axis.
    """
    largest, median = largest_real_part(act="tanh", **settings)
    with capsys.disabled():
        print(f"\n  {what}: largest real part {largest:.3f}, median {median:.3f} (gamma 0)")
    assert largest > 1e-6


def step_without_neighbours(gamma, epsilon, weight):
    step = AntiSymmetricStep(
        len(weight),
        aggregation("mean", len(weight), 0),
        gamma=gamma,
        epsilon=epsilon,
        act="identity",
    ).to(weight.dtype)
    with torch.no_grad():
        step.weight.copy_(weight)
    edges = Incoming(
        slot=torch.zeros(1, 1, dtype=torch.long),
        present=torch.zeros(1, 1, dtype=torch.bool),
        count=torch.zeros(1, dtype=torch.long),
        attr=weight.new_zeros(1, 1, 0),
    )
    return lambda h: step(h.unsqueeze(0), edges)[0]


def test_euler_is_stable_where_the_closed_form_says():
    """|1 + eps lambda| <= 1 exactly where |Im|^2 <= 2 gamma / eps - gamma^2 (identity act)."""
    torch.manual_seed(0)
    inside = outside = 0
    for _ in range(30):
        gamma, epsilon, scale = (torch.rand(3, dtype=torch.float64) * 1.5 + 0.05).tolist()
        weight = scale * torch.randn(DIM, DIM, dtype=torch.float64)
        euler = step_without_neighbours(gamma, epsilon, weight)
        growth = torch.linalg.eigvals(jacobian(euler, torch.randn(DIM, dtype=torch.float64))).abs()
        imaginary = torch.linalg.eigvals(weight - weight.T).imag
        stable = imaginary**2 <= 2 * gamma / epsilon - gamma**2
        # Pairs of conjugates and equal moduli: compare as sorted lists.
        expected = torch.sqrt((1 - epsilon * gamma) ** 2 + (epsilon * imaginary) ** 2)
        torch.testing.assert_close(growth.sort().values, expected.sort().values)
        assert ((expected <= 1) == stable).all()
        inside, outside = inside + int(stable.sum()), outside + int((~stable).sum())
    assert inside > 20
    assert outside > 20


def test_the_default_initialisation_can_be_unstable():
    """So gamma alone promises nothing: at eps = 1, gamma = 0.1 some states grow."""
    torch.manual_seed(0)
    step = AntiSymmetricStep(64, aggregation("mean", 64, 0), epsilon=1.0, gamma=0.1)
    imaginary = torch.linalg.eigvals((step.weight - step.weight.T).detach()).imag
    assert imaginary.abs().max() ** 2 > 2 * step.gamma / step.epsilon - step.gamma**2


def test_an_antisymmetric_linear_system_keeps_its_norm_as_the_step_shrinks():
    torch.manual_seed(0)
    weight = torch.randn(DIM, DIM, dtype=torch.float64) / 4
    start = torch.randn(DIM, dtype=torch.float64)
    exact = torch.linalg.matrix_exp(weight - weight.T) @ start
    torch.testing.assert_close(exact.norm(), start.norm())
    drift, error = [], []
    for steps in (100, 200, 400):
        euler, h = step_without_neighbours(0.0, 1 / steps, weight), start
        for _ in range(steps):
            h = euler(h).detach()
        drift.append(float(h.norm() / start.norm() - 1))
        error.append(float((h - exact).norm()))
    assert drift[-1] < 0.01
    for values in (drift, error):  # first order: half the step, half the error
        assert values[0] / values[1] == pytest.approx(2, rel=0.05)
        assert values[1] / values[2] == pytest.approx(2, rel=0.05)
