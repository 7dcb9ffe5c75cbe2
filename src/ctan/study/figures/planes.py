"""The complex plane: a model's eigenvalues, and where solvers are stable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ctan.nn import SOLVERS
from ctan.study.figures.canvas import COLORS, grid, panels, save
from ctan.study.spectrum import Spectrum
from ctan.study.stability import FASTEST, norms

#: Eigenvalues that a step makes smaller, and those that it makes grow.
_FADES, _GROWS = COLORS[0], COLORS[1]
#: Growth by rounding is none.
_NONE = 1 + 1e-6


def draw_spectra(path: str | Path, spectra: Mapping[str, Spectrum]) -> None:
    """Eigenvalues of the ODE times the step size, of a step, of an event: a column per model.

    The stable region of the solver is grey in the first row, the unit circle in the others; what
    lies outside has another colour.

    Args:
        path: where to write the figure.
        spectra: by name.

    Example:
        >>> import tempfile
        >>> near = np.array([[-0.1 + 0.5j, -0.1 - 0.5j]])
        >>> path = Path(tempfile.mkdtemp()) / "spectra.png"
        >>> draw_spectra(path, {"a": Spectrum(near, 1 + near, 1 + near, "euler", 1.0)})
        >>> path.exists()
        True
    """
    across = max(2, len(spectra))
    size = 2.3 if len(spectra) > 2 else 3.0
    figure, rows = grid(3, across, size, size)
    fields = [each.epsilon * each.field.ravel() for each in spectra.values()]
    left = min(-0.15, *(each.real.min() - 0.05 for each in fields))
    right = max(0.08, *(each.real.max() + 0.05 for each in fields))
    high = max(1.1, *(1.1 * np.abs(each.imag).max() for each in fields))
    wide = max(1.1, *(1.1 * np.abs(s.event).max() for s in spectra.values()))
    wide = max(wide, *(1.1 * np.abs(s.step).max() for s in spectra.values()))
    for column, (name, spectrum) in enumerate(spectra.items()):
        top, middle, bottom = (row[column] for row in rows)
        solver = SOLVERS[spectrum.solver]
        _shade(top, solver.stability, (left, right), (-high, high))
        _points(top, spectrum.epsilon * spectrum.field, solver.stability)
        top.set_xlim(left, right)
        top.set_ylim(-high, high)
        top.set_title(name, fontsize=9)
        for axis, values in ((middle, spectrum.step), (bottom, spectrum.event)):
            _shade(axis, lambda z: z, (-wide, wide), (-wide, wide))
            _points(axis, values, lambda z: z)
            axis.set_aspect("equal")
        for axis in (top, middle, bottom):
            axis.tick_params(labelsize=8)
    for row, text in zip(rows, ("step size times field", "a step", "a whole event"), strict=True):
        row[0].set_ylabel(text, fontsize=9)
        for unused in row[len(spectra) :]:
            unused.set_axis_off()
    save(figure, path)


def _points(axis: Axes, values: NDArray[np.complexfloating], factor: Callable[[Any], Any]) -> None:
    values = np.ravel(values)
    grows = np.abs(factor(values)) > _NONE
    for chosen, color in ((~grows, _FADES), (grows, _GROWS)):
        axis.scatter(
            values[chosen].real, values[chosen].imag, s=5, alpha=0.5, linewidths=0, color=color
        )


def _shade(
    axis: Axes,
    factor: Callable[[Any], Any],
    real: tuple[float, float],
    imaginary: tuple[float, float],
) -> None:
    """Grey where this factor is no larger than 1."""
    # An even number of rows leaves out the real axis, and with it the pole of Cayley.
    x, y = np.meshgrid(np.linspace(*real, 400), np.linspace(*imaginary, 400))
    size = np.abs(factor(x + 1j * y))
    axis.contourf(x, y, size, levels=[-1, _NONE], colors=["0.92"])
    axis.contour(x, y, size, levels=[_NONE], colors=["0.5"], linewidths=1)


def draw_solver(path: str | Path, name: str, *, steps: int = 200) -> None:
    """One solver: where it is stable, and a state's norm over many steps at several step sizes.

    Args:
        path: where to write the figure.
        name: of the solver.
        steps: of the linear system, with the fresh weights of CTAN at 50 dimensions.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "heun.png"
        >>> draw_solver(path, "heun", steps=3)
        >>> path.exists()
        True
    """
    figure, (plane, undamped, damped) = panels(3)
    _shade(plane, SOLVERS[name].stability, (-3.2, 3.2), (-3.2, 3.2))
    for number, epsilon in enumerate((1.0, 0.5, 0.1)):
        top, color = 1j * epsilon * FASTEST, COLORS[number]
        for axis, gamma, style in ((undamped, 0.0, "-"), (damped, 0.1, ":")):
            ends = np.array([-top, top]) - epsilon * gamma
            plane.plot(ends.real, ends.imag, style, color=color, linewidth=1.8)
            norm = norms(name, epsilon=epsilon, gamma=gamma, steps=steps)
            # Those that keep the norm lie on one another: the first is the widest.
            width = 4.5 - 1.5 * number
            axis.plot(norm, color=color, linewidth=width, label=rf"$\epsilon$ = {epsilon:g}")
            axis.set_title(rf"norm of a state, $\gamma$ = {gamma:g}", fontsize=10)
            axis.set_xlabel("steps")
            axis.set_yscale("log")
            axis.set_ylim(1e-9, 1e9)
    plane.set_aspect("equal")
    plane.set_title(f"{name}: grey where a step does not grow", fontsize=10)
    plane.set_xlabel(r"Re $\epsilon\lambda$")
    plane.set_ylabel(r"Im $\epsilon\lambda$")
    undamped.legend(frameon=False, fontsize=9)
    save(figure, path)


def draw_solvers(path: str | Path, marked: Mapping[str, Any]) -> None:
    """Each solver's stability region, its growth on the imaginary axis, and Euler's bound.

    Args:
        path: where to write the figure.
        marked: arrays of eigenvalues times step size to mark in the plane, by name.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "solvers.png"
        >>> draw_solvers(path, {"a model": np.array([-0.1 + 1j, -0.1 - 1j])})
        >>> path.exists()
        True
    """
    figure, (plane, axis, bound) = panels(3)
    real, imaginary = np.meshgrid(np.linspace(-3.2, 3.2, 400), np.linspace(-3.2, 3.2, 400))
    omega = np.linspace(0, 3.2, 321)
    for number, solver in enumerate(SOLVERS.values()):
        # Cayley and the exponential are one line in both panels; dashes show the other below.
        style, color = "--" if solver.name == "exponential" else "-", COLORS[number]
        plane.contour(
            real, imaginary, np.abs(solver.stability(real + 1j * imaginary)), levels=[1.0],
            colors=[color], linewidths=1.6, linestyles=style,
        )  # fmt: skip
        factor = np.abs(solver.stability(1j * omega))
        axis.plot(omega, factor, style, color=color, label=solver.name)
    for number, (label, values) in enumerate(marked.items()):
        values = np.ravel(values)
        plane.scatter(
            values.real, values.imag, s=9, label=label, linewidths=0,
            color=COLORS[len(SOLVERS) + number], zorder=3,
        )  # fmt: skip
    plane.set_aspect("equal")
    plane.set_title("where a step does not grow", fontsize=10)
    plane.set_xlabel(r"Re $\epsilon\lambda$")
    plane.set_ylabel(r"Im $\epsilon\lambda$")
    if marked:
        plane.legend(frameon=False, fontsize=8, loc="upper right", handletextpad=0)
    axis.set_title("growth per step without damping", fontsize=10)
    axis.set_xlabel(r"$\epsilon\omega$")
    axis.set_ylim(0.7, 2)
    axis.legend(frameon=False, fontsize=9)
    _eulers_bound(bound)
    save(figure, path)


def _eulers_bound(axis: Axes) -> None:
    gamma = np.linspace(0, 1, 201)
    for number, epsilon in enumerate((1.0, 0.5, 0.1, 0.01)):
        edge = [SOLVERS["euler"].bound(g, epsilon) for g in gamma]
        axis.plot(gamma, edge, color=COLORS[number], label=rf"$\epsilon$ = {epsilon:g}")
    axis.axhline(FASTEST, color="0.3", linewidth=1, linestyle="--")
    axis.text(0.76, FASTEST + 0.05, "fastest of the default start", ha="right", fontsize=8)
    axis.set_title(r"Euler's bound on $|\omega|$", fontsize=10)
    axis.set_xlabel(r"$\gamma$")
    axis.set_ylim(0, 3.2)
    axis.legend(frameon=False, fontsize=9)
