"""The tables and figures of docs/long-range.md and docs/solvers.md.

    python benchmarks/long_range/report.py                  # all of them
    python benchmarks/long_range/report.py reached spectra  # tables, and these figures
    python benchmarks/long_range/report.py none             # tables

Tables are written into the pages between their markers; figures into docs/figures.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import closed_forms
import tables
import torch
from figures import FIGURES
from figures_of_runs import curves, lengths
from records import chosen, read

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("long-range.md", "solvers.md")
OF_RUNS = {"lengths": lengths, "curves": curves}
TABLES = tables.TABLES | closed_forms.TABLES


def write_tables() -> None:
    texts = {name: (DOCS / name).read_text() for name in PAGES}
    for name, make in TABLES.items():
        marked = re.compile(rf"(<!-- table {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        homes = [page for page, text in texts.items() if marked.search(text)]
        if len(homes) != 1:
            raise SystemExit(f"table {name}: expected a place for it in one of {', '.join(PAGES)}")
        written = make()
        texts[homes[0]] = marked.sub(
            lambda m, written=written: f"{m[1]}{written}\n{m[2]}", texts[homes[0]]
        )
    for page, text in texts.items():
        (DOCS / page).write_text(text)


def main() -> None:
    known = [*FIGURES, *OF_RUNS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("figures", nargs="*", choices=[*known, "none"], default=known)
    asked = parser.parse_args().figures
    write_tables()
    torch.set_num_threads(1)
    home = DOCS / "figures"
    for name in asked:
        if name in FIGURES:
            FIGURES[name](home)
        elif name in OF_RUNS:
            OF_RUNS[name](home, read, chosen)
        print(name, flush=True)


if __name__ == "__main__":
    main()
