"""`make bench`: the library beside its peers, in one run, as ratios.

    python -m benchmarks.speed [ROW ...] [--data FOLDER] [--rounds 5]

Sides run in turn, one thread unless a row says otherwise; a ratio is that of the medians. Each row
writes benchmarks/results/speed-ROW.json, and all of them together the tables of docs/speed.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any

import torch

from benchmarks import speed_report
from benchmarks.rows import ROWS
from ctan.training import environment

RESULTS = Path(__file__).parent / "results"


def measure(name: str, data: Path, rounds: int) -> None:
    """Run one row, write what it found and print it."""
    load = os.getloadavg()[0]
    found = ROWS[name](data, rounds)
    record = {
        "name": name,
        "rounds": rounds,
        "load_before": round(load, 2),
        "processor": platform.processor() or platform.machine(),
        "environment": environment(),
        "results": found,
    }
    (RESULTS / f"speed-{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    for line in found:
        print(json.dumps({k: v for k, v in line.items() if k != "runs"}), flush=True)


def main() -> None:
    """Measure the rows asked for, and write one JSON file each and the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}; all if none")
    parser.add_argument("--data", type=Path, default=os.environ.get("CTAN_DATA", "../shared/data"))
    parser.add_argument("--rounds", type=int, default=5)
    given: Any = parser.parse_args()
    unknown = [name for name in given.rows if name not in ROWS]
    if unknown:
        parser.error(f"no row {', '.join(unknown)}: choose of {', '.join(ROWS)}")
    torch.set_num_threads(1)
    RESULTS.mkdir(exist_ok=True)
    for name in given.rows or ROWS:
        measure(name, Path(given.data), given.rounds)
    speed_report.main()


if __name__ == "__main__":
    main()
