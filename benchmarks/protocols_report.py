"""The tables of docs/protocols.md, from the library itself and from the records.

    python -m benchmarks.protocols_report

The records are made by `benchmarks/protocols.py`, `protocols_rates.py`, `mooc_link.py` and
`tgbl_wiki_ranking.py`, and by `ctan reproduce edgebank --root DATA --datasets tgbl-wiki --json`.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmarks.pages import fill, table
from benchmarks.protocols import ANEW
from ctan.tasks import PRESETS, Protocol

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "protocols.md"
RULES = {"ctan": "CTAN", "edgebank": "EdgeBank", "blend": "blend"}
DATASETS = {"wikipedia": "Wikipedia", "mooc": "MOOC"}
#: Epochs over which the validation AUC of a run is shown.
LAST = 20


def fields_of() -> str:
    """Every field with its default and its line, from the class's own documentation."""
    told = (inspect.getdoc(Protocol) or "").split("Attributes:\n")[1].split("\n\n")[0]
    entries = [" ".join(entry.split()) for entry in re.split(r"\n {4}(?=\w)", "\n" + told)[1:]]
    about = dict(entry.replace("``", "`").split(": ", 1) for entry in entries)
    rows = [[f"`{f.name}`", _code(f.default), about[f.name]] for f in fields(Protocol)]
    return table(["field", "default", "meaning"], rows, text=3)


def presets() -> str:
    """One column for each preset: what is not the default."""
    default = Protocol()
    differ = [
        f.name
        for f in fields(Protocol)
        if any(getattr(p.protocol, f.name) != f.default for p in PRESETS.values())
    ]
    rows = [["task", "", *(entry.task for entry in PRESETS.values())]]
    for name in differ:
        kept = getattr(default, name)
        found = [getattr(entry.protocol, name) for entry in PRESETS.values()]
        rows.append([f"`{name}`", _plain(kept), *("" if v == kept else _plain(v) for v in found)])
    return table(["", "default", *(f"`{name}`" for name in PRESETS)], rows)


def abouts() -> str:
    """One line for each preset."""
    rows = [[f"`{name}`", entry.about] for name, entry in PRESETS.items()]
    return table(["preset", "what it is"], rows, text=2)


def worth() -> str:
    """AUC under each change, and how far it is from what it changes."""
    records = {name: _records(name) for name in DATASETS}
    head = [f"{DATASETS[n]}, {RULES[m]}" for n in records for m in RULES]
    rows = []
    for change, first in records["wikipedia"].items():
        if first["task"] != "link":
            continue
        cells = []
        for lines in records.values():
            found = lines.get(change, {})
            # A past observed anew is compared with another one: that alone moves the score.
            anew = found.get("state") == "replayed" and change != ANEW
            for model in RULES:
                base = lines[ANEW if anew and model == "ctan" else "paper-link"][model]
                cells.append(_moved(found.get(model), base, change == "paper-link"))
        marked = change + (" †" if first.get("state") == "replayed" and change != ANEW else "")
        rows.append([marked, *cells])
    return table(["AUC, %; one thing changed", *head], rows)


def side_by_side() -> str:
    """The same run and rules under three protocols."""
    lines = _records("wikipedia")
    asked = {"CTAN, the state that training left": ("ctan", "paper-link")}
    asked |= {"CTAN, the past observed anew": ("ctan", ANEW)}
    asked |= {RULES[model]: (model, "paper-link") for model in ("edgebank", "blend")}
    rows = []
    for title, (model, first) in asked.items():
        row = [_percent(lines[first][model][m]) for m in ("auc", "ap")]
        fits = lines["dyglib"].get("state") == ("stored" if first != ANEW else "replayed")
        if fits or model != "ctan":
            row += [_percent(lines["dyglib"][model][m]) for m in ("auc", "ap")]
            row += [_percent(lines["tgb"][model][m]) for m in ("mrr", "hits@10")]
        else:
            row += [""] * 4
        rows.append([title, *row])
    head = [f"`{p}` {m}" for p, m in (
        ("paper-link", "AUC"), ("paper-link", "AP"), ("dyglib", "AUC"), ("dyglib", "AP"),
        ("tgb", "MRR"), ("tgb", "Hits@10"),
    )]  # fmt: skip
    return table(["Wikipedia, %", *head], rows)


def rates() -> str:
    """The runs' weights taken through training once more, at several rates."""
    path = HERE / "results" / "protocols-rates.jsonl"
    rows = [
        [
            DATASETS[line["dataset"]],
            f"{line['rate']:g}",
            _percent(line["val"]["auc"]),
            _percent(line["test"]["auc"]),
        ]
        for line in map(json.loads, path.read_text().splitlines())
    ]
    return table(["CTAN, AUC, %", "learning rate", "validation", "test"], rows)


def runs() -> str:
    """The runs that the tables score again."""
    rows = []
    for name, title in DATASETS.items():
        first = json.loads(_path(name).read_text().splitlines()[0])
        run, options = first["run"], first["run"]["options"]
        rows.append(
            [
                title,
                ", ".join(f"{key} {value}" for key, value in options.items()) or "the default",
                f"{run['parameters']:,}",
                f"{run['best_epoch'] + 1} of {first['epochs']}",
                _percent(run["val"]["auc"]),
                _percent(run["test"]["auc"]),
                " to ".join(f"{100 * bound(first['val_auc'][-LAST:]):.1f}" for bound in (min, max)),
            ]
        )
    head = ["run", "options of CTAN", "weights", "best epoch", "validation AUC", "test AUC"]
    return table([*head, f"validation AUC of the last {LAST} epochs"], rows, text=2)


def mooc() -> str:
    """CTAN on MOOC beside the paper, and what it was chosen from."""
    found = json.loads((HERE / "results" / "mooc_link.json").read_text())
    screened = found["screen"]["validation"]
    shared = {k for k, v in found["options"].items() if all(
        line["options"].get(k) == v for line in screened)}  # fmt: skip
    rows = [
        [
            ", ".join(f"{k} {v}" for k, v in line["options"].items() if k not in shared),
            _percent(line["val_auc"]),
            "",
            "",
        ]
        for line in screened
    ]
    chosen = ", ".join(f"{key} {value}" for key, value in found["options"].items())
    test = found["test"]
    rows.append([f"**chosen, trained on**: {chosen}", _percent(found["val"]["auc"]),
                 _percent(test["auc"]), _percent(test["ap"])])  # fmt: skip
    rows.append(["the paper, five seeds", "", found["paper_auc"], ""])
    return table(["MOOC, CTAN, seed 0, %", "validation AUC", "test AUC", "test AP"], rows)


def ranking() -> str:
    """Seconds of the test ranking of tgbl-wiki under each protocol."""
    found = json.loads((HERE / "results" / "tgbl_wiki_ranking.json").read_text())
    rows = [
        [
            line["rule"] + ("" if line["steps"] == 1 else f", {line['steps']} steps"),
            f"{line['seconds']:.1f}",
            f"{line['processor_seconds']:.1f}",
            f"{line['candidates'] / line['events']:.0f}",
            f"{line['single_scores']['largest_gap']:.0e}",
        ]
        for line in found["records"]
    ]
    head = ["protocol", "seconds", "of processors", "candidates an event", "largest gap"]
    return table(head, rows)


def edgebank() -> str:
    """EdgeBank's MRR on tgbl-wiki by rule and visibility."""
    rows = [
        [
            r["window"],
            r["settings"]["visibility"],
            f"{r['mrr']:.5f}",
            r["paper"] or "",
            r["leaderboard"] or "",
        ]
        for r in json.loads((HERE / "results" / "edgebank-tgbl-wiki.json").read_text())
    ]
    return table(["memory", "visibility", "test MRR", "the paper", "leaderboard"], rows)


def _path(name: str) -> Path:
    return HERE / "results" / f"protocols-{name}.jsonl"


def _records(name: str) -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in _path(name).read_text().splitlines()[1:]]
    return {line["protocol"]: line for line in lines}


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"


def _moved(found: dict[str, float] | None, base: dict[str, float], first: bool) -> str:
    if found is None:
        return ""
    if first:
        return _percent(found["auc"])
    return f"{100 * (found['auc'] - base['auc']):+.2f}"


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def _code(value: Any) -> str:
    return f"`{_plain(value)}`"


TABLES: dict[str, Callable[[], str]] = {
    "fields": fields_of,
    "presets": presets,
    "abouts": abouts,
    "worth": worth,
    "rates": rates,
    "side_by_side": side_by_side,
    "runs": runs,
    "mooc": mooc,
    "ranking": ranking,
    "edgebank": edgebank,
}


if __name__ == "__main__":
    fill(TABLES, PAGE)
