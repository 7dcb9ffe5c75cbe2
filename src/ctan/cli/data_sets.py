"""``ctan data list``, ``download`` and ``import``: data sets by name, and stores of own files."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from typer import Argument, Option

from ctan.cli import _outputs, _show
from ctan.cli import _reading as r

if TYPE_CHECKING:
    from ctan.events import EventStream

Json = Annotated[bool, Option("--json", help="One JSON document on stdout.")]
Root = Annotated[
    Path | None,
    Option(
        help="Folder of all data sets (default: $CTAN_DATA or ~/.cache/ctan).",
        show_default=False,
        rich_help_panel="Data sets",
    ),
]


def list_data(as_json: Json = False) -> None:
    """List the data sets that can be named instead of a file."""
    from ctan import datasets

    found = {name: datasets.about(name) for name in datasets.names()}
    if as_json:
        _show.json_out(
            {
                name: {
                    "title": about.title,
                    "published": about.published,
                    "options": {k: str(v) for k, v in datasets.options_of(name).items()},
                    "files": [file.url for file in about.files],
                    "source": about.source,
                    "licence": about.licence,
                    "citation": about.citation,
                }
                for name, about in found.items()
            }
        )
        return
    for name, about in found.items():
        counts = ", ".join(f"{n:,} {what}" for what, n in about.published.items())
        _show.heading_out(name, about.title + (f" ({counts})" if counts else ""))
        options = ", ".join(f"{k}={v}" for k, v in datasets.options_of(name).items())
        if options:
            _show.out(f"    options: {options}")
    _show.out("\nThe card of one: ctan data describe NAME")


@contextmanager
def watched(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """A bar for what is done of a data set: bytes of its download, or images."""
    from ctan import datasets

    amount = DownloadColumn() if datasets.about(name).files else MofNCompleteColumn()
    columns = (TextColumn(name), BarColumn(bar_width=20), amount, TimeRemainingColumn())
    # Shown from the first news on: most data sets are read in a moment.
    with Progress(*columns, console=_show.notes, transient=True, disable=_quiet()) as bar:
        task = bar.add_task(name, total=None, visible=False)
        yield lambda done, total: bar.update(task, completed=done, total=total, visible=True)


def opened(
    data: str, options: dict[str, Any], root: Path | None
) -> tuple[EventStream, dict[str, Any]]:
    """The events of a data set or of a file, and the record that finds them again."""
    from ctan import datasets, training

    with r.notes(), watched(data) if datasets.is_known(data) else nullcontext() as watch:
        return training.open_data(data, options, root, watch)


def download(
    name: Annotated[str, Argument(help="A data set.", show_default=False)], root: Root = None
) -> None:
    """Download a data set's files, if it has any; an interrupted download goes on."""
    from ctan import datasets

    with watched(name) as watch:
        datasets.download(name, root, watch)
    files = datasets.about(name).files
    _show.out(f"{name}: {'ready' if files else 'is not downloaded: nothing to do'}")


def import_file(
    file: Annotated[Path, Argument(help="A CSV, Parquet or Arrow file.", show_default=False)],
    store: Annotated[Path, Argument(help="The folder to make.", show_default=False)],
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
    """Make a store of a file of any size: mapped instead of loaded wherever a file can be named."""
    from ctan.events import import_events, read_events
    from ctan.history import store_index

    _outputs.room_for(store, "STORE")
    columns = (TextColumn("{task.description:<26}"), BarColumn(bar_width=20), TaskProgressColumn())
    begun = time.perf_counter()
    with Progress(*columns, console=_show.notes, transient=True, disable=_quiet()) as bar:
        task = bar.add_task("opening", total=None)
        options = r.reading(
            src=src, dst=dst, t=t, y=y, msg=msg, graph=graph, kind=kind, unit=unit, sort=sort,
            bipartite=bipartite, relabel=relabel, nodes=nodes,
        )  # fmt: skip
        with r.notes():
            import_events(
                file,
                store,
                **options,
                watch=lambda what, done, total: bar.update(
                    task, description=what, completed=done, total=total
                ),
            )
        bar.update(task, description="indexing", completed=0, total=None)
        try:
            store_index(store)
        except BaseException:
            shutil.rmtree(store)  # whole, or not there
            raise
    seconds = time.perf_counter() - begun
    stream = read_events(store)
    size = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
    if as_json:
        facts = {"events": len(stream), "nodes": stream.num_nodes, "bytes": size}
        _show.json_out({**facts, "seconds": round(seconds, 3)})
        return
    rate = len(stream) / max(seconds, 1e-9)
    _show.out(
        f"{store}: {len(stream):,} events, {stream.num_nodes:,} nodes, {decimal(size)}; "
        f"{seconds:.1f} s, {rate:,.0f} events/s"
    )


def _quiet() -> bool:
    """A bar is for people at a terminal; in a log it would leave an empty line."""
    return not _show.notes.is_terminal
