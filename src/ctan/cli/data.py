"""``ctan data``: is a file fit for use, and what is in it?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from ctan.cli import _outputs, _show
from ctan.cli import _reading as r
from ctan.cli._asked import data_options
from ctan.cli.data_sets import Json, Root, download, import_file, list_data, watched
from ctan.errors import DataError

if TYPE_CHECKING:
    from ctan.datasets import Dataset
    from ctan.events import EventStream, GraphSplit, Split

data_app = typer.Typer(
    help="Data sets and files of events: list, check, describe, import.", no_args_is_help=True
)

File = Annotated[Path, Argument(help="A file of events.", show_default=False)]


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

    with r.notes():
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
    data: Annotated[
        str, Argument(help="A file of events, a store, or a data set.", show_default=False)
    ],
    as_json: Json = False,
    figure: Annotated[
        Path | None, Option(help="Draw it as well, to this file (.png, .svg, .pdf).")
    ] = None,
    root: Root = None,
    data_option: Annotated[
        list[str] | None, Option(help="An option of a data set, key=value.", show_default=False)
    ] = None,
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
    """Show what data hold: their card, degrees, times between events, repeats, surprise."""
    from ctan import datasets
    from ctan.events import SURPRISES, read_events
    from ctan.report import describe as describe_stream
    from ctan.report import draw_description

    reading = r.reading(
        src=src, dst=dst, t=t, y=y, msg=msg, graph=graph, kind=kind, unit=unit, sort=sort,
        bipartite=bipartite, relabel=relabel, nodes=nodes,
    )  # fmt: skip
    options = data_options(data, reading, {}, data_option or (), root)
    _outputs.picture(figure, "--figure")
    is_known = datasets.is_known(data)
    if is_known:
        with r.notes(), watched(data) as watch:
            known = datasets.load(data, root, watch=watch, **options)
        stream, card = known.stream, known.card()
        split: Split | GraphSplit | None = known.split
    else:
        with r.notes():
            stream = read_events(data, **options)
        split, card = _split_if_any(stream), stream.card()
    facts = describe_stream(stream, split)
    if figure is not None:
        draw_description(figure, stream, split, title=data)
    if as_json:
        _show.json_out({**facts, **(_about(known) if is_known else {})})
        return
    _show.out(f"{card}\n")
    _quantiles(facts)
    _show.out(f"\nrepeat rate {facts['repeat_rate']:.3f}: share of events whose pair met before")
    if not is_known and split is not None:
        _show.out(f"split {split}")
        for name, value in facts["surprise"].items():
            _show.out(f"surprise {value:.3f} ({name}: {SURPRISES[name]})")
    if figure is not None:
        _show.out(f"Figure: {figure}")


def _split_if_any(stream: EventStream) -> Split | GraphSplit | None:
    """The usual split by time, or by graph; None where a stream is too short for one."""
    from ctan.events import split_by_graph, split_by_time

    try:
        return split_by_time(stream) if stream.graph is None else split_by_graph(stream)
    except DataError:
        return None


def _about(data: Dataset) -> dict[str, Any]:
    """Where a data set comes from, as its card tells it."""
    about = data.about
    return {
        "published": about.published,
        "notes": data.notes,
        "source": about.source,
        "licence": about.licence,
        "citation": about.citation,
    }


def _quantiles(facts: dict[str, Any]) -> None:
    spread = {
        name: values
        for name, values in facts.items()
        if isinstance(values, dict) and "median" in values
    }
    columns = ["", *(name.replace("_", " ") for name in next(iter(spread.values())))]
    rows = [
        [
            name.replace("_", " "),
            *("" if value is None else f"{value:,.6g}" for value in values.values()),
        ]
        for name, values in spread.items()
    ]
    _show.table_out("quantiles", columns, rows)


data_app.command("list")(list_data)
data_app.command()(download)
data_app.command("import")(import_file)
