"""Figures of a study, drawn without a display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ctan.nn import SOLVERS
from ctan.study.reach import Reach
from ctan.study.signal import Signal
from ctan.study.spectrum import Spectrum
from ctan.study.stability import FASTEST, norms

# Okabe and Ito's colours, which people with colour blindness can tell apart.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
#: Below this a difference is drawn as this: single precision knows nothing smaller.
_FLOOR = 1e-8


def panels(columns: int, width: float = 4.2, height: float = 3.8) -> tuple[Figure, list[Axes]]:
    """An empty figure of some panels side by side, all with the same plain style.

    Example:
        >>> figure, axes = panels(2)
        >>> len(axes)
        2
    """
    figure = Figure(figsize=(width * columns, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = [figure.add_subplot(1, columns, column + 1) for column in range(columns)]
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(color="0.93")
        each.set_axisbelow(True)
    return figure, axes


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure; the suffix says in which format."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    # No date in the file: the same figure is the same bytes.
    figure.savefig(path, dpi=130, metadata={"Software": None} if str(path).endswith("png") else {})


def draw_signals(
    path: str | Path, signals: Mapping[str, Signal], *, along: str, columns: Sequence[str] = ()
) -> None:
    """Curves of what becomes of a signal: derivative, difference, and what can be read off.

    Args:
        path: where to write the figure.
        signals: curves by name.
        along: what a step is: ``hops`` or ``events``.
        columns: which of ``derivative``, ``difference`` and ``readable`` to draw; all if not given.

    Example:
        >>> import tempfile
        >>> flat = np.ones(3)
        >>> path = Path(tempfile.mkdtemp()) / "signal.png"
        >>> draw_signals(path, {"a": Signal(np.arange(3), flat, flat, flat, flat)}, along="hops")
        >>> path.exists()
        True
    """
    titles = {
        "derivative": "derivative of the embedding by the signal",
        "difference": "difference the signal's sign makes",
        "readable": "accuracy of a linear readout",
    }
    chosen = tuple(columns) or tuple(titles)
    figure, axes = panels(len(chosen))
    for axis, name in zip(axes, chosen, strict=True):
        for number, (label, signal) in enumerate(signals.items()):
            value = getattr(signal, name)
            known = ~np.isnan(value)
            shown = value[known] if name == "readable" else np.maximum(value[known], _FLOOR)
            axis.plot(
                signal.step[known] + 1, shown, label=label,
                color=COLORS[number % len(COLORS)], linestyle="-" if number < 8 else "--",
            )  # fmt: skip
        axis.set_title(titles[name], fontsize=10)
        axis.set_xlabel(along)
        if name == "readable":
            axis.axhline(0.5, color="0.7", linewidth=1, zorder=0)
            axis.set_ylim(0.4, 1.03)
        else:
            axis.set_yscale("log")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", frameon=False,
        ncols=min(5, len(signals)), fontsize=9,
    )  # fmt: skip
    save(figure, path)


def draw_spectra(path: str | Path, spectra: Mapping[str, Spectrum]) -> None:
    """Eigenvalues in the complex plane: of the ODE times the step size, of a step, of an event.

    Args:
        path: where to write the figure.
        spectra: by name.
    """
    figure, axes = panels(3, width=4.4, height=4.8)
    names = {each.solver for each in spectra.values()}
    _shade_stable(axes[0], sorted(names))
    angle = np.linspace(0, 2 * np.pi, 400)
    for axis in axes[1:]:
        axis.plot(np.cos(angle), np.sin(angle), color="0.5", linewidth=1)
    for number, (label, spectrum) in enumerate(spectra.items()):
        parts = (spectrum.epsilon * spectrum.field, spectrum.step, spectrum.event)
        for axis, values in zip(axes, parts, strict=True):
            axis.scatter(
                values.real, values.imag, s=7, alpha=0.6, linewidths=0, label=label,
                color=COLORS[number % len(COLORS)],
            )  # fmt: skip
    # The field lies near the imaginary axis: look there closely.
    scaled = [each.epsilon * each.field.ravel() for each in spectra.values()]
    real = np.concatenate([each.real for each in scaled])
    axes[0].set_xlim(min(-0.25, real.min() - 0.05), max(0.1, real.max() + 0.05))
    highest = max(1.2, 1.1 * max(np.abs(each.imag).max() for each in scaled))
    axes[0].set_ylim(-highest, highest)
    axes[0].set_title(f"step size times field; grey: {', '.join(sorted(names))} stable", fontsize=9)
    axes[1].set_title("the step, and the unit circle", fontsize=9)
    axes[2].set_title("a whole event, and the unit circle", fontsize=9)
    axes[0].set_ylabel("imaginary")
    for axis in axes:
        axis.set_xlabel("real")
    for axis in axes[1:]:
        axis.set_aspect("equal")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", frameon=False, ncols=4,
        markerscale=2.5, fontsize=9,
    )  # fmt: skip
    save(figure, path)


def _shade_stable(axis: Axes, names: Sequence[str]) -> None:
    """Grey where a step of these solvers does not grow: one shade over another for several."""
    real, imaginary = np.meshgrid(np.linspace(-2.5, 1.5, 401), np.linspace(-3.2, 3.2, 401))
    for name in names:
        growth = np.abs(SOLVERS[name].stability(real + 1j * imaginary))
        axis.contourf(real, imaginary, growth, levels=[-1, 1 + 1e-9], colors=["0.88"], alpha=0.7)
        axis.contour(real, imaginary, growth, levels=[1 + 1e-9], colors=["0.5"], linewidths=1)


def draw_solver(path: str | Path, name: str, *, steps: int = 200) -> None:
    """One solver: where it is stable, and a state's norm over many steps at several step sizes.

    Args:
        path: where to write the figure.
        name: of the solver.
        steps: of the linear system, with the fresh weights of CTAN at 50 dimensions.
    """
    figure, (plane, undamped, damped) = panels(3)
    _shade_stable(plane, [name])
    sizes = (1.0, 0.5, 0.1)
    for number, epsilon in enumerate(sizes):
        top = 1j * epsilon * FASTEST
        for gamma, style in ((0.0, "-"), (0.1, ":")):
            ends = np.array([-top, top]) - epsilon * gamma
            plane.plot(
                ends.real, ends.imag, style, color=COLORS[number], linewidth=2.5,
                label=rf"$\epsilon$ = {epsilon}" if not gamma else None,
            )  # fmt: skip
        for axis, gamma in ((undamped, 0.0), (damped, 0.1)):
            norm = norms(name, epsilon=epsilon, gamma=gamma, steps=steps)
            axis.plot(norm, color=COLORS[number], label=rf"$\epsilon$ = {epsilon}")
            axis.set_title(rf"norm of a state, $\gamma$ = {gamma:g}", fontsize=10)
            axis.set_xlabel("steps")
            axis.set_yscale("log")
            axis.set_ylim(1e-9, 1e9)
    plane.set_title(f"{name}: grey where a step does not grow", fontsize=10)
    plane.set_xlabel(r"Re $\epsilon\lambda$")
    plane.set_ylabel(r"Im $\epsilon\lambda$")
    plane.legend(frameon=True, fontsize=8, loc="upper left")
    undamped.legend(frameon=False, fontsize=8)
    save(figure, path)


def draw_solvers(path: str | Path, marked: Mapping[str, Any]) -> None:
    """Each solver's stability region, its growth on the imaginary axis, and Euler's bound.

    Args:
        path: where to write the figure.
        marked: arrays of eigenvalues times step size to mark in the plane, by name.
    """
    figure, (plane, axis, bound) = panels(3)
    real, imaginary = np.meshgrid(np.linspace(-4, 1.5, 330), np.linspace(-3.2, 3.2, 380))
    z = real + 1j * imaginary
    omega = np.linspace(0, 3.2, 321)
    for number, solver in enumerate(SOLVERS.values()):
        color = COLORS[number]
        growth = np.abs(solver.stability(z))
        # For Cayley and the exponential it is the left half plane.
        plane.contour(
            real, imaginary, growth, levels=[1.0], colors=[color], linewidths=1.6,
            linestyles="--" if solver.name == "exponential" else "-",
        )  # fmt: skip
        # Cayley and the exponential are one line here; dashes show both.
        style = "--" if solver.name == "exponential" else "-"
        axis.plot(
            omega, np.abs(solver.stability(1j * omega)), style, color=color, label=solver.name
        )
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
    plane.legend(frameon=True, fontsize=8, loc="upper left")
    axis.set_title("growth per step without damping", fontsize=10)
    axis.set_xlabel(r"$\epsilon\omega$")
    axis.set_ylim(0.7, 2)
    axis.legend(frameon=False, fontsize=9)
    gamma = np.linspace(0, 1, 201)
    for number, epsilon in enumerate((1.0, 0.5, 0.1, 0.01)):
        edge = np.sqrt(np.maximum(0, 2 * gamma / epsilon - gamma**2))
        bound.plot(gamma, edge, color=COLORS[number], label=rf"$\epsilon$ = {epsilon}")
    bound.axhline(2 * np.sqrt(2 / 3), color="0.3", linewidth=1, linestyle="--")
    bound.text(0.99, 1.68, "fastest of the default start", ha="right", fontsize=8, color="0.3")
    bound.set_title(r"Euler's bound on $|\omega|$", fontsize=10)
    bound.set_xlabel(r"$\gamma$")
    bound.set_ylim(0, 3.2)
    bound.legend(frameon=False, fontsize=9)
    save(figure, path)


def draw_reach(path: str | Path, found: Mapping[str, Reach], *, since: int = 0) -> None:
    """When each node first hears of the source: theory as lines, measurement as dots.

    Args:
        path: where to write the figure.
        found: by name; nodes in the order of their distance.
        since: step that counts as the first.
    """
    figure, (axis,) = panels(1, width=5.6)
    for number, (label, reach) in enumerate(found.items()):
        for values, style in ((reach.theory, "-"), (reach.measured, "o")):
            if values is None:
                continue
            nodes = np.flatnonzero(values >= since)
            axis.plot(
                nodes, values[nodes] - since + 1, style, color=COLORS[number % len(COLORS)],
                label=f"{label}: {'theory' if style == '-' else 'measured'}", markersize=5,
            )  # fmt: skip
    axis.set_xlabel("hops from the source")
    axis.set_ylabel("events until its input arrives")
    axis.legend(frameon=False, fontsize=9)
    save(figure, path)
