"""Rows in vector registers against numpy, ends included; nothing beyond them is touched."""

import numpy as np
import pytest
from numba import njit

from ctan.compiled.rows import add_both, address, array_at, dot, weighted_sum

LENGTHS = [0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 100, 172]
DTYPES = [np.float32, np.float64]
TOLERANCE = {np.float32: 1e-5, np.float64: 1e-13}


@njit
def product(x, y, row, length):
    return dot(x.dtype.type(0), address(x, row, 1), address(y, row, 1), length)


@njit
def mix(weights, x, rows, out, length):
    at = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        at[i] = address(x, rows[i], 1)
    weighted_sum(
        x.dtype.type(0), weights.ctypes.data, at.ctypes.data, len(rows), address(out, 1, 1), length
    )


@njit
def add(a, x, b, y, out, length):
    add_both(a, address(x, 1, 1), b, address(y, 1, 1), address(out, 1, 1), length)


@njit
def read(x, row, length):
    return array_at(x.dtype.type(0), address(x, row), length).copy()


def drawn(dtype, length, seed):
    """Three rows of which only the columns 1 to ``length`` are meant."""
    return np.random.default_rng(seed).standard_normal((3, length + 40)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", LENGTHS)
def test_dot(dtype, length):
    x, y = drawn(dtype, length, 0), drawn(dtype, length, 1)
    meant = slice(1, length + 1)
    wanted = np.dot(x[2, meant].astype(float), y[2, meant].astype(float))
    assert abs(product(x, y, 2, length) - wanted) < 20 * TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_weighted_sum(dtype, length, count):
    x, out = drawn(dtype, length, 0), drawn(dtype, length, 1)
    weights, rows = drawn(dtype, 3, 2)[0, :count].copy(), np.array([2, 0, 2])[:count]
    wanted = out.copy()
    wanted[1, 1 : length + 1] = weights @ x[rows, 1 : length + 1]
    mix(weights, x, rows, out, length)
    np.testing.assert_allclose(out, wanted, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", LENGTHS)
def test_add_both(dtype, length):
    x, y, out = (drawn(dtype, length, seed) for seed in range(3))
    a, b, meant = dtype(0.5), dtype(-2), (1, slice(1, length + 1))
    wanted = out.copy()
    wanted[meant] += a * x[meant] + b * y[meant]
    add(a, x, b, y, out, length)
    np.testing.assert_allclose(out, wanted, rtol=0, atol=TOLERANCE[dtype])


def test_an_address_as_an_array():
    x = drawn(np.float64, 5, 0)
    np.testing.assert_array_equal(read(x, 2, 9), x[2, :9])
