"""tanh, sine and cosine for compiled loops, against the C library in higher precision."""

import numpy as np
import pytest
from numba import njit

from ctan.compiled.functions import cosine, tanh

PRECISION = {np.float32: 2**-24, np.float64: 2**-53}


@njit
def all_tanh(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = tanh(x[i])
    return out


@njit
def all_cosines(x, quarters):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = cosine(x[i], quarters)
    return out


@pytest.mark.parametrize("dtype", PRECISION)
def test_tanh_is_right_to_a_few_units_in_the_last_place(dtype):
    x = np.concatenate([np.linspace(-12, 12, 100_001), np.logspace(-30, 1.5, 1001)]).astype(dtype)
    wanted = np.tanh(x.astype(np.longdouble))
    at = wanted != 0
    error = np.abs((all_tanh(x)[at] - wanted[at]) / wanted[at])
    assert error.max() < 4 * PRECISION[dtype]


@pytest.mark.parametrize("dtype", PRECISION)
def test_tanh_of_what_is_no_ordinary_number(dtype):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30], dtype)
    found = all_tanh(x)
    np.testing.assert_array_equal(found, np.tanh(x))
    assert np.signbit(found[1])


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("reach", [1, 100, 1e6])
def test_cosine_and_sine(dtype, reach):
    x = (np.random.default_rng(0).uniform(-1, 1, 50_000) * reach).astype(dtype)
    exact = x.astype(np.longdouble)
    for quarters, wanted in ((0, np.cos(exact)), (1, np.sin(exact))):
        error = np.abs(all_cosines(x, quarters) - wanted)
        assert error.max() < 2 * PRECISION[dtype]


def test_cosine_at_the_turns():
    x = np.arange(-8, 9) * (np.pi / 2)
    np.testing.assert_allclose(all_cosines(x, 0), np.cos(x), atol=1e-15)
    np.testing.assert_allclose(all_cosines(x, 1), np.sin(x), atol=1e-15)
    assert np.isnan(all_cosines(np.array([np.nan, np.inf]), 0)).all()
