"""The tables and figures of docs/long-range.md and docs/solvers.md.

    python -m benchmarks.long_range.report                  # all of them
    python -m benchmarks.long_range.report reached spectra  # tables, and these figures
    python -m benchmarks.long_range.report none             # tables

Tables are written into the pages between their markers; figures into docs/figures.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from benchmarks.long_range import closed_forms, figures, figures_of_runs, tables
from benchmarks.pages import fill

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (DOCS / "long-range.md", DOCS / "solvers.md")
TABLES = tables.TABLES | closed_forms.TABLES
FIGURES = figures.FIGURES | figures_of_runs.FIGURES


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("figures", nargs="*", choices=[*FIGURES, "none"], default=[*FIGURES])
    asked = parser.parse_args().figures
    fill(TABLES, *PAGES)
    torch.set_num_threads(1)
    for name in asked:
        if name != "none":
            FIGURES[name](DOCS / "figures")
            print(name, flush=True)


if __name__ == "__main__":
    main()
