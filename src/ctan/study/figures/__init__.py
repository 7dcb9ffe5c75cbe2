"""Figures of a study, drawn without a display."""

from ctan.study.figures.canvas import COLORS, grid, panels, save
from ctan.study.figures.planes import draw_solver, draw_solvers, draw_spectra
from ctan.study.figures.signals import draw_reach, draw_signals

__all__ = [
    "COLORS",
    "draw_reach",
    "draw_signals",
    "draw_solver",
    "draw_solvers",
    "draw_spectra",
    "grid",
    "panels",
    "save",
]
