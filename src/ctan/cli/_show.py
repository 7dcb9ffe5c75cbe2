"""What the commands print: results on stdout, all else on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

#: Where the progress goes, and what is not a result.
notes = Console(stderr=True, highlight=False)


def say(text: str, style: str = "") -> None:
    """A line on stderr, as it stands (no markup, no breaks of its own)."""
    notes.print(Text(text, style), soft_wrap=True)


def fail(message: str) -> None:
    """The one error of a command that failed."""
    notes.print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)


def out(text: str = "") -> None:
    """A line on stdout."""
    _stdout().print(Text(text), soft_wrap=True)


def heading_out(name: str, text: str) -> None:
    """A name and what it stands for, on stdout."""
    _stdout().print(Text.assemble((name, "bold"), f": {text}"), soft_wrap=True)


def json_out(document: Any) -> None:
    """The one JSON document of a command; JSON knows no infinite numbers."""
    sys.stdout.write(json.dumps(_finite(document), indent=2, allow_nan=False) + "\n")


def table_out(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout; the first column holds names, the others numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left", header_style="dim")
    for row in rows:
        table.add_row(*row)
    _stdout().print(table)


def results_out(results: dict[str, Any], epochs: int) -> None:
    """Validation and test metrics of a run, and how they were obtained."""
    parts = {"validation": results["val"], "test": results["test"]}
    for view, metrics in results.get("views", {}).items():
        parts[f"test, {view}"] = metrics
    names = [*(name for name in results["test"] if name != "loss"), "loss"]
    rows = [
        [part, *(f"{metrics[name]:.4f}" if name in metrics else "" for name in names)]
        for part, metrics in parts.items()
        if any(name in metrics for name in names)
    ]
    table_out(f"{results['task']}, {results['model']}", ["", *names], rows)
    out(
        f"best epoch {results['best_epoch'] + 1} of {epochs}, "
        f"{results['parameters']:,} parameters\nprotocol: {results['summary']}"
    )


def _stdout() -> Console:
    # Made when it is used: what stdout is may change (in tests, and where it is redirected).
    console = Console(highlight=False)
    # A file has no width of its own; tables in it are not broken.
    return console if console.is_terminal else Console(highlight=False, width=160)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
