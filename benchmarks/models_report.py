"""The tables of docs/models.md, from the library itself and from the records.

    python -m benchmarks.models_report

The records are made by `benchmarks/uci_models.py`, `uci_waits.py` and `memoryless.py`, and by
`ctan reproduce edgebank --root ../shared/data --datasets wikipedia,mooc --json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

from benchmarks import memoryless, uci_models, uci_waits
from benchmarks.pages import fill, table
from ctan.models import MODELS, Dims
from ctan.models.budgets import TOLERANCE, Count
from ctan.models.budgets import budgets as count_all
from ctan.models.card import Card, card
from ctan.report import budgets as report

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "models.md"
TITLES = {"wikipedia": "Wikipedia", "mooc": "MOOC"}


def cards() -> dict[str, Card]:
    """Every model at its default options, where events and nodes have no features."""
    return {name: card(name, Dims(nodes=1)) for name in MODELS}


def models() -> str:
    """What each model sees, remembers and costs."""
    rows = [
        [f"`{name}`", "; ".join(one.sees), one.bytes_per_node or "", _many(one.parameters)]
        for name, one in cards().items()
    ]
    return table(["model", "sees", "bytes a node", "weights"], rows, text=2)


def uses() -> str:
    """When to use each model, and where it comes from."""
    rows = [[f"`{name}`", one.use, one.paper] for name, one in cards().items()]
    return table(["model", "use", "paper"], rows, text=3)


def budgets() -> str:
    """Weights at the paper's sizes beside its budgets."""
    return report.markdown(_sized())


def off() -> str:
    """What is off by more than a tenth, and why."""
    return "\n".join(
        f"- {found.grid} `{found.model}`, {found.off:+.1%}: {found.reason}."
        for found in _sized()
        if abs(found.off) > TOLERANCE
    )


def assumptions() -> str:
    """What the counts assume."""
    return "\n".join(f"- {line}" for line in report.assumptions())


def uci() -> str:
    """Every model on UCI, best first."""
    return uci_models.table(uci_models.read())


def waits() -> str:
    """Questions about nodes that waited for longer than ever in training, and about the others."""
    return uci_waits.table(uci_waits.read())


def paths() -> str:
    """A row for each model without memory, its hops and readout; columns are path lengths."""
    records = memoryless.read()
    shown = dict.fromkeys((r["model"], r["hops"], r["readout"]) for r in records)
    rows = []
    for model, hops, readout in shown:
        cells = []
        for nodes in memoryless.lengths(hops):
            wanted = {"model": model, "hops": hops, "readout": readout, "nodes": nodes}
            found = [100 * r["accuracy"] for r in records if wanted.items() <= r.items()]
            cells.append(f"{mean(found):.1f} ± {pstdev(found):.1f}")
        rows.append([f"`{model}`", hops, readout, *cells])
    beyond = [f"n = L + {more}" for more in memoryless.BEYOND]
    return table(["model", "L", "readout", *beyond, f"n = {memoryless.FAR}"], rows)


def edgebank() -> str:
    """EdgeBank's AUC by window, beside the paper's columns."""
    found = json.loads((HERE / "results" / "edgebank-link.json").read_text())
    names = list(dict.fromkeys(r["dataset"] for r in found))
    windows = dict.fromkeys(r["window"] for r in found)
    by_place = {(r["window"], r["dataset"]): r for r in found}
    rows = [
        [window, *(_auc(by_place[window, name]) for name in names for _auc in _COLUMNS.values())]
        for window in windows
    ]
    head = [f"{TITLES[name]}, {column}" for name in names for column in _COLUMNS]
    return table(["window", *head], rows)


_COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "test": lambda r: f"{r['auc']:.2f}",
    "validation": lambda r: f"{r['val_auc']:.2f}",
    "the paper": lambda r: f"{r['paper']:.2f}",
}


def _sized() -> list[Count]:
    return [found for found in count_all() if found.dim is not None]


def _many(number: int) -> str:
    return f"{number:,}" if number else ""


TABLES: dict[str, Callable[[], str]] = {
    "models": models,
    "uses": uses,
    "budgets": budgets,
    "assumptions": assumptions,
    "off": off,
    "uci": uci,
    "waits": waits,
    "paths": paths,
    "edgebank": edgebank,
}


if __name__ == "__main__":
    fill(TABLES, PAGE)
