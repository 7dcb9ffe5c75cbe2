"""Which column of a source plays which part: as asked, or by rule."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from ctan.events._problems import Problems
from ctan.events._source import Source

_log = logging.getLogger(__name__)
_SHOWN = 12
_ALIASES = {
    "src": ("source", "user", "user_id", "from", "sender", "u", "i"),
    "dst": ("destination", "target", "item", "item_id", "to", "receiver", "v", "j"),
    "t": ("time", "timestamp", "ts", "when", "date", "datetime", "unixtime"),
}


@dataclass(frozen=True)
class Columns:
    """Which column plays which part; see `read_events`."""

    src: str = "src"
    dst: str = "dst"
    t: str = "t"
    y: str | None = None
    msg: Sequence[str] | None = None
    graph: str | None = None
    kind: str | None = None


def wanted_of(source: Source, found: Columns, x_update: list[str]) -> list[str]:
    """The columns to read, each once; what is left of the source is said in the log."""
    parts = (found.src, found.dst, found.t, found.y, found.graph, found.kind)
    wanted = list(dict.fromkeys([*(p for p in parts if p), *(found.msg or ()), *x_update]))
    left = [name for name in source.columns if name not in wanted]
    if left:
        _log.info(
            "%s: columns not read: %s (name features of events with msg, --msg)",
            source.name,
            _some(left),
        )
    return wanted


def find_columns(problems: Problems, source: Source, asked: Columns) -> Columns:
    """The columns asked for or found by rule; those that are not there go to `problems`."""
    there = source.columns

    def default(given: str | None, *candidates: str) -> str | None:
        return given or next((name for name in candidates if name in there), None)

    lists = [name for name in ("msg",) if name in there]
    msg = (numbered(there, "f") or lists) if asked.msg is None else list(asked.msg)
    found = Columns(
        asked.src,
        asked.dst,
        asked.t,
        default(asked.y, "label", "y"),
        msg,
        default(asked.graph, "graph"),
        default(asked.kind, "kind"),
    )
    if found.src == found.dst:
        problems.add(
            found.src,
            None,
            "it as the column of sources and of destinations",
            "two columns",
            "say which is which: src='...', dst='...' (--src ... --dst ...)",
        )
    for name in (name for name, count in Counter(msg).items() if count > 1):
        problems.add(name, None, "it twice as an event feature", "it once", "name it once")
    parts = {part: getattr(found, part) for part in ("src", "dst", "t", "y", "graph", "kind")}
    for part, name in [*parts.items(), *(("msg", name) for name in msg)]:
        if name is not None and name not in there:
            problems.add(
                name,
                None,
                f"columns {_some(there)}",
                f"a column {name!r}",
                _hint(source, part, name),
            )
    return found


def _some(names: Sequence[str]) -> str:
    """The first of many names."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _hint(source: Source, part: str, name: str) -> str:
    """How to name the right column."""
    there = source.columns
    if source.text and len(there) == 1 and (found := re.search("[;\t|]", there[0])):
        return f"the file seems to be separated by {found[0]!r}: write it with commas"
    if source.text and all(re.fullmatch(r"[-+.\deE]+", cell) for cell in there):
        return "line 1 must name the columns, for example: src,dst,t"
    lower = {cell.lower(): cell for cell in there}
    near = [lower[alias] for alias in (name.lower(), *_ALIASES.get(part, ())) if alias in lower]
    near = near or get_close_matches(name, there, n=1, cutoff=0.7)
    if not near:
        return f"say which column it is: {part}='...' (--{part} ...)"
    return f"did you mean {near[0]!r}? Say {part}={near[0]!r} (--{part} {near[0]})"


def numbered(names: Sequence[str], letter: str) -> list[str]:
    """The names `f0`, `f1`, ... (for letter f) among `names`, in order of their numbers."""
    found = [name for name in names if re.fullmatch(rf"{letter}\d+", name)]
    return sorted(found, key=lambda name: int(name[1:]))
