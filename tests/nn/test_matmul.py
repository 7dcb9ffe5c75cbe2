"""The compiled matrix product against numpy's, for any shape, stride and sum to add to."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctan.nn.kernels.matmul import matmul, multiply

TOLERANCE = {np.float32: 1e-4, np.float64: 1e-12}
SIZES = st.one_of(st.integers(0, 40), st.sampled_from([64, 65, 79, 80, 81, 100, 127, 128, 129]))


def drawn(rng, rows, columns, dtype, laid):
    """Numbers laid out by rows, by columns, or as part of a larger array."""
    if laid == "columns":
        return rng.standard_normal((columns, rows)).astype(dtype).T
    if laid == "part":
        return rng.standard_normal((rows + 2, columns + 3)).astype(dtype)[1:-1, 2:-1]
    return rng.standard_normal((rows, columns)).astype(dtype)


@settings(max_examples=150, deadline=None)
@given(
    shape=st.tuples(SIZES, SIZES, SIZES),
    dtype=st.sampled_from([np.float32, np.float64]),
    laid=st.tuples(*[st.sampled_from(["rows", "columns", "part"])] * 2),
    start=st.sampled_from(["none", "row", "all", "itself"]),
    seed=st.integers(0, 1000),
)
def test_equals_numpys_and_writes_nowhere_else(shape, dtype, laid, start, seed):
    (m, k, n), rng = shape, np.random.default_rng(seed)
    a, b = drawn(rng, m, k, dtype, laid[0]), drawn(rng, k, n, dtype, laid[1])
    around = rng.standard_normal((m + 2, n + 40)).astype(dtype)
    before, out = around.copy(), around[1 : m + 1, 20 : n + 20]
    starts = {
        "none": out[:0],
        "row": rng.standard_normal((1, n)).astype(dtype),
        "all": rng.standard_normal((m, n)).astype(dtype),
        "itself": out,
    }
    wanted = a @ b + (0 if start == "none" else starts[start].copy())
    multiply(a, b, starts[start], out)
    np.testing.assert_allclose(out, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    outside = np.ones(around.shape, bool)
    outside[1 : m + 1, 20 : n + 20] = False
    np.testing.assert_array_equal(around[outside], before[outside])


def test_what_is_no_number_stays_in_its_row_and_column():
    a, b = np.ones((20, 200)), np.ones((200, 30))
    a[3, 150], b[7, 29] = np.nan, np.inf
    out = matmul(a, b)
    assert np.isnan(out[3]).all()
    assert np.isinf(np.delete(out, 3, axis=0)[:, 29]).all()
    assert (np.delete(out, 3, axis=0)[:, :29] == 200).all()


def test_sizes_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"\(2, 3\) @ \(4, 5\): the sizes between the two differ"):
        matmul(np.ones((2, 3)), np.ones((4, 5)))


@pytest.mark.parametrize("features", ["", "+sse4.2,+avx,+avx2,+fma"])
def test_processors_with_narrower_registers(features, tmp_path):
    """Products and attention, compiled for a processor that can do less than this one."""
    tests = [str(Path(__file__)), str(Path(__file__).with_name("test_kernels.py"))]
    only = "equals_numpys or attention_layer"
    settings = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": features}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:benchmark",
            "-k",
            only,
            *tests,
        ],
        env={**os.environ, **settings, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
