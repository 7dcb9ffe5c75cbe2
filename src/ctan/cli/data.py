"""``ctan data``: is a file fit for use, and what is in it?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from ctan.cli import _reading as r
from ctan.cli import _show

data_app = typer.Typer(help="Files of events: check them, describe them.", no_args_is_help=True)

File = Annotated[Path, Argument(help="A file of events.", show_default=False)]
Json = Annotated[bool, Option("--json", help="One JSON document on stdout.")]


@data_app.command()
def check(
    file: File,
    as_json: Json = False,
    src: r.Src = None,
    dst: r.Dst = None,
    t: r.Time = None,
    y: r.Label = None,
    msg: r.Msg = None,
    graph: r.Graph = None,
    kind: r.Kind = None,
    unit: r.Unit = None,
    sort: r.Sort = False,
    bipartite: r.Bipartite = False,
    relabel: r.Relabel = False,
    nodes: r.Nodes = None,
) -> None:
    """Read a file and list everything that is wrong with it, or say that nothing is."""
    from ctan.events import read_events

    stream = read_events(
        file,
        **r.reading(
            src=src, dst=dst, t=t, y=y, msg=msg, graph=graph, kind=kind, unit=unit, sort=sort,
            bipartite=bipartite, relabel=relabel, nodes=nodes,
        ),
    )  # fmt: skip
    if as_json:
        _show.json_out({"ok": True, "events": len(stream), "nodes": stream.num_nodes})
        return
    _show.out(f"{file}: ok\n{stream.card()}")


@data_app.command()
def describe(
    file: File,
    as_json: Json = False,
    src: r.Src = None,
    dst: r.Dst = None,
    t: r.Time = None,
    y: r.Label = None,
    msg: r.Msg = None,
    graph: r.Graph = None,
    kind: r.Kind = None,
    unit: r.Unit = None,
    sort: r.Sort = False,
    bipartite: r.Bipartite = False,
    relabel: r.Relabel = False,
    nodes: r.Nodes = None,
) -> None:
    """Show what a file holds: its card, degrees, times between events, repeated pairs."""
    from ctan.events import read_events
    from ctan.report import describe as describe_stream

    stream = read_events(
        file,
        **r.reading(
            src=src, dst=dst, t=t, y=y, msg=msg, graph=graph, kind=kind, unit=unit, sort=sort,
            bipartite=bipartite, relabel=relabel, nodes=nodes,
        ),
    )  # fmt: skip
    facts = describe_stream(stream)
    if as_json:
        _show.json_out(facts)
        return
    _show.out(f"{stream.card()}\n")
    spread = {name: values for name, values in facts.items() if isinstance(values, dict)}
    columns = ["", *(name.replace("_", " ") for name in next(iter(spread.values())))]
    rows = [
        [
            name.replace("_", " "),
            *("" if value is None else f"{value:,.6g}" for value in values.values()),
        ]
        for name, values in spread.items()
    ]
    _show.table_out("quantiles", columns, rows)
    _show.out(f"\nrepeat rate {facts['repeat_rate']:.3f}: share of events whose pair met before")
