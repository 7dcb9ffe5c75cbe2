"""The results of finished runs, and how the pages show them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

Runs = list[dict[str, Any]]
NAMES = {"ctan": "CTAN", "jodie": "JODIE", "tgn": "TGN", "dyrep": "DyRep"}


def read(plan: str) -> Runs:
    """Every run of a plan, from its JSON lines; the older of them name no teaching."""
    lines = (RESULTS / f"{plan}.jsonl").read_text().splitlines()
    return [{"teaching": "repeated", **json.loads(line)} for line in lines]


def chosen(runs: Runs, **wanted: Any) -> Runs:
    """The runs with these values, of the trial or of the model's options."""
    return [
        run
        for run in runs
        if all(run["options"].get(key, run.get(key)) == value for key, value in wanted.items())
    ]


def cell(runs: Runs) -> str:
    """Mean and population deviation of test accuracy in percent; seeds where not ten."""
    if not runs:
        return ""
    accuracy = [100 * run["test"]["accuracy"] for run in runs]
    text = f"{statistics.mean(accuracy):.1f} ± {statistics.pstdev(accuracy):.1f}"
    return text if len(runs) == 10 else f"{text} ({len(runs)})"


def table(head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """A table in Markdown."""
    lines = [list(map(str, head)), *(list(map(str, row)) for row in rows)]
    marks = ["---"] + ["---:"] * (len(lines[0]) - 1)
    return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], marks, *lines[1:]])


def seconds(runs: Runs) -> str:
    return f"{statistics.median(run['seconds'] for run in runs):.0f}" if runs else ""
