"""The options with which a file of events is read, shared by the commands that read one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from typer import Option

from ctan.cli import _show

_PANEL = "Reading a file"

Src = Annotated[
    str | None, Option(help="Column of sources (default: src).", rich_help_panel=_PANEL)
]
Dst = Annotated[
    str | None, Option(help="Column of destinations (default: dst).", rich_help_panel=_PANEL)
]
Time = Annotated[
    str | None, Option("--t", help="Column of times (default: t).", rich_help_panel=_PANEL)
]
Label = Annotated[
    str | None,
    Option("--y", help="Column of labels (default: label or y).", rich_help_panel=_PANEL),
]
Msg = Annotated[
    list[str] | None,
    Option(
        help="Columns of event features, a,b,... (default: f0,f1,... or msg).",
        rich_help_panel=_PANEL,
    ),
]
Graph = Annotated[
    str | None,
    Option(help="Column of graph ids, for many graphs (default: graph).", rich_help_panel=_PANEL),
]
Kind = Annotated[
    str | None, Option(help="Column of kinds of event (default: kind).", rich_help_panel=_PANEL)
]
Unit = Annotated[
    str | None, Option(help="What times count: s, ms, us or ns.", rich_help_panel=_PANEL)
]
Sort = Annotated[bool, Option("--sort", help="Sort by time, stably.", rich_help_panel=_PANEL)]
Bipartite = Annotated[
    bool,
    Option(
        "--bipartite",
        help="Sources and destinations are different nodes even if they share names.",
        rich_help_panel=_PANEL,
    ),
]
Relabel = Annotated[
    bool,
    Option("--relabel", help="Take whole numbers as names of nodes.", rich_help_panel=_PANEL),
]
Nodes = Annotated[
    str | None, Option(help="File with one row of features per node.", rich_help_panel=_PANEL)
]


@contextmanager
def notes() -> Iterator[None]:
    """What a reader finds worth a note goes to stderr: columns that are not read, for instance.

    Example:
        >>> with notes():
        ...     logging.getLogger("ctan.events").info("shown on stderr")
    """
    logger, handler = logging.getLogger("ctan"), _Notes()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        _show.say(record.getMessage(), "dim")


def reading(**given: Any) -> dict[str, Any]:
    """The options of `read_events` that were given.

    Example:
        >>> reading(src="caller", dst=None, msg=["a,b"], sort=False)
        {'src': 'caller', 'msg': ['a', 'b']}
    """
    kept = {name: value for name, value in given.items() if value not in (None, False, [])}
    if "msg" in kept:
        kept["msg"] = [name for group in kept["msg"] for name in group.split(",") if name]
    return kept
