r"""tanh, sine and cosine in plain arithmetic, which the compiler turns into vector code.

The C library has them one number at a time, and torch's tanh takes ten times as long as this one.

.. math::
    \tanh x = \frac{e}{e + 2}, \quad e = \mathrm{expm1}(2x) = 2^n\, \mathrm{expm1}(r) + 2^n - 1,
    \quad 2x = n \ln 2 + r, \quad |r| \le \tfrac{\ln 2}{2}

and sine and cosine come from those of :math:`r = x - n \pi / 2`, :math:`|r| \le \pi / 4`. What is
left is small enough for a few terms of the series: errors are of a few units in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic, overload

# Constants in two parts, the first with few digits: multiples of it have no rounding error.
_LN2 = (355 / 512, math.log(2) - 355 / 512)
_HALF_PI = (float.fromhex("0x1.921fb544p+0"), 6.077100506506192e-11)


@intrinsic
def _power_of_two(typing: Any, zero: Any, exponent: Any) -> Any:
    """``2 ** exponent`` as a number of the type of ``zero``: the exponent's bits in their place."""
    digits, bias = (23, 127) if zero.bitwidth == 32 else (52, 1023)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = given[1].type
        bits = builder.shl(builder.add(given[1], kind(bias)), kind(digits))
        return builder.bitcast(bits, context.get_value_type(signature.return_type))

    return zero(zero, exponent), generate


def tanh(x: Any) -> Any:
    """The hyperbolic tangent, for compiled functions."""
    return math.tanh(x)


@overload(tanh, jit_options={"fastmath": {"contract"}, "error_model": "numpy"})
def _tanh(x: Any) -> Callable[[Any], Any]:
    # 1e-8 and 1e-17 of the sum are left out; beyond 10 and 20 the answer is 1.
    single = x == types.float32
    number, whole, terms, most = (
        (np.float32, np.int32, 7, 10) if single else (np.float64, np.int64, 13, 20)
    )
    zero, half, one, two, limit = (number(value) for value in (0, 0.5, 1, 2, most))
    high, low, inverse = (number(value) for value in (*_LN2, 1 / math.log(2)))
    first, *others = (number(1 / math.factorial(k)) for k in range(terms, 0, -1))
    series = tuple(others)

    def compute(x: Any) -> Any:
        y = two * min(abs(x), limit)
        n = whole(y * inverse + half)
        r = (y - number(n) * high) - number(n) * low
        total = first
        for term in series:
            total = total * r + term
        scale = _power_of_two(zero, n)
        e = scale * (total * r) + (scale - one)
        return math.copysign(e / (e + two), x)

    return compute


_SIN = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(7, -1, -1))
_COS = tuple((-1) ** k / math.factorial(2 * k) for k in range(8, -1, -1))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def cosine(x: Any, quarters: int) -> Any:
    """The cosine of ``x`` less so many quarters of a turn: less one it is the sine."""
    x = np.float64(x)
    turns = np.floor(x * (2 / math.pi) + 0.5)
    r = (x - turns * _HALF_PI[0]) - turns * _HALF_PI[1]
    square = r * r
    sine, cosine = _SIN[0], _COS[0]
    for term in _SIN[1:]:
        sine = sine * square + term
    for term in _COS[1:]:
        cosine = cosine * square + term
    # Of each quarter the one function or the other, up or down.
    quarter = np.int64(turns) - quarters
    value = r * sine if quarter & 1 else cosine
    return -value if (quarter + 1) & 2 else value
