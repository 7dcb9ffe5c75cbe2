"""What a solver does to the weights of a fresh model, against closed forms."""

import math

import numpy as np
import pytest
import torch

from ctan.errors import CtanError
from ctan.nn import SOLVERS, AntiSymmetricStep, Mean
from ctan.study import FASTEST, norms, stability


def test_the_fastest_frequency_is_that_of_fresh_weights():
    torch.manual_seed(0)
    layers = [AntiSymmetricStep(400, Mean(400, edge_dim=0)) for _ in range(3)]
    fastest = [float(layer.frequencies().max()) for layer in layers]
    assert np.mean(fastest) == pytest.approx(FASTEST, rel=0.02)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("gamma", [0.0, 0.2])
def test_factors_are_those_of_the_stability_function(name, gamma):
    found = stability(name, epsilon=0.5, gamma=gamma)
    for factor, omega in ((found.at_rest, 0), (found.at_one, 1), (found.at_fastest, FASTEST)):
        z = 0.5 * complex(-gamma, omega)
        assert factor == pytest.approx(abs(SOLVERS[name].stability(np.array(z))))
    # What grows at the fastest frequency is exactly what lies beyond the bound.
    assert (found.at_fastest > 1 + 1e-9) == (found.stable_up_to < FASTEST)


@pytest.mark.parametrize("gamma", [0.0, 0.1])
def test_norms_of_the_exact_solution_are_those_of_the_damping(gamma):
    """W - W^T turns, gamma damps: the norm is e^(-gamma t), whatever the weights."""
    found = norms("exponential", epsilon=0.5, gamma=gamma, steps=20)
    np.testing.assert_allclose(found, np.exp(-gamma * 0.5 * np.arange(21)), rtol=1e-9)


@pytest.mark.parametrize("name", ["euler", "heun", "rk4"])
def test_norms_grow_in_the_end_as_the_largest_factor(name):
    epsilon, steps = 2.5, 400
    found = norms(name, epsilon=epsilon, gamma=0.0, steps=steps, dim=6)
    draw = torch.Generator().manual_seed(0)
    weight = (2 * torch.rand(6, 6, generator=draw, dtype=torch.float64) - 1) / math.sqrt(6)
    largest = SOLVERS[name].growth(torch.linalg.eigvals(weight - weight.T).numpy(), epsilon).max()
    assert found[-1] / found[-2] == pytest.approx(largest, rel=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "gamma"), [(0.0, 0.1), (-1.0, 0.1), (1.0, -0.1), (math.nan, 0)]
)
def test_impossible_steps_are_refused(epsilon, gamma):
    for ask in (stability, lambda *given: norms(given[0], epsilon=epsilon, gamma=gamma, steps=1)):
        with pytest.raises(CtanError, match="above 0"):
            ask("euler", epsilon, gamma)
