"""``ctan reproduce``: published numbers, computed again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from ctan.cli import _show

reproduce_app = typer.Typer(help="Published numbers, computed again.", no_args_is_help=True)


@reproduce_app.callback()
def _reproduce() -> None:
    """Keep each table a command of its own."""


@reproduce_app.command("edgebank")
def edgebank(
    datasets: Annotated[
        str, Option(help="Names, with commas: wikipedia, mooc, tgbl-wiki, ...")
    ] = "wikipedia",
    root: Annotated[
        Path | None,
        Option(
            help="Folder of all data sets (default: $CTAN_DATA or ~/.cache/ctan).",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """EdgeBank beside the paper's tables: AUC by window, or MRR on tgbl-wiki.

    ctan reproduce edgebank --datasets wikipedia,tgbl-wiki
    """
    from ctan.report import reproduce

    records = []
    for name in datasets.split(","):
        for record in reproduce.edgebank(name.strip(), root):
            records.append(record)
            seen = record["settings"]["visibility"]
            _show.say(f"{record['dataset']} {record['window']}, {seen}: {_value(record)}")
    if as_json:
        _show.json_out(records)
        return
    columns = ["window", "visibility", "test", "validation", "paper", "leaderboard"]
    rows = [
        [
            f"{r['dataset']} {r['window']}",
            r["settings"]["visibility"],
            _value(r),
            f"{r['val_auc']:.2f}" if "val_auc" in r else "",
            "" if r["paper"] is None else f"{r['paper']}",
            "" if r.get("leaderboard") is None else f"{r['leaderboard']}",
        ]
        for r in records
    ]
    _show.table_out("EdgeBank", columns, rows)
    for protocol in dict.fromkeys(record["protocol"] for record in records):
        _show.out(protocol)


def _value(record: dict[str, float]) -> str:
    return f"{record['mrr']:.5f}" if "mrr" in record else f"{record['auc']:.2f}"
