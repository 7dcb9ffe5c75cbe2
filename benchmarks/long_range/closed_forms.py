"""The tables of docs/solvers.md: what each solver does to a linear problem, and in training."""

from __future__ import annotations

import math
from collections.abc import Callable

from benchmarks.long_range.records import cell, chosen, read, seconds
from benchmarks.pages import table
from ctan.nn import SOLVERS
from ctan.study import FASTEST, norms, stability

STEPS = 200
#: Step size and damping: the recipe's, and smaller and undamped ones.
SETTINGS = ((1.0, 0.1), (0.5, 0.1), (0.1, 0.1), (1.0, 0.0), (0.5, 0.0), (0.1, 0.0))


def bounds() -> str:
    """Up to which frequency a step never grows."""
    rows = [
        [f"`{name}`", *(_frequency(stability(name, e, g).stable_up_to) for e, g in SETTINGS)]
        for name in SOLVERS
    ]
    return table(["bears ω up to", *(f"ε = {e:g}, γ = {g:g}" for e, g in SETTINGS)], rows)


def factors() -> str:
    """What a step makes of the fastest frequency of fresh weights."""
    rows = [
        [f"`{name}`", *(f"{stability(name, e, g).at_fastest:.4f}" for e, g in SETTINGS)]
        for name in SOLVERS
    ]
    head = f"factor of a step at ω = {FASTEST:.2f}"
    return table([head, *(f"ε = {e:g}, γ = {g:g}" for e, g in SETTINGS)], rows)


def long_runs() -> str:
    """What many steps make of a state of fresh weights."""
    rows = [
        [
            f"`{name}`",
            *(_power(norms(name, epsilon=e, gamma=g, steps=STEPS)[-1]) for e, g in SETTINGS),
        ]
        for name in SOLVERS
    ]
    return table(
        [f"norm after {STEPS} steps", *(f"ε = {e:g}, γ = {g:g}" for e, g in SETTINGS)], rows
    )


def solved() -> str:
    """T-PathGraph with each solver, from the results of finished runs."""
    runs = read("ablations")
    found = {name: chosen(runs, solver=name) for name in SOLVERS if name != "euler"}
    # The recipe's own solver, from a plan that ran on the same machine.
    found = {"euler": chosen(read("gain"), gain=3.0, length=20)} | found
    return table(
        ["latching start, n = 20", "test accuracy, %", "seconds a run (median)"],
        [[f"`{name}`", cell(each), seconds(each)] for name, each in found.items()],
    )


def _frequency(value: float) -> str:
    return "any" if math.isinf(value) else f"{value:.2f}"


def _power(value: float) -> str:
    """Plain where that is short, and as a power of ten elsewhere."""
    if 0.001 <= value < 1000:
        return f"{value:.3f}"
    exponent = math.floor(math.log10(value))
    return f"{value / 10**exponent:.1f}e{exponent}"


TABLES: dict[str, Callable[[], str]] = {
    make.__name__: make for make in (bounds, factors, long_runs, solved)
}
