"""Pages whose tables a command writes, between `<!-- table NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

MARKED = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(tables: Mapping[str, Callable[[], str]], *pages: Path) -> None:
    """Write every table into the one page that has a place for it.

    All tables are made before any page is touched, so what fails leaves the pages as they were.
    """
    texts = {page: page.read_text() for page in pages}
    places = [name for text in texts.values() for _, name, _ in MARKED.findall(text)]
    if sorted(places) != sorted(tables):
        wrong = sorted({*places, *tables} - ({*places} & {*tables})) or "a place twice"
        raise SystemExit(f"{', '.join(p.name for p in pages)}: places and tables differ: {wrong}")
    made = {name: make() for name, make in tables.items()}
    for page, text in texts.items():
        page.write_text(MARKED.sub(lambda m: f"{m[1]}{made[m[2]]}\n{m[3]}", text))


def table(head: Iterable[Any], rows: Iterable[Iterable[Any]], text: int = 1) -> str:
    """A table in Markdown, its first `text` columns to the left, all others to the right."""
    lines = [list(map(str, head)), *(list(map(str, row)) for row in rows)]
    marks = ["---" if i < text else "---:" for i in range(len(lines[0]))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], marks, *lines[1:]])
