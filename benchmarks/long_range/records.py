"""The results of finished runs, and how the pages show them."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

Runs = list[dict[str, Any]]
NAMES = {"ctan": "CTAN", "jodie": "JODIE", "tgn": "TGN", "dyrep": "DyRep"}


def read(plan: str) -> Runs:
    """Every run of a plan so far, from its JSON lines; the older of them name no teaching."""
    path = RESULTS / f"{plan}.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
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


def seconds(runs: Runs) -> str:
    """Median time of one thread: of the processor where a run has noted it, else by the clock."""
    times = [run.get("cpu_seconds", run["seconds"]) for run in runs]
    return f"{statistics.median(times):.0f}" if times else ""
