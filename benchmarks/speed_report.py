"""The tables of docs/speed.md, from the records of `make bench` and of `benchmarks/scale.py`.

python -m benchmarks.speed_report
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.pages import fill, table

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "speed.md"
PEERS = ("ctan1", "ctan5", "tgn", "pathgraph", "ranking", "evaluator", "sampling", "products")
OTHERS = ("threads", "compiled", "seeds")
NAMES = {"pyg": "PyG's parts", "tgm": "TGM", "plain": "our plain layers", "torch": "torch"}


def peers() -> str:
    """Every row beside its peers."""
    return _ratios(PEERS)


def others() -> str:
    """Threads, torch.compile, several seeds at once."""
    return _ratios(OTHERS)


def protocols() -> str:
    """How each row was measured."""
    told: dict[str, None] = {}
    for row in (*PEERS, *OTHERS):
        for line in _read(row):
            told[f"- *{line['work']}*: {line['protocol']}."] = None
    return "\n".join(told)


def parts() -> str:
    """Where a training step's time goes."""
    found = _read("share")
    names = list(found[0]["parts_ms"])
    rows = [
        [
            line["work"],
            f"{line['step_ms']:.2f}",
            *(f"{100 * line['parts_ms'][name] / line['step_ms']:.0f} %" for name in names),
        ]
        for line in found
    ]
    return table(["training step", "ms", *names], rows)


def scale() -> str:
    """What a longer stream costs."""
    found = json.loads((HERE / "results" / "scale.json").read_text())["records"]
    rows = [
        ["index built, s of a processor", *(f"{r['index_cpu_s']:.2f}" for r in found)],
        ["index built, s on the clock", *(f"{r['index_s']:.1f}" for r in found)],
        ["memory at its peak, GB", *(f"{r['index_peak_GB']:.2f}" for r in found)],
        ["all prepared, s on the clock", *(f"{r['prepared_s']:.1f}" for r in found)],
        ["memory at its peak, GB", *(f"{r['prepared_peak_GB']:.2f}" for r in found)],
        ["memory that stays, GB", *(f"{r['standing_GB']:.2f}" for r in found)],
    ]
    for size in (256, 2048):
        each = [r[f"batch {size}"] for r in found]
        rates = [one["events_per_cpu_s"] for one in each]
        rows += [
            [
                f"training in batches of {size:,}, events a second",
                *(f"{rate:,} ({rate / rates[0]:.2f})" for rate in rates),
            ],
            ["memory of a step, GB", *(f"{one['step_GB']:.3f}" for one in each)],
        ]
    return table(["events", *(f"{r['events']:,}" for r in found)], rows)


def _ratios(names: tuple[str, ...]) -> str:
    rows = [
        [
            line["work"],
            f"{line['ours_s']:.3g}",
            NAMES.get(line["peer"], line["peer"]),
            f"{line['peer_s']:.3g}",
            f"**{line['ratio']:.2f}**",
            line["wanted"] or "",
        ]
        for name in names
        for line in _read(name)
    ]
    return table(["work", "ours, s", "against", "s", "ratio", "wanted"], rows)


def _read(name: str) -> list[dict[str, Any]]:
    found = json.loads((HERE / "results" / f"speed-{name}.json").read_text())
    lines: list[dict[str, Any]] = found["results"]
    return lines


TABLES: dict[str, Callable[[], str]] = {
    "peers": peers,
    "others": others,
    "protocols": protocols,
    "parts": parts,
    "scale": scale,
}


def main() -> None:
    """Write all tables into the page."""
    fill(TABLES, PAGE)


if __name__ == "__main__":
    main()
